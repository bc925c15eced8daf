#!/usr/bin/env python3
"""Группирует строки журнала: gruppy.py ФАЙЛ. Печатает число строк, первую и последнюю отметку времени, образец."""

from __future__ import annotations

import re
import sys
from pathlib import Path

TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?")
MARKS = (
    (re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", re.IGNORECASE), "<id>"),
    (re.compile(r"\b[0-9a-f]{16,}\b", re.IGNORECASE), "<hex>"),
    (re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"), "<email>"),
    (re.compile(r"\d+"), "<n>"),
)


def shape(line: str) -> str:
    """Сообщение без времени, чисел и идентификаторов."""
    text = TIME.sub("", line).strip()
    for pattern, mark in MARKS:
        text = pattern.sub(mark, text)
    return text


def main(arguments: list[str]) -> int:
    """Код 2, если файл не назван."""
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    groups: dict[str, list[str]] = {}
    counts: dict[str, int] = {}
    with Path(arguments[0]).open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            key, time = shape(line), TIME.search(line)
            stamp = time.group() if time else "-"
            seen = groups.setdefault(key, [stamp, stamp])
            seen[1] = stamp if stamp != "-" else seen[1]
            counts[key] = counts.get(key, 0) + 1
    for key, (first, last) in sorted(groups.items(), key=lambda item: item[1][0]):
        print(f"{counts[key]:6}  {first}  {last}  {key[:160]}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
