#!/usr/bin/env python3
"""发票查重：chachong.py FILE.csv，列名为 号码、日期、金额、单号。有重复号码时退出码为 1。"""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from pathlib import Path

COLUMNS = {"号码", "日期", "金额", "单号"}


def duplicates(rows: list[dict[str, str]], *columns: str) -> list[list[dict[str, str]]]:
    """这些列都相同的行，每组至少两行。"""
    groups: dict[tuple[str, ...], list[dict[str, str]]] = defaultdict(list)
    for row in rows:
        groups[tuple(row[column].strip() for column in columns)].append(row)
    return [group for group in groups.values() if len(group) > 1]


def main(arguments: list[str]) -> int:
    """用法错误或缺列时退出码为 2。"""
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    with Path(arguments[0]).open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file)
        missing = COLUMNS - set(reader.fieldnames or ())
        if missing:
            print("缺少列：" + "、".join(sorted(missing)), file=sys.stderr)
            return 2
        rows = list(reader)
    same_number = duplicates(rows, "号码")
    for group in same_number:
        print(f"号码重复 {group[0]['号码']}：单号 " + "、".join(row["单号"] for row in group))
    for group in duplicates(rows, "日期", "金额"):
        if len({row["号码"] for row in group}) > 1:
            print(
                f"同日同金额 {group[0]['日期']} {group[0]['金额']}：单号 "
                + "、".join(row["单号"] for row in group)
            )
    return 1 if same_number else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
