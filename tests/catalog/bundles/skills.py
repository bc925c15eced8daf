"""Plain builders of SKILL.md files and trees for the tests of bundles."""

from __future__ import annotations

from catalog.bundles.files import File, Tree
from catalog.bundles.findings import Finding

DESCRIPTION = "Folds napkins. Use when a table is laid; not for paper."
HEAD = f"---\nname: napkin-fold\ndescription: {DESCRIPTION}\n"
BODY = "---\n\n# Fold\n\nFold the napkin twice.\n"


def skill_file(extra: str = "", *, body: str = BODY, path: str = "SKILL.md") -> File:
    """A good SKILL.md with more lines of frontmatter, or another body (with its closing line)."""
    return File(path, (HEAD + extra + body).encode())


def tree(*files: File, folder: str = "napkin-fold") -> Tree:
    """A tree of files, sorted as the readers of archives sort it."""
    return Tree(folder, tuple(sorted(files, key=lambda file: file.path)))


def told(findings: tuple[Finding, ...], code: str) -> list[tuple[str, int | None, str, str]]:
    """Severity, line, message and hint of the findings of a code."""
    return [(f.severity, f.line, f.message, f.hint) for f in findings if f.code == code]


def codes(findings: tuple[Finding, ...]) -> set[str]:
    """The codes of all findings."""
    return {finding.code for finding in findings}
