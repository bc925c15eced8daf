"""Ports of this machine for the servers that tests start."""

from __future__ import annotations

import socket
import time


def find_port() -> int:
    """A port of 127.0.0.1 that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def is_open(port: int) -> bool:
    """Whether something listens on this port of 127.0.0.1."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def wait_for_port(port: int, *, seconds: float = 30) -> None:
    """Return once something listens there; AssertionError where nothing does in time."""
    deadline = time.monotonic() + seconds
    while not is_open(port):
        assert time.monotonic() < deadline, f"nothing listens on port {port}"
        time.sleep(0.05)
