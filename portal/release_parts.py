"""The parts of a release's page: gates with who answers for them, approvals, broken glass, the way back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q
from django.utils.translation import gettext as _

from catalog.clearance import Gate
from catalog.models import Approval, Grant, Override, Release, Role, State, Transition, User, Version
from governance.clearing import Review, bound_to
from portal.decision_texts import gate_title
from portal.decisions import Offer, is_open

MOST_PEOPLE = 200
MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class Answer:
    """An override as it is shown for ever: by whom, why, and whether it still counts."""

    override: Override
    counts: bool


@dataclass(frozen=True, slots=True)
class GateRow:
    """One gate: what it saw (None where it is not judged any more), who answered for it, what can be done."""

    name: str
    gate: Gate | None
    answers: tuple[Answer, ...]
    offer: Offer | None

    @property
    def title(self) -> str:
        """The gate as people call it."""
        return gate_title(self.name)

    @property
    def tone(self) -> str:
        """The colour of its state."""
        if self.gate is None or (self.gate.overridden and not self.gate.passed):
            return "warn"
        return "ok" if self.gate.passed else "bad"


def gate_rows(
    release: Release, seen: Review, overrides: Sequence[Override], found: Iterable[Offer]
) -> tuple[GateRow, ...]:
    """Every gate, shut ones first; of a release that is closed only those that were answered for."""
    gates = {gate.name: gate for gate in seen.gates} if is_open(release) else {}
    offered = {offer.gate: offer for offer in found if offer.action == "override"}
    bound = bound_to(release.version, release.environment)
    names = dict.fromkeys((*gates, *(one.gate for one in overrides)))
    rows = [
        GateRow(
            name,
            gates.get(name),
            tuple(Answer(one, _counts(one, gates.get(name), bound)) for one in overrides if one.gate == name),
            offered.get(name),
        )
        for name in names
    ]
    return tuple(sorted(rows, key=lambda row: ("bad", "warn", "ok").index(row.tone)))


def _counts(override: Override, gate: Gate | None, bound: str) -> bool:
    """Whether the gate is open by this override now."""
    same = gate is not None and (override.detail, override.bound_to) == (gate.detail, bound)
    return bool(same and gate and gate.overridden)


@dataclass(frozen=True, slots=True)
class Given:
    """An approval: whose right was used where it was lent ("" else), and why it is void ("" where it holds)."""

    approval: Approval
    lent_by: str
    void: str


def approvals_given(release: Release, seen: Review, given: Iterable[Approval]) -> tuple[Given, ...]:
    """All approvals, those that hold first; void ones say why."""
    held = {one.pk for one in seen.approvals}
    rows = [
        Given(
            one,
            "" if one.right_of_id == one.user_id else str(one.right_of),
            "" if one.pk in held else _why_void(one, release, seen),
        )
        for one in given
    ]
    return tuple(sorted(rows, key=lambda row: bool(row.void)))


def _why_void(approval: Approval, release: Release, seen: Review) -> str:
    if approval.bound_to != bound_to(release.version, release.environment):
        told = {"environment": release.environment.title}
        return _("The policy of %(environment)s or the risk of the version has changed since.") % told
    shut = [gate_title(gate.name) for gate in seen.shut if gate.name in approval.gates]
    if shut:
        return _("Shut since, and open then: %(gates)s.") % {"gates": ", ".join(shut)}
    return _("The policy, the risk or a gate had changed when it was approved anew.")


@dataclass(frozen=True, slots=True)
class BrokenGlass:
    """That somebody served the release past what it lacked; it is shown for ever."""

    transition: Transition
    approvals: int
    gates: str


def broken_glass(transitions: Iterable[Transition]) -> BrokenGlass | None:
    """The glass that was broken for the release, None where it never was."""
    found = next((one for one in transitions if one.action == "break_glass"), None)
    if found is None:
        return None
    gates = [gate for gate in found.clearance.get("gates", ()) if not gate["passed"]]
    return BrokenGlass(
        found,
        len(found.clearance.get("approvals", ())),
        ", ".join(gate_title(gate["name"]) for gate in gates),
    )


@dataclass(frozen=True, slots=True)
class Helpers:
    """Who can do what this user cannot: people by name, cut with how many more there are."""

    deciders: tuple[str, ...]
    overriders: tuple[str, ...]


def helpers_of(release: Release) -> Helpers:
    """Who may decide on the release, and who may override its gates; by rights of their own. Two queries at most."""
    grants = (
        Grant.objects.filter(
            Q(team=None) | Q(team=release.skill.team_id),
            Q(environment=None) | Q(environment=release.environment_id),
            role=Role.APPROVER,
            user__is_active=True,
        )
        .select_related("user")
        .order_by("user__first_name", "user__username", "pk")[:MOST_PEOPLE]
    )
    near = {release.proposer_id, release.version.publisher_id}
    if release.environment.outside_approval:
        near |= set(_publishers_of(release))
    apart = [grant for grant in grants if grant.user_id not in near]
    return Helpers(
        _names(grant.user for grant in apart), _names(grant.user for grant in grants if grant.may_override)
    )


def _publishers_of(release: Release) -> Iterator[UUID]:
    teams = Q(team=None) | Q(team=release.skill.team_id)
    return Grant.objects.filter(teams, role=Role.PUBLISHER).values_list("user_id", flat=True).iterator()


def _names(people: Iterable[User]) -> tuple[str, ...]:
    names = list(dict.fromkeys(str(one) for one in people))
    if len(names) <= MOST_NAMED:
        return tuple(names)
    return (*names[:MOST_NAMED], _("%(n)d more") % {"n": len(names) - MOST_NAMED})


@dataclass(frozen=True, slots=True)
class WayBack:
    """What callers get when the release goes: a version or none, and a sentence about it."""

    version: Version | None
    text: str


def way_back(release: Release, live: Version | None) -> WayBack:
    """What a halt or a rollback returns to; `live` is the version that is live beside the release."""
    told = {"environment": release.environment.title}
    to = release.previous if release.state == State.LIVE else live
    if to is None:
        text = _("No version was live before in %(environment)s: agents lose the skill.")
        return WayBack(None, text % told)
    if to.revoked_at or to.yanked_at:
        text = _("%(version)s was taken back since and is not put back: agents lose the skill.")
        return WayBack(None, text % {"version": to.version})
    if release.state == State.LIVE:
        return WayBack(to, _("It is put back where its gates are open and its approvals hold then."))
    if release.state == State.CANARY:
        return WayBack(to, _("Every caller gets it again when the canary is halted."))
    return WayBack(to, _("It is live here now."))
