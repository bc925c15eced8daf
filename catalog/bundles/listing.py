"""Findings bounded in number: a hostile archive makes thousands of one kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from catalog.bundles.findings import Finding, in_order

MAX_EACH = 50
"""At most this many findings of one code are listed; the rest are counted."""


def listed(findings: Iterable[Finding], *, each: int = MAX_EACH) -> tuple[Finding, ...]:
    """The findings in order, at most `each` of a code and then how many more there are."""
    counts: Counter[str] = Counter()
    kept: list[Finding] = []
    first: dict[str, Finding] = {}
    for finding in in_order(findings):
        counts[finding.code] += 1
        first.setdefault(finding.code, finding)
        if counts[finding.code] <= each:
            kept.append(finding)
    for code, count in counts.items():
        if count > each:
            more = f"{count - each:,} more problems of this kind are not listed."
            kept.append(replace(first[code], message=more, path="", line=None))
    return in_order(kept)
