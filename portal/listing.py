"""The catalog as a list: what was asked for, the skills that match, and counts to narrow them by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import Count, F, QuerySet
from django.http import QueryDict
from django.utils.translation import gettext as _

from catalog.bundles.bundle import RISKS
from catalog.models import SERVED, Environment, Release, Risk, Skill, SkillTag, State, Team
from portal.filters import (
    RISK_RANK,
    in_environments,
    in_states,
    match_of,
    state_releases,
    tagged,
    with_risk,
    with_words,
)

MOST_OPTIONS = 12
FEW_MATCHES = 500
SORTS = ("name", "published", "risk")
LANGUAGES: Mapping[str, str] = {"en": "English", "zh": "中文", "ru": "Русский", "ja": "日本語"}


@dataclass(frozen=True, slots=True)
class Asked:
    """What the address asks for; values that mean nothing are left out."""

    text: str = ""
    risk: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()
    state: tuple[str, ...] = ()
    team: tuple[str, ...] = ()
    language: tuple[str, ...] = ()
    tag: tuple[str, ...] = ()
    sort: str = ""

    @property
    def narrowed(self) -> bool:
        """Whether anything but the order was asked for."""
        return bool(self.text) or any(self.of(key) for key in FACETS)

    def of(self, facet: str) -> tuple[str, ...]:
        """What was ticked in a facet."""
        chosen: tuple[str, ...] = getattr(self, facet)
        return chosen


@dataclass(frozen=True, slots=True)
class Option:
    """One box of a facet."""

    value: str
    title: str
    count: int
    chosen: bool
    language: str = ""


@dataclass(frozen=True, slots=True)
class Facet:
    """A group of boxes; `key` is the name of the parameter."""

    key: str
    title: str
    options: Sequence[Option] = field(default_factory=tuple)


FACETS = ("risk", "environment", "state", "team", "language", "tag")
# The address keeps the words of the design: ?env=production&lang=zh.
PARAMETERS: Mapping[str, str] = {
    "risk": "risk", "environment": "env", "state": "state", "team": "team", "language": "lang", "tag": "tag",
}  # fmt: skip


def read_asked(query: QueryDict) -> Asked:
    """The query of an address, with bounds on what it may hold."""
    chosen = {key: tuple(query.getlist(PARAMETERS[key])[:50]) for key in FACETS}
    sort = query.get("sort", "")
    return Asked(text=query.get("q", "").strip()[:200], sort=sort if sort in SORTS else "", **chosen)


class Listing:
    """The visible skills (of one environment, where one is chosen), narrowed by what was asked."""

    def __init__(
        self, skills: QuerySet[Skill], asked: Asked, *, environment: Environment | None, now: datetime
    ) -> None:
        self.asked, self.environment, self.now = asked, environment, now
        if environment:
            skills = in_environments(skills, [environment.name])
        self.everything = _settled(with_words(skills, asked.text)) if asked.text else skills

    def skills(self) -> QuerySet[Skill]:
        """The skills that match, in the order that was asked for."""
        found = self._narrowed()
        if self.asked.sort == "published":
            return found.order_by(F("latest__published_at").desc(nulls_last=True), "name")
        if self.asked.sort == "risk":
            return found.annotate(risk_rank=RISK_RANK).order_by("-risk_rank", "name")
        if self.asked.text and self.asked.sort != "name":
            return found.annotate(match=match_of(self.asked.text)).order_by("match", "name")
        return found.order_by("name")

    def _narrowed(self, *, but: str = "") -> QuerySet[Skill]:
        """The matches with every facet applied, except one."""
        found = self.everything
        for key in FACETS:
            if key != but and self.asked.of(key):
                found = self._apply(found, key)
        return found

    def _apply(self, skills: QuerySet[Skill], key: str) -> QuerySet[Skill]:
        values = self.asked.of(key)
        if key == "risk":
            return with_risk(skills, values)
        if key == "environment":
            return in_environments(skills, values)
        if key == "state":
            return in_states(skills, values, environment=self.environment, now=self.now)
        if key == "team":
            return skills.filter(team__slug__in=values)
        if key == "language":
            return skills.filter(latest__language__in=values)
        return tagged(skills, values)

    def facets(self, environments: Sequence[Environment]) -> list[Facet]:
        """Every facet with counts that obey all the others; one query each."""
        return [
            self._facet(
                "risk",
                _("Risk"),
                self._risks(),
                {risk.value: str(risk.label) for risk in Risk},
                order=RISKS[::-1],
            ),
            self._facet(
                "environment",
                _("Deployed to"),
                self._environments(),
                {one.name: one.title for one in environments},
                order=[one.name for one in environments],
            ),
            self._facet("state", _("Release state"), self._states(), STATES(), order=list(STATES())),
            self._facet("team", _("Team"), *self._teams()),
            self._facet("language", _("Description language"), self._languages(), LANGUAGES),
            self._facet("tag", _("Tag"), self._tags(), {}),
        ]

    def _facet(
        self,
        key: str,
        title: str,
        counts: Mapping[str, int],
        titles: Mapping[str, str],
        order: Sequence[str] = (),
    ) -> Facet:
        chosen = self.asked.of(key)
        values = list(order) or sorted(counts, key=lambda value: (-counts[value], value))[:MOST_OPTIONS]
        values += [value for value in chosen if value not in values and (not titles or value in titles)]
        options = tuple(
            Option(
                value,
                str(titles.get(value, value)),
                counts.get(value, 0),
                value in chosen,
                value if key == "language" else "",
            )
            for value in values
        )
        return Facet(PARAMETERS[key], title, options)

    def _risks(self) -> dict[str, int]:
        rows = (
            self._narrowed(but="risk")
            .annotate(risk_rank=RISK_RANK)
            .order_by()
            .values_list("risk_rank")
            .annotate(n=Count("pk"))
        )
        counts = dict(rows)
        return {name: counts.get(rank, 0) for rank, name in enumerate(RISKS)}

    def _environments(self) -> dict[str, int]:
        rows = Release.objects.filter(state__in=SERVED, skill__in=self._narrowed(but="environment"))
        return dict(rows.values_list("environment__name").annotate(n=Count("skill", distinct=True)))

    def _states(self) -> dict[str, int]:
        rows = state_releases(self.environment, self.now).filter(skill__in=self._narrowed(but="state"))
        return dict(rows.values_list("state").annotate(n=Count("skill", distinct=True)))

    def _teams(self) -> tuple[dict[str, int], dict[str, str]]:
        rows = list(
            self._narrowed(but="team")
            .order_by()
            .values_list("team__slug", "team__name")
            .annotate(n=Count("pk"))
        )
        titles = {slug: name for slug, name, _n in rows}
        missing = set(self.asked.team) - set(titles)
        if missing:
            titles |= dict(Team.objects.filter(slug__in=missing).values_list("slug", "name"))
        return {slug: n for slug, _name, n in rows}, titles

    def _languages(self) -> dict[str, int]:
        rows = self._narrowed(but="language").filter(latest__isnull=False).order_by()
        return dict(rows.values_list("latest__language").annotate(n=Count("pk")))

    def _tags(self) -> dict[str, int]:
        rows = SkillTag.objects.filter(skill__in=self._narrowed(but="tag")).values_list("tag")
        return dict(rows.annotate(n=Count("pk")).order_by("-n", "tag")[:MOST_OPTIONS])


def _settled(skills: QuerySet[Skill]) -> QuerySet[Skill]:
    """The same skills by their keys where they are few: every count would read all the texts again."""
    keys = list(skills.values_list("pk", flat=True)[: FEW_MATCHES + 1])
    return skills if len(keys) > FEW_MATCHES else Skill.objects.filter(pk__in=keys)


def STATES() -> dict[str, str]:  # noqa: N802 - a table whose words depend on the reader's language
    """The states that a list is narrowed by."""
    return {
        State.CANARY.value: _("Canary running"),
        State.PROPOSED.value: _("Waits for approval"),
        State.ROLLED_BACK.value: _("Rolled back, 30 days"),
    }
