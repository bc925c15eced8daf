"""What an environment's policy allows a version, in sentences: for gates, feed and pages alike. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from catalog.bundles.bundle import RISKS


@dataclass(frozen=True, slots=True)
class Allowance:
    """The permissions that an environment allows, and the highest risk (spec 4.1, 4.6)."""

    permissions: Collection[str]
    highest_risk: str

    def refused(self, permissions: Iterable[str]) -> list[str]:
        """The permissions that are not allowed here, sorted."""
        return sorted(set(permissions) - set(self.permissions))

    def allows_risk(self, risk: str) -> bool:
        """Whether a version of this effective risk is allowed here."""
        return RISKS.index(risk) <= RISKS.index(self.highest_risk)

    def why_not(self, *, permissions: Iterable[str], risk: str) -> list[str]:
        """A sentence for each thing about a version that is not allowed here."""
        refused = self.refused(permissions)
        told = [tell_refused(refused)] if refused else []
        return told if self.allows_risk(risk) else [*told, tell_risk(risk, self.highest_risk)]


def tell_refused(permissions: Iterable[str]) -> str:
    """These permissions are not allowed."""
    return f"Not allowed here: {', '.join(permissions)}."


def tell_risk(risk: str, highest: str) -> str:
    """The effective risk beside the highest that is allowed."""
    return f"The risk is {risk}; up to {highest} is allowed here."
