"""A mail server on loopback for tests: it takes mails, refuses them, or hangs, as it is told."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import Message


@dataclass
class Post:
    """What the server does and took. `answers` are codes for RCPT and DATA by address; None hangs up."""

    port: int = 0
    mails: list[Message] = field(default_factory=list)
    recipients: list[str] = field(default_factory=list)
    at_rcpt: dict[str, str] = field(default_factory=dict)
    at_data: str = "250 taken"
    greeting: str = "220 test"
    hangs_at: str = ""
    taken: threading.Event = field(default_factory=threading.Event)
    released: threading.Event = field(default_factory=threading.Event)


class Handler(socketserver.StreamRequestHandler):
    """One conversation."""

    post: Post

    def say(self, line: str) -> None:
        self.wfile.write(f"{line}\r\n".encode())

    def handle(self) -> None:
        self.say(self.post.greeting)
        while line := self.rfile.readline().decode("latin-1").strip():
            word = line.partition(" ")[0].upper()
            if word == self.post.hangs_at:
                self.post.taken.set()
                self.post.released.wait(60)
                return
            if word == "RCPT":
                address = line.partition("<")[2].partition(">")[0]
                self.say(self.post.at_rcpt.get(address, "250 ok"))
                self.post.recipients.append(address)
            elif word == "DATA":
                self.take()
            elif word == "QUIT":
                self.say("221 bye")
                return
            else:
                self.say("250 ok")

    def take(self) -> None:
        self.say("354 go on")
        lines = []
        while (line := self.rfile.readline()) not in {b".\r\n", b""}:
            lines.append(line)
        if self.post.hangs_at == "TAKEN":
            self.post.mails.append(message_from_bytes(b"".join(lines)))
            self.post.taken.set()
            self.post.released.wait(60)
            return
        if self.post.at_data.startswith("2"):
            self.post.mails.append(message_from_bytes(b"".join(lines)))
        self.say(self.post.at_data)


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False


@contextmanager
def mail_server() -> Iterator[Post]:
    """A server that runs until the end of the block."""
    post = Post()
    handler = type("OneHandler", (Handler,), {"post": post})
    with Server(("127.0.0.1", 0), handler) as server:
        post.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield post
        finally:
            post.released.set()
            server.shutdown()
            thread.join(10)
