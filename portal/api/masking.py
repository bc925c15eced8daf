"""What is masked, by REST: the instance's rules, the switches of built-in kinds, and trying them on a sample.

All of it is for administrators. A sample is masked and answered, and nothing of it is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from governance import masking_rules
from governance.masking import KINDS, BadRule
from governance.masking.custom import LONGEST_PATTERN, MOST_FIELDS
from governance.masking_rules import (
    LONGEST_DESCRIPTION,
    LONGEST_SAMPLE,
    Draft,
    change_rule,
    create_rule,
    delete_rule,
    switch_kind,
    switch_rule,
    try_sample,
)
from governance.models import MaskingRule
from portal import access
from portal.access import NotFound
from portal.api.authentication import actor_of
from portal.api.described import CURSOR, described
from portal.api.endpoints import endpoint
from portal.api.errors import Problem
from portal.api.examples import masking as examples
from portal.api.fields import Fields
from portal.api.idempotency import once
from portal.api.paging import page_of
from portal.api.rendering import as_json
from portal.masking_page import KindRow, kind_rows

RULES = "For administrators. "
SCOPE = "admin"


@described(
    "masking_rules",
    f"The rules of this instance beside the built-in kinds, at most 50. {RULES}",
    answers={200: "MaskingRulePage"},
    problems=(400,),
    query=CURSOR,
)
@described(
    "masking_rule_create",
    "Make a rule, which holds within a second for what comes in. `pattern` is a regular expression of RE2: no "
    "back-references and no look-around; a group `value` masks that part alone. With `fields` only values under "
    "these names are looked at, numbers too; without a pattern they are masked whole. It is tried first: `sample`, a "
    "text or JSON in which it masks something, or `without_sample` where none is at hand; else 422 `rule-untried`. "
    f"{RULES}",
    method="POST",
    sent={"application/json": "NewMaskingRule"},
    answers={201: "MaskingRule"},
    problems=(400, 409, 415, 422),
    examples=examples.RULE,
    once=True,
)
@endpoint({"GET": SCOPE, "POST": SCOPE})
@once
def rule_list(request: Request) -> Response:
    """Every rule, or a new one."""
    _ask(request)
    if request.method != "POST":
        return Response(page_of(request, MaskingRule.objects.all(), key="kind", show=show_rule))
    fields = Fields(request.data)
    draft = _draft(fields, Draft(fields.text("kind", needed=True, longest=40)))
    told = _trial(fields)
    fields.check()
    try:
        made = create_rule(draft=draft, actor=actor_of(request), now=timezone.now(), **told)
    except BadRule as wrong:
        raise _wrong(fields, wrong) from wrong
    return Response(show_rule(made), status=201)


@described(
    "masking_rule_change",
    "Change what the body names of a rule. What it has masked stays masked. A rule with another kind, pattern or "
    "other fields is tried as a new one is. `is_on`: false lets it rest: it masks nothing, and what it has masked is "
    f"still found. {RULES}",
    method="PATCH",
    sent={"application/json": "ChangeMaskingRule"},
    answers={200: "MaskingRule"},
    problems=(400, 404, 409, 415, 422),
    examples=examples.CHANGE_RULE,
    once=True,
)
@described(
    "masking_rule_delete",
    "Delete a rule; answers what it was. Its masks stay, and a subject is no longer found by what it has masked. "
    f"{RULES}",
    method="DELETE",
    answers={200: "MaskingRule"},
    problems=(404, 409),
    once=True,
)
@endpoint({"PATCH": SCOPE, "DELETE": SCOPE})
@once
def rule_detail(request: Request, rule_id: UUID) -> Response:
    """Change a rule, or delete it."""
    _ask(request)
    rule = _rule(rule_id)
    if request.method == "DELETE":
        shown = show_rule(rule)
        delete_rule(rule=rule, actor=actor_of(request), now=timezone.now())
        return Response(shown)
    return Response(show_rule(_change(request, rule)))


@described(
    "masking_try",
    "Mask a sample, a text or JSON, by the rules of now, and with `rule` also as if that were saved (in place of the "
    f"rule `instead`, if one is named). `found` counts its different values. Nothing is kept. {RULES}",
    method="POST",
    sent={"application/json": "MaskingTry"},
    answers={200: "MaskingTried"},
    problems=(400, 404, 415, 422),
    examples=examples.TRY,
)
@endpoint({"POST": SCOPE})
def masking_try(request: Request) -> Response:
    """A sample, masked."""
    _ask(request)
    fields = Fields(request.data)
    sample = _sample(fields)
    if sample is None:
        fields.wrong("sample", "sample is missing.")
    fields.check()
    rule, instead = _other(fields)
    inner = Fields(rule) if rule is not None else None
    draft = _draft(inner, Draft(inner.text("kind", needed=True, longest=40))) if inner else None
    if inner:
        inner.check()
    try:
        trial = try_sample(sample=sample, draft=draft, instead=instead)
    except BadRule as wrong:
        raise _wrong(fields, wrong) from wrong
    return Response({"now": trial.now, "then": trial.then, "found": trial.found})


@described(
    "masking_kinds",
    f"The built-in kinds: what each finds, an example that is made up, and whether it is on. {RULES}",
    answers={200: "MaskingKinds"},
)
@endpoint({"GET": SCOPE})
def kind_list(request: Request) -> Response:
    """Every built-in kind."""
    _ask(request)
    return Response({"items": [_show_kind(row) for row in kind_rows()]})


@described(
    "masking_kind_switch",
    "Switch a built-in kind off, or on again, with a reason. What comes in while it is off is written as it was sent, "
    f"unless another kind covers it. {RULES}",
    method="POST",
    sent={"application/json": "MaskingSwitch"},
    answers={200: "MaskingKind"},
    problems=(400, 404, 409, 415, 422),
    examples=examples.SWITCH,
    once=True,
)
@endpoint({"POST": SCOPE})
@once
def kind_switch(request: Request, kind: str) -> Response:
    """Switch one."""
    _ask(request)
    if kind not in KINDS:
        raise NotFound(f"There is no built-in kind called {kind[:32]}; there are {', '.join(KINDS)}")
    fields = Fields(request.data)
    if not fields.has("is_on"):
        fields.wrong("is_on", "is_on is missing; give true or false.")
    is_on, reason = fields.flag("is_on"), fields.reason()
    switch_kind(kind=kind, is_on=is_on, reason=reason, actor=actor_of(request), now=timezone.now())
    return Response(next(_show_kind(row) for row in kind_rows() if row.kind == kind))


def show_rule(rule: MaskingRule) -> dict[str, Any]:
    """A rule as the API answers it."""
    return {
        "id": str(rule.pk),
        "kind": rule.kind,
        "pattern": rule.pattern,
        "fields": rule.fields,
        "description": rule.description,
        "is_on": rule.is_on,
        "created_at": rule.created_at,
        "changed_at": rule.changed_at,
    }


def _show_kind(row: KindRow) -> dict[str, Any]:
    return {
        "kind": row.kind,
        "finds": str(row.finds),
        "example": row.example,
        "is_on": row.is_on,
        "reason": row.reason or None,
        "since": row.since,
    }


def _change(request: Request, rule: MaskingRule) -> MaskingRule:
    fields = Fields(request.data)
    before = Draft(rule.kind, rule.pattern, tuple(rule.fields), rule.description)
    draft, told = _draft(fields, before), _trial(fields)
    is_on = fields.flag("is_on") if fields.has("is_on") else rule.is_on
    fields.check()
    now, actor = timezone.now(), actor_of(request)
    try:
        if draft != before:
            rule = change_rule(rule=rule, draft=draft, actor=actor, now=now, **told)
    except BadRule as wrong:
        raise _wrong(fields, wrong) from wrong
    return switch_rule(rule=rule, is_on=is_on, actor=actor, now=now)


def _draft(fields: Fields, before: Draft) -> Draft:
    """The rule that the body writes; what it does not name stays as it was."""
    return Draft(
        kind=fields.text("kind", longest=40).strip().upper() if fields.has("kind") else before.kind,
        pattern=fields.text("pattern", longest=LONGEST_PATTERN) if fields.has("pattern") else before.pattern,
        fields=(fields.names("fields") or ())[: MOST_FIELDS + 1] if fields.has("fields") else before.fields,
        description=(
            fields.prose("description", longest=LONGEST_DESCRIPTION)
            if fields.has("description")
            else before.description
        ),
    )


def _trial(fields: Fields) -> dict[str, Any]:
    return {"sample": _sample(fields), "without_sample": fields.flag("without_sample")}


def _sample(fields: Fields) -> Any:
    """Whatever JSON can hold, up to the size of a page's; None where there is none."""
    sample = fields.data.get("sample")
    if len(as_json(sample)) > 4 * LONGEST_SAMPLE:
        fields.wrong("sample", f"sample is too large; at most {LONGEST_SAMPLE} characters are taken.")
        return None
    return sample


def _other(fields: Fields) -> tuple[Mapping[str, Any] | None, MaskingRule | None]:
    """The rule that is tried, and the saved one that it would replace."""
    rule = fields.mapping("rule") if fields.data.get("rule") is not None else None
    instead = fields.text("instead", longest=64)
    fields.check()
    if not instead:
        return rule, None
    try:
        return rule, _rule(UUID(instead))
    except ValueError as wrong:
        raise NotFound("There is no such rule") from wrong


def _rule(rule_id: UUID) -> MaskingRule:
    rule = masking_rules.rule_by_id(rule_id)
    if rule is None:
        raise NotFound("There is no such rule")
    return rule


def _wrong(fields: Fields, wrong: BadRule) -> Problem:
    fields.wrong(wrong.field, str(wrong))
    return Problem("field-invalid", str(wrong), status=422, errors=fields.errors)


def _ask(request: Request) -> None:
    access.ask_administrator(request, masking_rules.REFUSAL)
