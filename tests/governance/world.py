"""A small catalog in which anything may happen to releases, and what holds of it whatever happened.

`test_release_machine` lets hypothesis choose what happens, and then several threads at once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from datetime import datetime, timedelta
from itertools import count
from typing import Any

from catalog import degradations, delegations, environments, lifecycle, resolution
from catalog.access import NotAllowed, powers_of
from catalog.bundles.bundle import RISKS
from catalog.canaries import Plan, plan_of
from catalog.journal import check_chain
from catalog.models import (
    Approval,
    Degradation,
    Delegation,
    Environment,
    Override,
    Release,
    Role,
    Skill,
    State,
    Transition,
    User,
    Version,
)
from catalog.releases import NotCleared, WrongState
from catalog.snapshots import Served, compile_snapshot
from catalog.transitions import SERVING, STARTS_FROM
from governance import approvals, rollouts
from governance.approvals import NoSuchGate, NotConfirmed
from governance.gates import policy_of, subject_of
from governance.policy import needs_of
from tests import cast as crew
from tests import make

# What somebody who is late, or may not, is told; anything else is a fault.
REFUSALS = (
    *(WrongState, NotAllowed, NotCleared, NotConfirmed, NoSuchGate),
    *(delegations.NotLendable, degradations.BadFallback),
)
PLANS = (
    Plan(),
    Plan(percent=20),
    Plan(percent=5, steps=(5, 40, 100), soak_minutes=60),
    Plan(percent=0, agents=("front-desk",)),
)
POLICIES: tuple[Mapping[str, Any], ...] = (
    {"needs_evaluation": True},
    {"needs_evaluation": False},
    {"highest_risk": "medium"},
    {"highest_risk": "high"},
    {"permissions": []},
    {"permissions": ["network"]},
    {"outside_approval": True},
    {"outside_approval": False},
    {"approvals_low": 2},
    {"approvals_low": 1},
    {"lowest_stability": "experimental"},
    {"lowest_stability": "stable"},
)
# Those who decide more often than those who may not.
PEOPLE = ("mara", "otto", "nora", "mara", "otto", "ines", "lena", "ada")
PROPOSERS = ("ines", "nora")
SERVED = {State.LIVE, State.CANARY}
# A policy under which two approvals let anything of low risk through.
EASY: Mapping[str, Any] = {
    "needs_evaluation": False,
    "highest_risk": "high",
    "permissions": ["network"],
    "outside_approval": False,
    "approvals_low": 2,
    "lowest_stability": "experimental",
}
Terms = tuple[str, int]


class World:
    """Two skills, their versions, one of which is live, two environments and six people; every action may be refused."""

    def __init__(self) -> None:
        cast = self.cast = make.cast()
        make.grant(cast.ines, Role.APPROVER)
        make.grant(cast.nora, Role.PUBLISHER, team=cast.payments)
        make.grant(cast.nora, Role.APPROVER, may_override=True)
        cast.mara.grants.update(may_override=True)
        make.agent(team=cast.payments)
        first = make.version("alpha", cast=cast)
        make.version("alpha", "1.1.0", cast=cast, body="1.1\n", risk_level="high")
        make.version("alpha", "1.2.0", cast=cast, body="1.2\n", stability="experimental")
        make.version("beta", cast=cast, publisher=cast.nora, permissions=("network",), risk_level="medium")
        make.release(first, "production", cast=cast)
        self.begin_anew()

    def begin_anew(self) -> None:
        """Forget what has happened: the clock and the numbers of versions start again."""
        self.ticks = count(1)
        self.numbers = count(1)
        # Under which terms each approval was given.
        self.given: dict[Any, Terms] = {}

    def note(self) -> None:
        """Remember the terms of the approvals that are new; to be called before anything else changes."""
        rows = Approval.objects.exclude(pk__in=self.given)
        for one in rows.select_related("release__version", "release__environment"):
            self.given[one.pk] = terms_of(one.release)

    def now(self) -> datetime:
        """A time after every one before; a proposal outlives some hundred of them."""
        return make.NOW + timedelta(minutes=20 * next(self.ticks))

    def user(self, who: int) -> User:
        """Somebody."""
        user: User = getattr(self.cast, PEOPLE[who % len(PEOPLE)])
        return user

    def proposer(self, who: int) -> User:
        """Somebody who publishes, nine times of ten."""
        return self.user(who) if who % 10 == 9 else getattr(self.cast, PROPOSERS[who % 2])

    def release(self, which: int, states: Collection[str]) -> Release:
        """Some recent release, mostly in one of the states; WrongState where there is none."""
        rows = Release.objects.order_by("-proposed_at", "-pk").select_related("environment")
        found = list((rows if which % 6 == 5 else rows.filter(state__in=states))[:4])
        if not found:
            raise WrongState("There is none.")
        return found[which % len(found)]

    def version(self, which: int) -> Version:
        """Some version, the newer ones more often."""
        found = list(Version.objects.order_by("-published_at", "-pk").select_related("skill__team")[:6])
        return found[which % len(found)]

    def environment(self, which: int) -> Environment:
        """Staging or production."""
        return make.environment(("staging", "production")[which % 2])


def terms_of(release: Release) -> Terms:
    """What an approval is for, beside the bytes: the policy, and how risky the version is held to be."""
    where = release.environment
    columns = sorted({*EASY, "approvals_medium", "approvals_high"})
    told = repr([(name, getattr(where, name)) for name in columns])
    return told, RISKS.index(release.version.effective_risk)


Action = Callable[[World, int, int, int], Any]


def _on_release(action: str, act: Callable[..., Release], **fields: Callable[[int], Any]) -> Action:
    """An action on a release; `fields` are made from the last number."""

    def do(world: World, which: int, who: int, more: int) -> Any:
        told = {name: make_field(more) for name, make_field in fields.items()}
        release = world.release(which, STARTS_FROM[action])
        if "confirm" in told:
            told["confirm"] = release.skill.name
        if "percent" in told and not plan_of(release.canary).has_cohort and told["percent"] is not None:
            told["percent"] = max(told["percent"], 1)
        return act(release=release, actor=crew.actor(world.user(who)), now=world.now(), **told)

    return do


def propose(world: World, which: int, who: int, more: int) -> Any:
    """Some version is proposed."""
    actor = crew.actor(world.proposer(who))
    where, plan = world.environment(more), PLANS[more // 2 % len(PLANS)]
    return approvals.propose(
        version=world.version(which), environment=where, actor=actor, plan=plan, now=world.now()
    )


def publish(world: World, which: int, who: int, more: int) -> Any:
    """Another version of alpha."""
    number = f"2.{next(world.numbers)}.0"
    publisher = world.proposer(who % 2)
    risk = ("low", "medium", "high")[more % 3]
    return make.version(
        "alpha",
        number,
        cast=world.cast,
        publisher=publisher,
        body=f"{number}\n",
        risk_level=risk,
        now=world.now(),
    )


def approve_own(world: World, which: int, who: int, more: int) -> Any:
    """Who proposed a release, or published its version, approves it."""
    release = world.release(which, STARTS_FROM["approve"])
    own = (release.proposer, release.version.publisher)[more % 2]
    return make.approve(release, own, now=world.now())


def mark(world: World, which: int, who: int, more: int) -> Any:
    """A version is deprecated, yanked or revoked; mostly one that is served, and by somebody who may."""
    verb, by = ((lifecycle.yank, "nora"), (lifecycle.revoke, "ada"), (lifecycle.deprecate, "ines"))[more % 3]
    actor = crew.actor(world.user(who) if who % 5 == 4 else getattr(world.cast, by))
    version = world.version(which) if which % 4 == 3 else world.release(which, SERVED).version
    return verb(version=version, actor=actor, reason="Found out.", now=world.now())


def delete(world: World, which: int, who: int, more: int) -> Any:
    """Beta is deleted."""
    skill = Skill.objects.get(folder="beta")
    return lifecycle.delete_skill(
        skill=skill, actor=crew.actor(world.user(who)), reason="Old.", now=world.now()
    )


def risk(world: World, which: int, who: int, more: int) -> Any:
    """A scan finds another risk."""
    found = ("low", "medium", "high")[more % 3]
    return Version.objects.filter(pk=world.version(which).pk).update(suggested_risk=found)


def policy(world: World, which: int, who: int, more: int) -> Any:
    """The administrator changes the policy of an environment."""
    terms = POLICIES[more % len(POLICIES)]
    return environments.change_environment(
        environment=world.environment(which), terms=terms, actor=crew.actor(world.cast.ada), now=world.now()
    )


def lend(world: World, which: int, who: int, more: int) -> Any:
    """Somebody lends their rights."""
    giver, now = world.user(who), world.now()
    return delegations.lend(
        giver=giver,
        taker=world.user(which),
        actor=crew.actor(giver),
        ends_at=now + timedelta(hours=1 + more),
        reason="Away.",
        now=now,
    )


def take_back(world: World, which: int, who: int, more: int) -> Any:
    """A loan is ended."""
    found = list(Delegation.objects.filter(ended_at=None).order_by("pk"))
    if not found:
        return None
    actor = crew.actor(world.cast.ada)
    return delegations.end_delegation(delegation=found[which % len(found)], actor=actor, now=world.now())


def degrade(world: World, which: int, who: int, more: int) -> Any:
    """A skill is switched off, or on again; mostly one that is served."""
    actor = crew.actor(world.user(who))
    skill = (world.version(which) if which % 4 == 3 else world.release(which, SERVED)).skill
    if more % 2:
        return degradations.restore(skill=skill, actor=actor, reason="Well again.", now=world.now())
    return degradations.degrade(skill=skill, actor=actor, reason="Harmful.", now=world.now())


def _share(more: int) -> int:
    return (0, 1, 30, 60, 99, 100)[more % 6]


def _share_or_none(more: int) -> int | None:
    return (None, 0, 25, 100)[more % 4]


def _reason(more: int) -> str:
    return f"Because of {more}."


def _gate(more: int) -> str:
    return ("stability", "evaluation", "risk", "permissions", "dependencies")[more % 5]


ACTIONS: Mapping[str, Action] = {
    "propose": propose,
    "approve": _on_release("approve", approvals.approve, confirm=str),
    "approve_own": approve_own,
    "reject": _on_release("reject", approvals.reject, reason=_reason),
    "withdraw": _on_release("withdraw", approvals.withdraw),
    "start": _on_release("start", rollouts.start, percent=_share_or_none),
    "advance": _on_release("advance", rollouts.advance, percent=_share),
    "halt": _on_release("halt", rollouts.halt, reason=_reason),
    "resume": _on_release("resume", rollouts.resume, percent=_share_or_none),
    "roll_back": _on_release("rollback", rollouts.roll_back, reason=_reason),
    "override": _on_release("override", approvals.override, gate=_gate, reason=_reason),
    "break_glass": _on_release("break_glass", rollouts.break_glass, reason=_reason),
    "move_due": lambda world, which, who, more: rollouts.move_due(now=world.now()),
    "expire": lambda world, which, who, more: approvals.expire_proposals(now=world.now()),
    "publish": publish,
    "mark": mark,
    "delete": delete,
    "risk": risk,
    "policy": policy,
    "lend": lend,
    "take_back": take_back,
    "degrade": degrade,
}


def begin(world: World, which: int, who: int, more: int) -> Release:
    """Propose some version and have it approved by all who are needed; refused at any step."""
    release = propose(world, which, who, more)
    for name in ("mara", "otto", "nora"):
        if release.state == State.PROPOSED and more % 4:
            release = make.approve(release, getattr(world.cast, name), now=world.now())
    return release


def twist(world: World, which: int, who: int, more: int) -> None:
    """Something changes between the approvals and the start of a new version."""
    version, where = publish(world, which, who, 0), world.environment(more)
    actor, plan = crew.actor(world.cast.ines), PLANS[more // 2 % len(PLANS)]
    release = approvals.propose(version=version, environment=where, actor=actor, plan=plan, now=world.now())
    for name in ("mara", "otto"):
        if release.state == State.PROPOSED:
            release = make.approve(release, getattr(world.cast, name), now=world.now())
    world.note()
    now = world.now()
    if who % 3:
        terms, ada = POLICIES[(which + who) % len(POLICIES)], crew.actor(world.cast.ada)
        environments.change_environment(environment=where, terms=terms, actor=ada, now=now)
    else:
        Version.objects.filter(pk=version.pk).update(suggested_risk=("medium", "high")[which % 2])
    rollouts.start(release=release, actor=crew.actor(world.cast.otto), now=world.now())


def go_all_the_way(world: World, where: Environment) -> Release:
    """A new version of alpha goes live, by every step there is: nothing may be in its way."""
    mara, otto, ada = (crew.actor(getattr(world.cast, name)) for name in ("mara", "otto", "ada"))
    environments.change_environment(environment=where, terms=EASY, actor=ada, now=world.now())
    version = publish(world, 0, 0, 0)
    for other in Release.objects.filter(skill=version.skill, environment=where, state=State.CANARY):
        rollouts.halt(release=other, actor=mara, reason="Make room.", now=world.now())
    live = Release.objects.filter(skill=version.skill, environment=where, state=State.LIVE).first()
    ines, plan = crew.actor(world.cast.ines), Plan(percent=5)
    release = approvals.propose(version=version, environment=where, actor=ines, plan=plan, now=world.now())
    for name in ("mara", "otto"):
        assert release.state == State.PROPOSED
        release = make.approve(release, getattr(world.cast, name), now=world.now())
    release = rollouts.start(release=release, actor=otto, now=world.now())
    release = rollouts.advance(release=release, actor=mara, percent=30, now=world.now())
    release = rollouts.halt(release=release, actor=mara, reason="Wait.", now=world.now())
    release = rollouts.resume(release=release, actor=otto, percent=30, now=world.now())
    assert (release.state, release.percent) == (State.CANARY, 30)
    release = rollouts.advance(release=release, actor=mara, percent=100, now=world.now())
    assert release.state == State.LIVE
    if live is not None:
        live.refresh_from_db()
        assert (live.state, release.previous_id) == (State.SUPERSEDED, live.version_id)
    return release


# What happens, so grouped that a few steps lead far; each group has its choice by the sum of the numbers.
GROUPS: Mapping[str, tuple[str, ...]] = {
    "begin": ("begin",),
    "twist": ("twist",),
    "approve": ("approve", "approve_own"),
    "serve": ("start", "start", "advance", "resume"),
    "stop": ("halt", "roll_back", "reject", "withdraw"),
    "force": ("override", "break_glass"),
    "change": ("policy", "risk"),
    "time": ("move_due", "move_due", "expire"),
    "harm": ("mark", "degrade", "mark", "degrade", "mark", "delete"),
    "other": ("publish", "lend", "lend", "take_back", "propose"),
}


def do_some(world: World, group: str, which: int, who: int, more: int) -> str:
    """Let something of the group happen."""
    names = GROUPS[group]
    return do(world, names[(which + who + more) % len(names)], which, who, more)


def do(world: World, action: str, which: int, who: int, more: int) -> str:
    """Let it happen, or be refused; answers which."""
    try:
        {"begin": begin, "twist": twist, **ACTIONS}[action](world, which, who, more)
    except REFUSALS as refusal:
        return type(refusal).__name__
    return "done"


def check_world(world: World | None = None, seen: set[int] | None = None) -> None:
    """Everything that holds at any time; `seen` are the ids of transitions that were looked at before.

    With them, what is new in the world is held against the policy of now as well: nothing else has
    changed since.
    """
    releases = list(
        Release.objects.select_related("environment", "skill", "version").prefetch_related(
            "transitions", "approvals", "overrides"
        )
    )
    _check_one_of_each(releases)
    for release in releases:
        _check_numbers(release)
        _check_four_eyes(release)
    if world is not None and seen is not None:
        world.note()
        _check_new(world, seen)
    for environment in Environment.objects.all():
        _check_feed(environment, {one.pk: one for one in releases if one.environment_id == environment.pk})
    assert check_chain().intact


def _check_one_of_each(releases: list[Release]) -> None:
    for state in SERVED:
        places = [(one.skill_id, one.environment_id) for one in releases if one.state == state]
        assert len(places) == len(set(places)), places


def _check_numbers(release: Release) -> None:
    """Transitions follow one another without a gap; state, share and schedule fit."""
    rows: list[Transition] = list(release.transitions.all())
    assert [row.n for row in rows] == list(range(1, len(rows) + 1)), release
    assert [row.from_state for row in rows] == ["", *(row.to_state for row in rows[:-1])]
    assert rows[-1].to_state == release.state
    least = 0 if plan_of(release.canary).has_cohort else 1
    shares = {State.LIVE: range(100, 101), State.CANARY: range(least, 100), State.HALTED: range(least, 100)}
    assert release.percent in shares.get(State(release.state), range(1)), (release.state, release.percent)
    assert release.next_step_at is None or release.state == State.CANARY
    assert release.previous_id != release.version_id


def _check_four_eyes(release: Release) -> None:
    """Nobody who proposed or published approved or overrode; no person and no right counts twice."""
    near = {release.proposer_id, release.version.publisher_id}
    given: list[Approval] = list(release.approvals.all())
    answered: list[Override] = list(release.overrides.all())
    assert not near & {person for one in given for person in (one.user_id, one.right_of_id)}
    assert not near & {one.user_id for one in answered}
    held = [one for one in given if one.voided_at is None]
    assert len({one.user_id for one in held}) == len({one.right_of_id for one in held}) == len(held)


def _check_new(world: World, seen: set[int]) -> None:
    """Whatever began to be served since had the approvals that the policy asks for, unless glass was broken.

    They were given under that very policy, and for no lower risk.
    """
    fresh = Transition.objects.exclude(pk__in=seen).select_related("release__version", "release__environment")
    for row in fresh:
        seen.add(row.pk)
        if row.action in {"start", "advance", "resume"}:
            release = row.release
            needed = needs_of(policy_of(release.environment), subject_of(release.version)).approvals
            told = row.clearance["approvals"]
            assert len(told) >= needed, (release, row.clearance)
            policy, risk = terms_of(release)
            for one in release.approvals.filter(voided_at=None, user__username__in=told):
                assert world.given[one.pk][0] == policy, (release, one.user, world.given[one.pk], policy)
                assert world.given[one.pk][1] >= risk, (release, one.user)
        if row.action in {"break_glass", "override"} and row.actor is not None:
            powers = powers_of(row.actor, now=row.created_at)
            assert powers.may_break_glass(row.release)


def _check_feed(environment: Environment, releases: Mapping[Any, Release]) -> None:
    """What is served was cleared for that environment and these bytes, past open gates, and is not taken back."""
    resolution.forget_cached()
    slots = compile_snapshot(environment.pk).slots.values()
    _check_switches(environment, [one for slot in slots for one in (slot.stable, slot.candidate) if one])
    served = {one.release_id for slot in slots for one in (slot.stable, slot.candidate) if one is not None}
    for key in served:
        release = releases[key]
        assert release.state in SERVED
        assert (release.version.yanked_at, release.version.revoked_at) == (None, None)
        assert release.skill.deleted_at is None
        row = next(one for one in reversed(release.transitions.all()) if one.action in SERVING)
        told = row.clearance
        assert (told["environment"], told["bundle_sha256"]) == (
            environment.name,
            release.version.bundle_sha256,
        )
        assert told["gates"]
        assert all(gate["passed"] or gate["overridden"] for gate in told["gates"]), told["gates"]
        hard = [gate for gate in told["gates"] if gate["name"] in {"permissions", "risk"}]
        assert len(hard) == 2
        assert all(gate["passed"] for gate in hard)
        # What a rollback puts back may have lost its approvals since; it was served with them before.
        ways = [one for one in release.transitions.all() if one.action in SERVING]
        forced = any(one.action == "break_glass" for one in ways)
        assert forced or any(one.clearance["approvals"] for one in ways), [one.action for one in ways]
        assert row.action == "restore" or forced or told["approvals"], (release, row.action)
    shown = {
        one.pk
        for one in releases.values()
        if one.state in SERVED
        and not (one.version.yanked_at or one.version.revoked_at or one.skill.deleted_at)
    }
    assert served == shown


def _check_switches(environment: Environment, served: Collection[Served]) -> None:
    """What is switched off is told to be, and nothing else is."""
    rows = Degradation.objects.filter(environment=environment, restored_at=None)
    off = set(rows.values_list("skill__folder", flat=True))
    for one in served:
        reason = one.item["unavailable_reason"] or ""
        assert reason.startswith("Switched off: ") == (one.folder in off), (one.folder, reason, off)
        assert one.item["available"] == (not reason)
