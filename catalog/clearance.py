"""Leave to change a release, as a value: what `catalog.releases` asks for and governance gives."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Gate:
    """One condition of a release: its name, whether it holds, and what was seen.

    `overridden` says who answers for a shut one, and why; "" where nobody does.
    """

    name: str
    passed: bool
    detail: str
    overridden: str = ""

    @property
    def is_open(self) -> bool:
        """Whether a release passes."""
        return self.passed or bool(self.overridden)


@dataclass(frozen=True, slots=True)
class Clearance:
    """Leave to make one change of a release: for this action, these bytes, this environment."""

    action: str
    environment: str
    bundle_sha256: str
    declaration_sha256: str
    gates: tuple[Gate, ...] = ()
    approvals: tuple[str, ...] = ()

    @property
    def shut(self) -> tuple[Gate, ...]:
        """The gates that keep the version from being served."""
        return tuple(gate for gate in self.gates if not gate.is_open)
