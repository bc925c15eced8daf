"""A report as Markdown, to be pasted into an issue: what the page shows, and nothing that could act there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.findings import FileItems, Item, Reason, Sheet
from portal.runtimes import Runtime

_ACTIVE = re.compile(r"([\\`*_\[\]<>#|~@])")
_TICKS = re.compile(r"`+")


def markdown_of(
    title: str,
    facts: Iterable[tuple[str, str]],
    sheet: Sheet,
    runtimes: Sequence[Runtime] = (),
    reasons: Sequence[Reason] = (),
) -> str:
    """A report of one bundle; `facts` are told in one list below the title."""
    parts = [f"# {escape(title)}", ""]
    parts += [f"- {name}: {escape(value)}" for name, value in facts]
    parts += ["", f"## {_('Findings')}", "", _counted(sheet), ""]
    for file in sheet.files:
        parts += _file(file)
    if sheet.left_out:
        told = ngettext("%(n)d more is not shown.", "%(n)d more are not shown.", sheet.left_out)
        parts += [told % {"n": sheet.left_out}, ""]
    if reasons:
        parts += [f"## {_('Why this risk')}", "", *map(_reason, reasons), ""]
    if runtimes:
        parts += [f"## {_('Agent runtimes')}", "", *(line for one in runtimes for line in _runtime(one)), ""]
    return "\n".join(parts).rstrip() + "\n"


def escape(text: str) -> str:
    """Text that Markdown shows as it is, on one line."""
    return _ACTIVE.sub(r"\\\1", " ".join(text.split()))


def code(text: str) -> str:
    """Text as code inside a line."""
    plain = " ".join(text.split())
    fence = "`" * (max((len(run) for run in _TICKS.findall(plain)), default=0) + 1)
    return f"{fence} {plain} {fence}" if "`" in plain else f"{fence}{plain}{fence}"


def _counted(sheet: Sheet) -> str:
    counts = sheet.counts
    told = [
        ngettext("%(n)d error", "%(n)d errors", counts["error"]) % {"n": counts["error"]},
        ngettext("%(n)d warning", "%(n)d warnings", counts["warning"]) % {"n": counts["warning"]},
        ngettext("%(n)d piece of advice", "%(n)d pieces of advice", counts["advice"])
        % {"n": counts["advice"]},
    ]
    return ", ".join(told) + "."


def _file(file: FileItems) -> list[str]:
    parts = [f"### {code(file.path) if file.path else _('The bundle as a whole')}", ""]
    for item in file.items:
        parts += _item(item)
    return [*parts, ""]


def _item(item: Item) -> list[str]:
    finding = item.finding
    word = {"error": _("Error"), "warning": _("Warning"), "advice": _("Advice")}[finding.severity]
    place = f" ({_('line %(n)d') % {'n': finding.line}})" if finding.line else ""
    parts = [f"- **{word}** {code(finding.code)}{place}: {escape(finding.message)}"]
    if item.lines:
        text = [f"{'>' if line.meant else ' '} {line.number:4d}  {line.text}" for line in item.lines]
        longest = max((len(run) for line in text for run in _TICKS.findall(line)), default=0)
        fence = "`" * max(3, longest + 1)
        parts += ["", *(f"  {line}" for line in (f"{fence}text", *text, fence)), ""]
    if finding.hint:
        parts.append(f"  {_('Fix:')} {escape(finding.hint)}")
    return parts


def _reason(reason: Reason) -> str:
    kind = _("permission") if reason.permission else _("finding")
    where = f": {', '.join(map(code, reason.places))}" if reason.places else ""
    return f"- {reason.risk}: {kind} {code(reason.cause)}{where}"


def _runtime(runtime: Runtime) -> list[str]:
    words = {"loads": _("loads"), "loss": _("loads with loss"), "fails": _("fails")}
    notes = [f"  - {escape(note)}" for note in runtime.notes]
    return [f"- **{runtime.name}**: {words.get(runtime.verdict, runtime.verdict)}", *notes]
