"""Sends planted values from one place after another, and remembers from which."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from tests.served.instance import Instance
from tests.served.planted import mark, paragraph, plants
from tests.served.visitor import Answer, Visitor

SCOPES = {
    "publisher": ("read", "publish", "release"),
    "approver": ("read", "release"),
    "approver2": ("read", "release"),
    "admin": ("read", "admin"),
}


@dataclass
class Sower:
    """`sent` names each place; `kept` are those whose text must have arrived, masked."""

    served: Instance
    sent: dict[int, str] = field(default_factory=dict)
    kept: dict[int, str] = field(default_factory=dict)
    secrets: list[str] = field(default_factory=list)
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def place(self, what: str) -> int:
        """A number for a place from which something is sent."""
        n = next(self.numbers)
        self.sent[n] = what
        return n

    def took(self, n: int, answer: Answer, *statuses: int) -> Answer:
        """The answer of a place that keeps the text; AssertionError for another status."""
        assert answer.status in (statuses or (200, 201)), (self.sent[n], answer.status, answer.text[-3000:])
        self.kept[n] = self.sent[n]
        return answer

    def refused(self, n: int, answer: Answer) -> Answer:
        """The answer of a place that keeps nothing: a refusal, and no defect."""
        assert 400 <= answer.status < 500, (self.sent[n], answer.status, answer.text[-3000:])
        return answer

    def user(self, name: str) -> Visitor:
        """A sample account by REST."""
        secret = self.served.token("user", name, "--scopes", *SCOPES[name])
        self.secrets.append(secret)
        return Visitor(self.served.url, secret)

    def agent(self, name: str) -> Visitor:
        """An agent of its own in production."""
        secret = self.served.token(
            "agent", name, "--environment", "production", "--scopes", "feed", "traces:write"
        )
        self.secrets.append(secret)
        return Visitor(self.served.url, secret)


def tree(n: int) -> dict[str, Any]:
    """All values as text, as items, as keys and under keys."""
    values = [plant.at(n) for plant in plants()]
    return {
        "text": paragraph(n),
        "items": values,
        "keys": dict.fromkeys(values, 1),
        "deep": [{"inner": {"more": paragraph(n)}}],
        "headers": {
            "Authorization": f"Bearer {plants()[21].at(n).split()[-1]}",
            "Cookie": plants()[28].at(n)[8:],
        },
        "password": plants()[22].at(n).split()[-1],
    }


def header_of(n: int) -> str:
    """Values that fit into a header, behind their mark."""
    told = [plant.at(n) for plant in plants() if plant.at(n).isascii() and "\n" not in plant.at(n)]
    return "; ".join([mark(n), *told])
