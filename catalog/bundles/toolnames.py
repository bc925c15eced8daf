"""The entries of `allowed-tools`, in the three spellings that are met (spec 1.3)."""

from __future__ import annotations

import re

from catalog.bundles.findings import Finding, warning

# A shell without a command, or with any: the agent may then run everything.
_SHELLS = r"(?i:bash|shell|sh|powershell|terminal|execute|run_command)"
_EVERYTHING = re.compile(rf"\*|{_SHELLS}(\(\s*(\*|:\*|\*:\*)?\s*\))?|(?i:all)")


def split_tools(text: str) -> list[str]:
    """The entries of a text that spaces or commas part; what stands in parentheses stays one entry."""
    tools: list[str] = []
    depth, entry = 0, ""
    for char in text:
        if depth == 0 and (char.isspace() or char == ","):
            tools.append(entry)
            entry = ""
            continue
        depth += {"(": 1, ")": -1}.get(char, 0)
        depth = max(depth, 0)
        entry += char
    return [tool for tool in [*tools, entry] if tool]


def check_tools(tools: tuple[str, ...], *, path: str, line: int | None) -> tuple[Finding, ...]:
    """Warnings for entries that allow everything and for parentheses that do not close."""
    findings: list[Finding] = []
    for tool in tools:
        shown = tool[:80]
        if _EVERYTHING.fullmatch(tool):
            message = f"allowed-tools asks for every command with {shown}."
            hint = "Name the commands that the skill runs, for example Bash(git:*)."
            findings.append(warning("broad-permission", message, hint, path=path, line=line))
        elif tool.count("(") != tool.count(")"):
            message = f"The parentheses of {shown} in allowed-tools do not match."
            hint = "Close them; an entry is read as Name or Name(argument)."
            findings.append(warning("allowed-tools-malformed", message, hint, path=path, line=line))
    return tuple(findings[:20])
