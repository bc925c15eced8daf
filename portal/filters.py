"""Skills narrowed by what they say, how risky they are and where they are served; for pages and REST alike."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import reduce
from operator import or_

from django.db.models import Case, Exists, IntegerField, OuterRef, Q, QuerySet, Value, When

from catalog.bundles.bundle import RISKS
from catalog.models import SERVED, Environment, Release, Skill, SkillTag, State

RECENT_DAYS = 30
MOST_WORDS = 8

# The place in RISKS of the higher of what is declared and what the scan suggests; -1 without a version.
RISK_RANK = Case(
    *(
        When(Q(latest__risk_level=risk) | Q(latest__suggested_risk=risk), then=Value(rank))
        for rank, risk in reversed(list(enumerate(RISKS)))
    ),
    default=Value(-1),
    output_field=IntegerField(),
)


def state_releases(environment: Environment | None, now: datetime) -> QuerySet[Release]:
    """The releases that the facet of states counts: open ones, and rollbacks of the last days."""
    recent = Q(state=State.ROLLED_BACK, changed_at__gte=now - timedelta(days=RECENT_DAYS))
    releases = Release.objects.filter(Q(state__in=(State.CANARY, State.PROPOSED)) | recent)
    return releases.filter(environment=environment) if environment else releases


def with_words(skills: QuerySet[Skill], text: str) -> QuerySet[Skill]:
    """Skills that have every word in name, description or a tag."""
    for word in text.split()[:MOST_WORDS]:
        tags = SkillTag.objects.filter(skill=OuterRef("pk")).filter(_holds("tag", word))
        skills = skills.filter(
            _holds("name", word) | _holds("folder", word) | _holds("latest__description", word) | Exists(tags)
        )
    return skills


def with_risk(skills: QuerySet[Skill], risks: Iterable[str]) -> QuerySet[Skill]:
    """Skills whose latest version has one of these risks."""
    ranks = [rank for rank, risk in enumerate(RISKS) if risk in set(risks)]
    return skills.annotate(asked_rank=RISK_RANK).filter(asked_rank__in=ranks)


def in_environments(
    skills: QuerySet[Skill], names: Iterable[str], *, states: Iterable[str] = SERVED
) -> QuerySet[Skill]:
    """Skills of which a version is served in one of the environments, or has a release in these states."""
    return _with_release(skills, Release.objects.filter(environment__name__in=list(names)), states)


def anywhere(skills: QuerySet[Skill], *, states: Iterable[str]) -> QuerySet[Skill]:
    """Skills with a release in one of the states, wherever it is and however old."""
    return _with_release(skills, Release.objects.all(), states)


def _with_release(
    skills: QuerySet[Skill], releases: QuerySet[Release], states: Iterable[str]
) -> QuerySet[Skill]:
    return skills.filter(Exists(releases.filter(skill=OuterRef("pk"), state__in=list(states))))


def in_states(
    skills: QuerySet[Skill], states: Iterable[str], *, environment: Environment | None, now: datetime
) -> QuerySet[Skill]:
    """Skills with a release in one of the states."""
    return _with_release(skills, state_releases(environment, now), states)


def tagged(skills: QuerySet[Skill], tags: Iterable[str]) -> QuerySet[Skill]:
    """Skills that carry one of the tags."""
    return skills.filter(Exists(SkillTag.objects.filter(skill=OuterRef("pk"), tag__in=list(tags))))


def _holds(column: str, word: str) -> Q:
    """The column contains the word. SQLite folds the case of ASCII alone, so other forms are tried too."""
    forms = {word} if word.isascii() else {word, word.lower(), word.capitalize(), word.upper()}
    return reduce(or_, (Q(**{f"{column}__icontains": form}) for form in sorted(forms)))


def match_of(text: str) -> Case:
    """How well the name fits: itself, its start, within, elsewhere."""
    return Case(
        When(Q(name__iexact=text) | Q(folder__iexact=text), then=Value(0)),
        When(Q(name__istartswith=text) | Q(folder__istartswith=text), then=Value(1)),
        When(Q(name__icontains=text), then=Value(2)),
        default=Value(3),
        output_field=IntegerField(),
    )
