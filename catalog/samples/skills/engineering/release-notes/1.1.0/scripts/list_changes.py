#!/usr/bin/env python3
"""Print the commits between two tags as JSON lines: list_changes.py OLD NEW [PATH ...]"""

from __future__ import annotations

import json
import re
import subprocess
import sys

SUBJECT = re.compile(r"^(?P<kind>[a-z]+)(?:\((?P<scope>[^)]+)\))?(?P<bang>!)?: (?P<text>.+)$")
TICKET = re.compile(r"\b[A-Z][A-Z0-9]+-\d+\b")
FIELD, RECORD = "\x1f", "\x1e"


def commits(old: str, new: str, paths: list[str]) -> list[dict[str, object]]:
    """The commits reachable from `new` and not from `old`, oldest first, without merges."""
    command = ["git", "log", "--reverse", "--no-merges", f"--format=%h{FIELD}%s{FIELD}%b{RECORD}"]
    command += [f"{old}..{new}", "--", *paths]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [describe(*entry.strip("\n").split(FIELD)) for entry in text.split(RECORD) if entry.strip()]


def describe(sha: str, subject: str, body: str) -> dict[str, object]:
    """One commit; `kind` is "other" where the subject follows no convention."""
    match = SUBJECT.match(subject)
    return {
        "sha": sha,
        "subject": match["text"] if match else subject,
        "scope": (match["scope"] if match else None) or "",
        "kind": match["kind"] if match else "other",
        "breaking": bool(match and match["bang"]) or "BREAKING CHANGE" in body,
        "tickets": sorted(set(TICKET.findall(f"{subject}\n{body}"))),
    }


def main(arguments: list[str]) -> int:
    """Answer 2 when called without two tags."""
    if len(arguments) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    for commit in commits(arguments[0], arguments[1], arguments[2:]):
        print(json.dumps(commit, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
