"""What a policy allows, in the sentences of gates, feed and pages."""

from __future__ import annotations

import pytest

from catalog.allowance import Allowance

ALLOWED = Allowance(("network", "send"), "medium")


@pytest.mark.parametrize(
    ("permissions", "risk", "told"),
    [
        ((), "low", []),
        (("network", "send"), "medium", []),
        (("shell", "network", "filesystem.write"), "low", ["Not allowed here: filesystem.write, shell."]),
        ((), "high", ["The risk is high; up to medium is allowed here."]),
        (
            ("shell",),
            "high",
            ["Not allowed here: shell.", "The risk is high; up to medium is allowed here."],
        ),
    ],
)
def test_what_is_not_allowed_is_told(permissions: tuple[str, ...], risk: str, told: list[str]) -> None:
    assert ALLOWED.why_not(permissions=permissions, risk=risk) == told
