"""What a change of an environment's policy would do to what is served and what is on its way there.

Read only, in a fixed number of queries: `MOST_READ` releases on their way at most are judged, the
oldest first, and of each kind the first `MOST_SHOWN` are told by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass

from django.db.models import Prefetch

from catalog.allowance import Allowance
from catalog.availability import missing_of
from catalog.models import SERVED, Approval, Environment, Override, Release, State
from catalog.terms import Terms
from governance.clearing import Review, judge

MOST_SHOWN = 20
MOST_READ = 1000
OPEN = (State.PROPOSED, State.APPROVED)
# Those whose approvals are asked for again before agents are served more of it.
DECIDED = (*OPEN, State.CANARY, State.HALTED)


@dataclass(frozen=True, slots=True)
class Touched:
    """A release that the change touches, and how, in sentences; by no more than what names it."""

    release: Release
    why: str = ""


@dataclass(frozen=True, slots=True)
class Touch:
    """All releases that a change touches in one way: how many, and the first of them."""

    count: int = 0
    first: tuple[Touched, ...] = ()


@dataclass(frozen=True, slots=True)
class Foresight:
    """What a change would do.

    `unavailable` are served versions that the policy would not allow, `available` those that it would
    allow again; `held` are proposals at which a gate would shut, `short` those that would need more
    approvals; `void` are releases with approvals that would no longer hold, `approvals` how many of
    them. `is_whole` is false where more releases are on their way than were looked at.
    """

    unavailable: Touch
    available: Touch
    held: Touch
    short: Touch
    void: Touch
    approvals: int
    is_whole: bool

    @property
    def is_quiet(self) -> bool:
        """Whether nothing that is served or on its way would be touched."""
        touches = (self.unavailable, self.available, self.held, self.short, self.void)
        return self.is_whole and not any(one.count for one in touches)


def foresee(environment: Environment, terms: Terms) -> Foresight:
    """What would follow if the environment had these terms; those that are not named stay."""
    proposed = copy(environment)
    for name, value in terms.items():
        setattr(proposed, name, value)
    unavailable, available = _allowed(environment, proposed)
    releases = _on_their_way(environment)
    pairs = [(one, *_judge_both(one, environment, proposed)) for one in releases[:MOST_READ]]
    waiting = [pair for pair in pairs if pair[0].state in OPEN]
    voided = [(one, _no_longer(before, after)) for one, before, after in pairs]
    return Foresight(
        unavailable=unavailable,
        available=available,
        held=_gather(Touched(one, _shuts(before, after)) for one, before, after in waiting),
        short=_gather(Touched(one, _wants(before, after)) for one, before, after in waiting),
        void=_gather(Touched(one, ", ".join(names)) for one, names in voided),
        approvals=sum(len(names) for _, names in voided),
        is_whole=len(releases) <= MOST_READ,
    )


def _allowed(environment: Environment, proposed: Environment) -> tuple[Touch, Touch]:
    """The served versions that the policy allows no longer, and those that it allows again."""
    before, after = _allowance(environment), _allowance(proposed)
    if before == after:
        return Touch(), Touch()
    served = (
        Release.objects.filter(
            environment=environment,
            state__in=SERVED,
            skill__deleted_at=None,
            version__yanked_at=None,
            version__revoked_at=None,
        )
        .select_related("skill", "version")
        .only(
            *("state", "skill__name", "skill__folder", "version__version"),
            *("version__risk_level", "version__suggested_risk", "version__permissions"),
        )
        .order_by("skill__name", "pk")
    )
    refused, allowed = [], []
    for one in served:
        about = {"permissions": one.version.permissions, "risk": one.version.effective_risk}
        was, will = " ".join(before.why_not(**about)), " ".join(after.why_not(**about))
        refused.append(Touched(one, "" if was else will))
        allowed.append(Touched(one, "" if will else was))
    return _gather(refused), _gather(allowed)


def _allowance(environment: Environment) -> Allowance:
    return Allowance(frozenset(environment.permissions), environment.highest_risk)


def _on_their_way(environment: Environment) -> Sequence[Release]:
    """The releases that are not decided for good, with all that `judge` reads; one more than are looked at."""
    approvals = Approval.objects.filter(voided_at=None).select_related("user")
    found = list(
        Release.objects.filter(environment=environment, state__in=DECIDED, skill__deleted_at=None)
        .select_related("skill", "version__skill")
        .defer("version__description", "version__provenance", "version__notes")
        .prefetch_related(
            Prefetch("approvals", approvals, to_attr="signed"),
            Prefetch("overrides", Override.objects.select_related("user"), to_attr="answered"),
            "version__dependencies",
        )
        .order_by("proposed_at", "pk")[: MOST_READ + 1]
    )
    missing = missing_of([(one.version, environment.pk) for one in found])
    for one in found:
        one.missing = missing[one.version_id, environment.pk]  # type: ignore[attr-defined]  # kept beside it, as the prefetched are
    return found


def _judge_both(release: Release, environment: Environment, proposed: Environment) -> tuple[Review, Review]:
    return _judge(release, environment), _judge(release, proposed)


def _judge(release: Release, environment: Environment) -> Review:
    release.environment = environment
    parts = {"approvals": release.signed, "overrides": release.answered}  # type: ignore[attr-defined]  # by `_on_their_way`
    return judge(release, release.missing, **parts)  # type: ignore[attr-defined]  # as above


def _shuts(before: Review, after: Review) -> str:
    """What the gates say that would shut."""
    shut = {gate.name for gate in before.shut}
    return " ".join(gate.detail for gate in after.shut if gate.name not in shut)


def _wants(before: Review, after: Review) -> str:
    """How many approvals it would need, where that is more."""
    if after.needs.approvals <= before.needs.approvals:
        return ""
    return f"{before.needs.approvals} → {after.needs.approvals}"


def _no_longer(before: Review, after: Review) -> Sequence[str]:
    """Who gave the approvals that would be void."""
    held = {one.pk for one in after.approvals}
    return [str(one.user) for one in before.approvals if one.pk not in held]


def _gather(touched: Iterable[Touched]) -> Touch:
    """Those that are touched at all."""
    found = [one for one in touched if one.why]
    return Touch(len(found), tuple(found[:MOST_SHOWN]))
