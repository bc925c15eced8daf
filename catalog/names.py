"""Whether a name is free in the catalog, and whether it is taken for another (spec 1.9, 3.1)."""

from __future__ import annotations

from itertools import pairwise
from string import ascii_lowercase, digits

from catalog.bundles.bundle import Bundle
from catalog.bundles.findings import Finding, error, warning
from catalog.models import Skill, Team

# Of shorter names every second one is a letter off another; longer ones are no names.
SHORTEST, LONGEST = 4, 64
_LETTERS = ascii_lowercase + digits + "-"
_ALIKE = (("rn", "m"), ("vv", "w"), ("cl", "d"), ("ii", "u"))


def judge_name(bundle: Bundle, team: Team, skill: Skill | None) -> list[Finding]:
    """A folder name belongs to one skill of one team for ever, and is not to be mistaken for another.

    Of a skill that the publisher may not see only this is told: that the name is not free.
    """
    taken = _taken(bundle, team, skill) if skill else ""
    if taken:
        return [error("name-collision", taken, "Choose another name.")]
    if skill is not None and skill.versions.exists():
        return []
    return _confusable(bundle, team)


def _taken(bundle: Bundle, team: Team, skill: Skill) -> str:
    if skill.team_id != team.pk and (skill.deleted_at or skill.visibility == Skill.Visibility.TEAM):
        return f"The name {bundle.name} is not free."
    if skill.deleted_at is not None:
        return f"The name {skill.name} belonged to a skill that was deleted, and is not given again."
    if skill.name != bundle.name:
        return (
            f"{bundle.name} and the existing {skill.name} are one folder name ({skill.folder}) to an agent."
        )
    if skill.team_id != team.pk:
        return f"The name {skill.name} is taken by another team."
    return ""


def _confusable(bundle: Bundle, team: Team) -> list[Finding]:
    """What another team keeps to itself is not told."""
    if not SHORTEST <= len(bundle.folder) <= LONGEST:
        return []
    shown = Skill.objects.filter(deleted_at=None, visibility=Skill.Visibility.ORGANISATION)
    alike = shown.filter(folder__in=lookalikes(bundle.folder)).exclude(team=team).order_by("folder")
    return [
        warning(
            "name-confusable",
            f"The name {bundle.name} is easily taken for {name}, a skill of another team.",
            "Choose one that nobody mistakes.",
        )
        for name in alike.values_list("name", flat=True)[:1]
    ]


def lookalikes(folder: str) -> frozenset[str]:
    """The folder names that are one letter off, or look the same in many typefaces; not the name itself.

    At most 5,000 for the longest name: an index finds each, where comparing would read every skill.
    """
    cuts = [(folder[:at], folder[at:]) for at in range(len(folder) + 1)]
    found = {head + tail[1:] for head, tail in cuts if tail}
    found |= {head + letter + tail[1:] for head, tail in cuts if tail for letter in _LETTERS}
    found |= {head + letter + tail for head, tail in cuts for letter in _LETTERS}
    found |= {head + b + a + tail[2:] for (head, tail), (a, b) in zip(cuts, pairwise(folder), strict=False)}
    for one, other in (*_ALIKE, *(pair[::-1] for pair in _ALIKE)):
        found |= {
            head + tail.replace(one, other, count) for head, tail in cuts for count in (1, -1) if one in tail
        }
    return frozenset(found - {folder})
