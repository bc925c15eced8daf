"""Environments and their policies: made, changed, put in order and removed by administrators alone (spec 4.1).

A name is for ever, for tokens, addresses and the hashes of gray releases hold it. Every change locks
first, is journaled with what differs, and gives the next revision where the feed may show it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import ForeignObjectRel

from catalog import access, journal
from catalog.journal import Actor
from catalog.models import SERVED, Environment, Release, Revision
from catalog.revisions import revise
from catalog.terms import Difference, Terms, compare, fill, terms_of
from catalog.transitions import lock_environment

# What agents are told follows from these.
FED = frozenset({"permissions", "highest_risk", "call_confirmation", "script_confirmation"})
ORDER_STEP = 10
MOST_COUNTED = 1000
REFUSAL = "Environments and their policies are changed by administrators."


class Taken(Exception):
    """Another environment has the name or the place; `field` says which."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


class Changed(Exception):
    """Somebody else has changed the environment meanwhile; `differences` says what."""

    def __init__(self, environment: Environment, differences: Sequence[Difference]) -> None:
        names = ", ".join(one.field for one in differences)
        super().__init__(f"{environment.title} has been changed meanwhile: {names}. Look at it again.")
        self.environment, self.differences = environment, tuple(differences)


class InUse(Exception):
    """Something refers to the environment; `references` counts it by kind."""

    def __init__(self, environment: Environment, references: Mapping[str, int]) -> None:
        told = ", ".join(f"{kind}: {count}" for kind, count in references.items())
        super().__init__(f"{environment.title} is in use and stays ({told}).")
        self.references = references


class LastOne(Exception):
    """A catalog has at least one environment."""


class Removed(Exception):
    """Somebody else has removed the environment meanwhile."""


def create_environment(*, name: str, terms: Terms, actor: Actor, now: datetime) -> Environment:
    """Make an environment, in the last place where no `order` is named.

    Raises NotAllowed, PolicyWrong, and Taken for a name or place of another one.
    """
    with transaction.atomic():
        others = lock_all()
        access.require(actor, lambda powers: powers.is_admin, REFUSAL, now=now)
        made = Environment(name=name, order=_last_place(others))
        fill(made, terms)
        _refuse_taken(made, others)
        made.save(force_insert=True)
        after = {"name": name, **terms_of(made)}
        journal.append(actor=actor, verb="environment.create", target=_target(made), after=after, now=now)
    return made


def change_environment(
    *, environment: Environment, terms: Terms, actor: Actor, now: datetime, opened: Terms | None = None
) -> Environment:
    """Give the environment these values; what is not named stays.

    `opened` is what the editor saw: where any of it is no longer so nothing is changed, and Changed
    is raised. The same values again change nothing. Raises NotAllowed, PolicyWrong, Taken and
    Removed as well.
    """
    with transaction.atomic():
        others = [one for one in lock_all() if one.pk != environment.pk] if "order" in terms else []
        fresh = _lock(environment)
        access.require(actor, lambda powers: powers.is_admin, REFUSAL, now=now)
        before = terms_of(fresh)
        if moved := compare(opened or {}, before):
            raise Changed(fresh, moved)
        fill(fresh, terms)
        _refuse_taken(fresh, others)
        _write(fresh, compare(before, terms_of(fresh)), actor, now)
    return fresh


def move_environment(
    *, environment: Environment, earlier: bool, actor: Actor, now: datetime, opened: int | None = None
) -> Environment:
    """Change places with the environment before it (`earlier`) or after it; at the end nothing changes.

    `opened` is the place that it was seen at. Raises NotAllowed, Removed, and Changed where it has
    another by now.
    """
    with transaction.atomic():
        rows = lock_all()
        access.require(actor, lambda powers: powers.is_admin, REFUSAL, now=now)
        fresh = _lock(environment)
        beside = rows.index(fresh) + (-1 if earlier else 1)
        if opened is not None and opened != fresh.order:
            raise Changed(fresh, [Difference("order", opened, fresh.order)])
        if 0 <= beside < len(rows):
            _swap(fresh, rows[beside], actor, now)
    return fresh


def remove_environment(*, environment: Environment, actor: Actor, now: datetime) -> None:
    """Remove an environment that nothing refers to but its own revisions.

    Raises NotAllowed, Removed, InUse, and LastOne.
    """
    with transaction.atomic():
        rows = lock_all()
        access.require(actor, lambda powers: powers.is_admin, REFUSAL, now=now)
        fresh = _lock(environment)
        # Before it counts: who makes a reference meanwhile holds the head, or waits for it.
        journal.lock_head()
        if references := references_to(fresh):
            raise InUse(fresh, references)
        if len(rows) == 1:
            raise LastOne(f"{fresh.title} is the only environment; make another one first.")
        before = {"name": fresh.name, **terms_of(fresh)}
        fresh.revisions.all().delete()
        fresh.delete()
        journal.append(actor=actor, verb="environment.remove", target=_target(fresh), before=before, now=now)


def references_to(environment: Environment) -> dict[str, int]:
    """How many of each kind refer to the environment, its revisions aside; each counted up to `MOST_COUNTED`."""
    found = {}
    for relation in Environment._meta.get_fields(include_hidden=True):
        if not isinstance(relation, ForeignObjectRel) or relation.related_model is Revision:
            continue
        model: Any = relation.related_model
        rows = model._base_manager.filter(**{relation.field.name: environment.pk})
        if count := rows[:MOST_COUNTED].count():
            found[str(model._meta.verbose_name_plural)] = count
    return found


def lock_all() -> list[Environment]:
    """Every environment in its order, locked until the transaction ends."""
    list(Environment.objects.select_for_update(no_key=True).order_by("order"))
    # Read again: while it waited, PostgreSQL has sorted rows as they were, and seen no new ones.
    return list(Environment.objects.order_by("order"))


def _lock(environment: Environment) -> Environment:
    try:
        return lock_environment(environment)
    except Environment.DoesNotExist as gone:
        raise Removed(f"{environment.title} was removed meanwhile.") from gone


def _last_place(others: Sequence[Environment]) -> int:
    return max((one.order for one in others), default=0) + ORDER_STEP


def _refuse_taken(environment: Environment, others: Sequence[Environment]) -> None:
    for other in others:
        if other.name == environment.name:
            raise Taken("name", f"There is an environment named {other.name} already.")
        if other.order == environment.order:
            raise Taken("order", f"{other.title} has the place {other.order} already.")


def _swap(one: Environment, other: Environment, actor: Actor, now: datetime) -> None:
    """Each gets the other's place; two rows never have the same one, not even on the way."""
    first, second = one.order, other.order
    free = 1 + max(Environment.objects.values_list("order", flat=True))
    Environment.objects.filter(pk=one.pk).update(order=free)
    other.order, one.order = first, second
    _write(other, (Difference("order", second, first),), actor, now)
    _write(one, (Difference("order", first, second),), actor, now)


def _write(environment: Environment, differences: Sequence[Difference], actor: Actor, now: datetime) -> None:
    """Save what differs, with its journal entry and, where agents may be told of it, the next revision."""
    names = [one.field for one in differences]
    if not names:
        return
    environment.save(update_fields=names)
    if FED.intersection(names):
        served = Release.objects.filter(environment=environment, state__in=SERVED, skill__deleted_at=None)
        folders = served.order_by("skill__folder").values_list("skill__folder", flat=True).distinct()
        revise(environment=environment, folders=list(folders), now=now)
    journal.append(
        actor=actor,
        verb="environment.change",
        target=_target(environment),
        before={one.field: one.before for one in differences},
        after={one.field: one.after for one in differences},
        now=now,
    )


def _target(environment: Environment) -> str:
    return f"environment {environment.name}"
