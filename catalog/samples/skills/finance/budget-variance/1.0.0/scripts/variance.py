#!/usr/bin/env python3
"""Print budget lines that deviate: variance.py [--percent 5] [--amount 10000] [--always 50000] FILE.csv"""

from __future__ import annotations

import argparse
import csv
from decimal import Decimal, InvalidOperation
from pathlib import Path


def amount(text: str) -> Decimal:
    """A number with a point as decimal sign; spaces and commas group thousands."""
    return Decimal(text.replace(" ", "").replace("\u2009", "").replace(",", "") or "0")


def main() -> int:
    """Answer 1 when a row cannot be read."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--percent", type=Decimal, default=Decimal(5))
    parser.add_argument("--amount", type=Decimal, default=Decimal(10_000))
    parser.add_argument("--always", type=Decimal, default=Decimal(50_000))
    options = parser.parse_args()
    found: list[tuple[Decimal, str]] = []
    with options.file.open(encoding="utf-8-sig", newline="") as file:
        for number, row in enumerate(csv.DictReader(file), start=2):
            try:
                budget, actual = amount(row["budget"]), amount(row["actual"])
            except (KeyError, InvalidOperation):
                print(f"{options.file}:{number}: needs cost_centre, account, budget and actual as numbers")
                return 1
            delta = actual - budget
            share = abs(delta) / abs(budget) * 100 if budget else Decimal(100)
            if abs(delta) >= options.always or (abs(delta) >= options.amount and share >= options.percent):
                word = "unfavourable" if delta > 0 else "favourable"
                name = f"{row['cost_centre']:12} {row['account']:24}"
                found.append((abs(delta), f"{name} {delta:+14,.2f} {share:6.1f} %  {word}"))
    for _, line in sorted(found, reverse=True):
        print(line)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
