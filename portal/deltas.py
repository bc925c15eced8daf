"""What a version changes for callers against the one before, in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from catalog.comparison import Bump, Comparison, bump_of
from catalog.models import Version

MOST_NAMES = 12


@dataclass(frozen=True, slots=True)
class Delta:
    """One change; `tone` is warn where it reaches further or may break a caller, else ok or mute."""

    tone: str
    text: str


@dataclass(frozen=True, slots=True)
class Needed:
    """A skill that the version depends on: the least version asked for before and now, "" for none."""

    folder: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Reach:
    """How the reach of a release differs from what callers have: in sentences, and in its parts."""

    changes: Comparison
    bump: Bump | None
    needed: tuple[Needed, ...]
    deltas: tuple[Delta, ...]


def reach_of(changes: Comparison) -> Reach:
    """The differences of what was compared; two queries, for the dependencies."""
    bump = bump_of(changes.before, changes.after) if changes.before else None
    needed = tuple(_needed(changes))
    deltas = (*_permissions(changes), *_risk(changes), *_tools(changes), *_schemas(bump), *_depends(needed))
    return Reach(changes, bump, needed, deltas)


def _permissions(changes: Comparison) -> Iterator[Delta]:
    gained, lost = changes.permissions_gained, changes.permissions_lost
    if gained:
        text = ngettext(
            "It gains the permission %(names)s.", "It gains the permissions %(names)s.", len(gained)
        )
        yield Delta("warn", text % {"names": _joined(gained)})
    if lost:
        text = ngettext(
            "It gives up the permission %(names)s.", "It gives up the permissions %(names)s.", len(lost)
        )
        yield Delta("ok", text % {"names": _joined(lost)})


def _risk(changes: Comparison) -> Iterator[Delta]:
    after = changes.after.effective_risk
    if changes.before is None:
        yield Delta("warn" if after == "high" else "mute", _("Its risk is %(after)s.") % {"after": after})
    elif changes.before.effective_risk != after:
        told = {"before": changes.before.effective_risk, "after": after}
        if changes.riskier:
            yield Delta("warn", _("Its risk rises from %(before)s to %(after)s.") % told)
        else:
            yield Delta("ok", _("Its risk falls from %(before)s to %(after)s.") % told)


def _tools(changes: Comparison) -> Iterator[Delta]:
    if changes.tools_gained:
        yield Delta("warn", _("It may use the tools %(names)s.") % {"names": _joined(changes.tools_gained)})
    if changes.tools_lost:
        text = _("It no longer uses the tools %(names)s.")
        yield Delta("ok", text % {"names": _joined(changes.tools_lost)})


def _schemas(bump: Bump | None) -> Iterator[Delta]:
    if bump is None or not bump.of_schemas:
        return
    breaking = [change.where for change in bump.of_schemas if change.part == "major"]
    if breaking:
        yield Delta("warn", _("Callers may break at %(names)s.") % {"names": _joined(breaking)})
    compatible = len(bump.of_schemas) - len(breaking)
    if compatible:
        text = ngettext(
            "%(n)d change of the schemas breaks no caller.",
            "%(n)d changes of the schemas break no caller.",
            compatible,
        )
        yield Delta("mute", text % {"n": compatible})


def _depends(needed: Iterable[Needed]) -> Iterator[Delta]:
    for one in needed:
        told = {"name": one.folder, "before": one.before, "after": one.after}
        if not one.before:
            yield Delta("warn", _("It depends on %(name)s %(after)s or newer.") % told)
        elif not one.after:
            yield Delta("ok", _("It no longer depends on %(name)s.") % told)
        else:
            yield Delta("mute", _("It asks for %(name)s %(after)s instead of %(before)s.") % told)


def _needed(changes: Comparison) -> Iterator[Needed]:
    before, after = _minimums(changes.before), _minimums(changes.after)
    for folder in sorted(before.keys() | after.keys()):
        if before.get(folder) != after.get(folder):
            yield Needed(folder, before.get(folder, ""), after.get(folder, ""))


def _minimums(version: Version | None) -> dict[str, str]:
    return {one.folder: one.minimum for one in version.dependencies.all()} if version else {}


def _joined(names: Iterable[str]) -> str:
    shown = list(dict.fromkeys(names))
    more = len(shown) - MOST_NAMES
    told = ", ".join(shown[:MOST_NAMES])
    return told if more <= 0 else _("%(names)s and %(n)d more") % {"names": told, "n": more}
