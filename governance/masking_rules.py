"""What an instance masks beyond what is built in: its own rules, and the built-in kinds that are switched off (6.2).

Administrators alone change them. A rule is tried before it is saved: it masks something in a sample, or somebody
says that no sample is at hand. A sample is masked, shown and forgotten; nothing of it is written.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from catalog import access, journal
from catalog.journal import Actor
from governance import masks
from governance.masking import KINDS, BadRule, Masked, Rule, check_rule, spelled_out
from governance.masking.masks import SECRET, TOKEN
from governance.models import MaskingRule, MaskingSwitch
from governance.refusals import ReasonMissing
from governance.storable import storable

MOST_RULES = 50
LONGEST_SAMPLE = 20_000
LONGEST_REASON, LONGEST_DESCRIPTION = 500, 200
REFUSAL = "Rules of masking are made by administrators."
# Who sees that these are not masked sees what opens doors.
CREDENTIALS = frozenset({"KEY", "JWT", "TOKEN", "SECRET"})
_GUESSED = frozenset({SECRET, TOKEN})


class RuleTaken(Exception):
    """Another rule has the kind."""


class TooManyRules(Exception):
    """There are as many rules as there may be."""


class Untried(Exception):
    """The rule masked nothing in the sample, or there was none, and nobody said that none is at hand."""


class RuleChanged(Exception):
    """Somebody else has changed or deleted the rule, or switched the kind, meanwhile."""


class NoSuchKind(Exception):
    """No built-in kind is called so."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A rule as somebody writes it."""

    kind: str
    pattern: str = ""
    fields: tuple[str, ...] = ()
    description: str = ""

    @property
    def rule(self) -> Rule:
        """The rule that it would be."""
        return Rule(self.kind, self.pattern, self.fields)


@dataclass(frozen=True, slots=True)
class Trial:
    """A sample as the rules of now mask it, and as they would with the rule; `found` counts its different values."""

    now: Any
    then: Any
    found: int


def try_sample(*, sample: Any, draft: Draft | None = None, instead: MaskingRule | None = None) -> Trial:
    """Mask a sample, whatever JSON can hold, by the rules of now and with the draft; `instead` is what it replaces.

    Raises BadRule. Writes nothing.
    """
    ruled = masks.ruling()
    now = masks.masker().mask(sample)
    if draft is None:
        return Trial(storable(now.value), storable(now.value), 0)
    check_rule(draft.rule)
    gone = {draft.kind, instead.kind if instead else draft.kind}
    others = tuple(one for one in ruled.rules if one.kind not in gone)
    then: Masked = masks.masker_by(replace(ruled, rules=(*others, draft.rule))).mask(sample)
    return Trial(storable(now.value), storable(then.value), sum(tag.kind == draft.kind for tag in then.tags))


def read_sample(text: str) -> Any:
    """A sample that somebody pasted: an object or a list where it is JSON, else the text."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, dict | list) else text


def create_rule(
    *, draft: Draft, actor: Actor, now: datetime, sample: Any = None, without_sample: bool = False
) -> MaskingRule:
    """Make a rule, which holds at once; raises NotAllowed, BadRule, Untried, RuleTaken and TooManyRules."""
    access.require(actor, lambda powers: powers.is_admin, REFUSAL)
    _check(draft)
    _ask_trial(draft, None, sample, without_sample)
    with transaction.atomic():
        _lock(actor)
        if MaskingRule.objects.count() >= MOST_RULES:
            raise TooManyRules(f"There are {MOST_RULES} rules already; join or delete some first.")
        _refuse_taken(draft.kind)
        made = MaskingRule.objects.create(**_columns(draft), created_at=now, changed_at=now)
        _note("masking.create", made.kind, actor, now, after=_told(made))
    masks.forget_cached()
    return made


def change_rule(
    *,
    rule: MaskingRule,
    draft: Draft,
    actor: Actor,
    now: datetime,
    sample: Any = None,
    without_sample: bool = False,
    opened: datetime | None = None,
) -> MaskingRule:
    """Make another one of a rule; what it has masked stays. `opened` is when the editor saw it changed last.

    Raises as `create_rule` does, and RuleChanged. A rule of which only the description differs is not tried again.
    """
    access.require(actor, lambda powers: powers.is_admin, REFUSAL)
    _check(draft)
    if draft.rule != _rule_of(rule):
        _ask_trial(draft, rule, sample, without_sample)
    with transaction.atomic():
        _lock(actor)
        fresh = _fresh(rule, opened)
        if draft.kind != fresh.kind:
            _refuse_taken(draft.kind)
        before = _told(fresh)
        for name, value in _columns(draft).items():
            setattr(fresh, name, value)
        _save(fresh, before, "masking.change", actor, now)
    masks.forget_cached()
    return fresh


def switch_rule(*, rule: MaskingRule, is_on: bool, actor: Actor, now: datetime) -> MaskingRule:
    """Let a rule rest, or mask by it again; raises NotAllowed and RuleChanged."""
    with transaction.atomic():
        _lock(actor)
        fresh = _fresh(rule, None)
        before = _told(fresh)
        fresh.is_on = is_on
        _save(fresh, before, "masking.change", actor, now)
    masks.forget_cached()
    return fresh


def delete_rule(*, rule: MaskingRule, actor: Actor, now: datetime) -> None:
    """Delete a rule; its masks stay, and who is looked for is no longer found by them. Raises as `switch_rule`."""
    with transaction.atomic():
        _lock(actor)
        fresh = _fresh(rule, None)
        _note("masking.delete", fresh.kind, actor, now, before=_told(fresh))
        fresh.delete()
    masks.forget_cached()


def switch_kind(*, kind: str, is_on: bool, reason: str, actor: Actor, now: datetime) -> bool:
    """Switch a built-in kind off, or on again; answers whether it was otherwise before.

    `reason` is kept with the switch and in the audit log: the caller has masked it. Raises NotAllowed, NoSuchKind and
    ReasonMissing.
    """
    reason = reason.strip()[:LONGEST_REASON]
    with transaction.atomic():
        _lock(actor)
        if kind not in KINDS:
            raise NoSuchKind(f"{kind[:32]} is no built-in kind; there are {', '.join(KINDS)}.")
        if not reason:
            raise ReasonMissing("Give a reason; it is kept in the audit log.")
        was_on = not MaskingSwitch.objects.filter(kind=kind).exists()
        if was_on == is_on:
            return False
        if is_on:
            MaskingSwitch.objects.filter(kind=kind).delete()
        else:
            MaskingSwitch.objects.create(kind=kind, reason=reason, changed_at=now)
        verb = "masking.switch_on" if is_on else "masking.switch_off"
        _note(verb, kind, actor, now, after={"reason": reason})
    masks.forget_cached()
    return True


def rule_by_id(rule_id: UUID) -> MaskingRule | None:
    """The rule, or None."""
    return MaskingRule.objects.filter(pk=rule_id).first()


def _check(draft: Draft) -> None:
    check_rule(draft.rule)
    # A rule describes values and holds none; `password=(…)` in a pattern is a description.
    held = masks.masker_by(masks.Ruling(off=_GUESSED)).mask(
        [draft.pattern, spelled_out(draft.pattern), *draft.fields]
    )
    if held.tags:
        kinds = ", ".join(sorted({tag.kind for tag in held.tags}))
        raise BadRule(
            "pattern",
            f"It holds personal data or a secret ({kinds}); describe what values look like instead.",
        )


def _ask_trial(draft: Draft, instead: MaskingRule | None, sample: Any, without_sample: bool) -> None:
    if without_sample:
        return
    if sample in (None, ""):
        raise Untried("Try the rule on a sample first, or say that none is at hand.")
    if not try_sample(sample=sample, draft=draft, instead=instead).found:
        raise Untried(
            "The rule masks nothing in the sample; mend it, or give a sample that holds such a value."
        )


def _lock(actor: Actor) -> None:
    """Be alone in changing rules and switches; raises NotAllowed."""
    journal.lock_head()
    access.require(actor, lambda powers: powers.is_admin, REFUSAL)


def _fresh(rule: MaskingRule, opened: datetime | None) -> MaskingRule:
    fresh = MaskingRule.objects.filter(pk=rule.pk).first()
    if fresh is None:
        raise RuleChanged(f"The rule {rule.kind} has been deleted meanwhile.")
    if opened is not None and opened != fresh.changed_at:
        raise RuleChanged(f"The rule {rule.kind} has been changed meanwhile; look at it again.")
    return fresh


def _refuse_taken(kind: str) -> None:
    if MaskingRule.objects.filter(kind=kind).exists():
        raise RuleTaken(f"There is a rule {kind} already; change that one, or give another name.")


def _save(rule: MaskingRule, before: dict[str, Any], verb: str, actor: Actor, now: datetime) -> None:
    after = _told(rule)
    differing = [name for name, value in after.items() if before[name] != value]
    if not differing:
        return
    rule.changed_at = now
    rule.save()
    _note(
        verb,
        rule.kind,
        actor,
        now,
        before={name: before[name] for name in differing},
        after={name: after[name] for name in differing},
    )


def _note(
    verb: str,
    kind: str,
    actor: Actor,
    now: datetime,
    *,
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
) -> None:
    journal.append(actor=actor, verb=verb, target=f"masking {kind}", now=now, before=before, after=after)


def _columns(draft: Draft) -> dict[str, Any]:
    return {
        "kind": draft.kind,
        "pattern": draft.pattern,
        "fields": list(draft.fields),
        "description": draft.description.strip()[:LONGEST_DESCRIPTION],
    }


def _told(rule: MaskingRule) -> dict[str, Any]:
    names: Sequence[str] = ("kind", "pattern", "fields", "description", "is_on")
    return {name: getattr(rule, name) for name in names}


def _rule_of(rule: MaskingRule) -> Rule:
    return Rule(rule.kind, rule.pattern, tuple(rule.fields))
