"""What a validation found: one `Finding` per problem, with a stable code.

The codes and their severities are listed in `docs/findings.md`; a code is never renamed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal

Severity = Literal["error", "warning", "advice"]

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "advice")


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem of a bundle.

    `path` is relative to the bundle ("" for the bundle or the upload as a whole); `line` counts
    from 1 and is None where no line is meant. `message` says what is wrong and where, `hint` how
    to mend it. Neither ever holds a secret that was found.
    """

    code: str
    severity: Severity
    message: str
    hint: str = ""
    path: str = ""
    line: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """The finding as REST and `--format json` answer it."""
        return asdict(self)


def error(code: str, message: str, hint: str = "", *, path: str = "", line: int | None = None) -> Finding:
    """A finding that keeps the bundle out: nothing is stored."""
    return Finding(code, "error", message, hint, path, line)


def warning(code: str, message: str, hint: str = "", *, path: str = "", line: int | None = None) -> Finding:
    """A finding that is stored with the version and shown."""
    return Finding(code, "warning", message, hint, path, line)


def advice(code: str, message: str, hint: str = "", *, path: str = "", line: int | None = None) -> Finding:
    """A finding that would make a good skill better."""
    return Finding(code, "advice", message, hint, path, line)


def has_errors(findings: Iterable[Finding]) -> bool:
    """Whether any of the findings keeps the bundle out."""
    return any(finding.severity == "error" for finding in findings)


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings without doubles, worst first, then by file and line."""
    return tuple(
        sorted(
            dict.fromkeys(findings),
            key=lambda f: (SEVERITIES.index(f.severity), f.path, f.line or 0, f.code),
        )
    )
