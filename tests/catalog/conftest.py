"""Fixtures of the domain."""

from __future__ import annotations

from tests.cast import server, shared_database

__all__ = ["server", "shared_database"]
