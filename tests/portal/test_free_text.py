"""Whatever people type for others to read is masked before it is written, in every form and every body."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from django import forms

import portal.api
import portal.forms
import portal.views
from portal.forms.plain import TOLD, PlainField, ask_unmasked
from portal.forms.skills import ReasonForm
from portal.free_text import kinds_in, masked

pytestmark = pytest.mark.django_db
NAME = "a name, which is what it is for"
SOUGHT = "is looked for, and never written"
TYPED = "is compared with a name, and never written"
HASHED = "is a password, of which a digest is kept"
BUNDLE = "belongs to the bytes of a bundle, which are kept by their digest; its scan looks for secrets"
OURS = "was written by the page itself"
CHECKED = "is refused where there is something to mask"
RULE = "says what personal data looks like, for all that comes in"
READ = "is read as numbers, versions or names that exist"
# Fields of forms that hold text and are not masked, and why.
EXEMPT_FIELDS = {
    "SignInForm": {"username": SOUGHT, "password": HASHED},
    "ChoosePasswordForm": {"new_password1": HASHED, "new_password2": HASHED},
    "DecisionForm": {"confirm": TYPED, "password": HASHED, "gate": READ},
    "DeleteForm": {"confirm": TYPED},
    "RetireForm": {"confirm": TYPED},
    "RemoveForm": {"confirm": TYPED},
    "EntryFilter": {"actor": SOUGHT, "verb": SOUGHT, "target": SOUGHT},
    "AnchorForm": {"anchor": SOUGHT},
    "TraceFilter": {"q": SOUGHT, "skill": SOUGHT, "agent": SOUGHT},
    "LimitsForm": {"skills": READ, "skill_tags": NAME, "tags": NAME, "template": CHECKED},
    "AgentForm": {"name": NAME},
    "TeamForm": {"name": NAME, "slug": NAME},
    "RenameForm": {"name": NAME},
    "MemberForm": {"person": READ},
    "LendForm": {"taker": READ},
    "InviteForm": {
        "username": NAME,
        "name": NAME,
        "email": "the address of the account, by which it is written to",
    },
    "PolicyForm": {"title": NAME},
    "ChangeForm": {"opened": OURS, "seen": OURS},
    "CreateForm": {"name": NAME},
    "DegradeForm": {"fallback": READ},
    "PlanFields": {"steps": READ, "agents": READ, "teams": READ, "tags": READ},
    "DeclarationForm": {"skill_text": BUNDLE, "manifest_text": BUNDLE, "version": READ, "tags": NAME},
    "SampleForm": {"sample": "is masked, shown and forgotten"},
    "RuleForm": {"kind": NAME, "pattern": RULE, "fields_text": NAME, "opened": READ},
    "SubjectForm": {"value": "is read as its keyed digests, and forgotten"},
    "EraseForm": {"tags": OURS},
    "PublishForm": {"text": BUNDLE, "mended_base": OURS, "mended_alone": READ},
}
# The same of bodies of REST, by module and name.
EXEMPT_BODIES = {
    ("fields", "name"): "the reader itself",
    ("agents", "name"): NAME,
    ("agents", "team"): READ,
    ("degradations", "fallback"): READ,
    ("delegations", "taker"): READ,
    ("delegations", "team"): READ,
    ("delegations", "environment"): READ,
    ("delegations", "name"): "a moment, read as one",
    ("environments", "name"): NAME,
    ("environments", "title"): NAME,
    ("feed", "template"): "is answered and never written",
    ("grants", "user"): READ,
    ("grants", "role"): READ,
    ("grants", "team"): READ,
    ("grants", "environment"): READ,
    ("masking", "kind"): NAME,
    ("masking", "pattern"): RULE,
    ("masking", "instead"): READ,
    ("ownership", "team"): READ,
    ("ownership", "owner"): READ,
    ("people", "username"): NAME,
    ("people", "name"): NAME,
    ("people", "email"): "the address of the account, by which it is written to",
    ("people", "successor"): READ,
    ("publish", "team"): READ,
    ("publish", "version"): READ,
    ("publish", "set"): READ,
    ("releases", "skill"): READ,
    ("releases", "version"): READ,
    ("releases", "environment"): READ,
    ("releases", "name"): "the name of the skill and of a gate, compared with those that there are",
    ("subjects", "value"): "is read as its keyed digests, and forgotten",
    ("teams", "name"): NAME,
    ("teams", "slug"): NAME,
    ("tokens", "environment"): READ,
}


def all_forms() -> Iterator[type[forms.BaseForm]]:
    """Every form of the portal."""
    for package in (portal.forms, portal.views):
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    waiting = [forms.BaseForm]
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        if kind.__module__.startswith("portal."):
            yield kind


def exempt(kind: type[forms.BaseForm], name: str) -> bool:
    """Whether the form, or one that it is made of, says why the field is not masked."""
    return any(name in EXEMPT_FIELDS.get(one.__name__, {}) for one in kind.__mro__)


def texts_of(kind: type[forms.BaseForm]) -> set[str]:
    """The names of the fields that hold text as it was typed."""
    fields: dict[str, forms.Field] = kind.base_fields  # type: ignore[attr-defined]  # of its metaclass
    return {name for name, field in fields.items() if isinstance(field, forms.CharField | forms.JSONField)}


def test_every_text_of_a_form_is_masked_or_says_why_not() -> None:
    kinds = list(all_forms())
    assert len(kinds) >= 20
    missed = [
        f"{kind.__name__}.{name}"
        for kind in kinds
        for name in texts_of(kind)
        if not isinstance(kind.base_fields[name], PlainField) and not exempt(kind, name)  # type: ignore[attr-defined]
    ]
    assert not missed, (
        "Use portal.forms.plain.PlainField, or say in EXEMPT_FIELDS why the text needs no mask."
    )
    named = {kind.__name__: texts_of(kind) for kind in kinds}
    gone = [
        (name, field)
        for name, fields in EXEMPT_FIELDS.items()
        for field in fields
        if field not in named.get(name, ())
    ]
    assert not gone


def read_texts() -> Iterator[tuple[str, str]]:
    """Module and name of each text that is read from a body as it was sent."""
    for path in Path(portal.api.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr == "text"
                and node.args
            ):
                name = node.args[0]
                yield path.stem, str(name.value if isinstance(name, ast.Constant) else ast.unparse(name))


def test_every_text_of_a_body_is_masked_or_says_why_not() -> None:
    found = set(read_texts())
    missed = found - set(EXEMPT_BODIES)
    assert not missed, "Use Fields.prose, or say in EXEMPT_BODIES why the text needs no mask."
    assert not set(EXEMPT_BODIES) - found


def test_a_field_masks_and_says_so() -> None:
    form = ReasonForm({"reason": " Asked for by ina.berg@example.com. "})
    assert form.is_valid()
    assert form.cleaned_data["reason"].startswith("Asked for by [EMAIL·")
    assert str(form.fields["reason"].help_text) == str(TOLD)
    assert str(PlainField(help_text="Why.").help_text) == f"Why. {TOLD}"


def test_what_is_masked_twice_stays_as_it_is() -> None:
    once = masked("password: Ahorn-77!x, ina.berg@example.com, 手机13918470123")
    assert masked(once) == once


def test_a_mask_makes_no_text_too_long() -> None:
    field = PlainField(max_length=12)
    assert len(field.clean("a: i@b.co c")) <= 12


def test_what_is_kept_to_the_letter_holds_nothing_to_mask() -> None:
    ask_unmasked("You can use {skills}.")
    with pytest.raises(forms.ValidationError, match="EMAIL"):
        ask_unmasked("Write to ina.berg@example.com. {skills}")
    assert kinds_in("Write to ina.berg@example.com, password: Ahorn-77!x") == ("EMAIL", "SECRET")
