"""Environments and their policies by REST: everyone reads them, administrators change them.

The `ETag` of an environment is a digest of what can be changed of it. A change with `If-Match` is
made only where nobody has changed it since; without it what is not named stays as it is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.http import parse_etags
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from catalog import environments
from catalog.bundles.bundle import PERMISSIONS, RISKS
from catalog.environments import Changed, change_environment, create_environment, remove_environment
from catalog.models import Confirmation, Environment
from catalog.terms import LIMITS, PolicyWrong, Terms, terms_of
from governance.policy import STABILITIES
from portal import access
from portal.api.authentication import actor_of
from portal.api.described import CURSOR, described
from portal.api.endpoints import endpoint
from portal.api.errors import Problem
from portal.api.examples import environments as examples
from portal.api.fields import Fields
from portal.api.idempotency import once
from portal.api.paging import page_of
from portal.policies import warn

IF_MATCH = OpenApiParameter(
    "If-Match",
    str,
    OpenApiParameter.HEADER,
    description="The `ETag` that was read: 412 where somebody has changed the environment since.",
)
CHOICES: Mapping[str, tuple[str, ...]] = {
    "highest_risk": RISKS,
    "lowest_stability": STABILITIES,
    "call_confirmation": tuple(Confirmation.values),
    "script_confirmation": tuple(Confirmation.values),
}
SWITCHES = (
    *("second_confirmation", "outside_approval", "owner_may_start"),
    *("needs_idempotency", "needs_evaluation"),
)
Reader = Callable[[Fields, str], Any]
READERS: Mapping[str, Reader] = {
    "title": lambda fields, name: fields.text(name, longest=60),
    "permissions": lambda fields, name: list(fields.names(name, choices=PERMISSIONS) or ()),
    **dict.fromkeys(CHOICES, lambda fields, name: fields.choice(name, CHOICES[name])),
    **dict.fromkeys(SWITCHES, lambda fields, name: fields.flag(name)),
    **dict.fromkeys(
        LIMITS, lambda fields, name: fields.number(name, least=LIMITS[name][0], most=LIMITS[name][1])
    ),
}


@described(
    "environments",
    "Every environment with its policy, in the order in which releases go through them.",
    answers={200: "EnvironmentPage"},
    problems=(400,),
    query=CURSOR,
)
@described(
    "environment_create",
    "Make an environment, in the last place where no `order` is named; what is not named of its policy has its "
    "default. For administrators.",
    method="POST",
    sent={"application/json": "NewEnvironment"},
    answers={201: "Environment"},
    problems=(400, 409, 415, 422),
    examples=examples.ENVIRONMENT,
    once=True,
)
@endpoint({"GET": "read", "POST": "admin"})
@once
def environment_list(request: Request) -> Response:
    """Every environment, or a new one."""
    if request.method == "POST":
        return _create(request)
    rows: QuerySet[Environment] = Environment.objects.all()
    return Response(page_of(request, rows, key="order", show=show_environment))


@described(
    "environment",
    "One environment with its policy, and in `warnings` what is unwise about it.",
    answers={200: "Environment"},
    problems=(404,),
)
@described(
    "environment_change",
    "Change what the body names. What is served already and allowed no longer becomes unavailable; approvals "
    "that were given under another policy become void. For administrators.",
    method="PATCH",
    sent={"application/json": "ChangeEnvironment"},
    answers={200: "Environment"},
    problems=(400, 404, 409, 412, 415, 422),
    parameters=(IF_MATCH,),
    examples=examples.CHANGE_ENVIRONMENT,
    once=True,
)
@described(
    "environment_remove",
    "Remove an environment that nothing refers to but its own revisions; answers what it was. 409 says what "
    "refers to it. For administrators.",
    method="DELETE",
    answers={200: "Environment"},
    problems=(404, 409, 412),
    parameters=(IF_MATCH,),
    once=True,
)
@endpoint({"GET": "read", "PATCH": "admin", "DELETE": "admin"})
@once
def environment_detail(request: Request, name: str) -> Response:
    """One environment; changed, removed."""
    environment = access.environment_read(request, name)
    if request.method == "PATCH":
        environment = _change(request, environment)
    elif request.method == "DELETE":
        access.ask_administrator(request, environments.REFUSAL)
        _ask_match(request, environment)
        remove_environment(environment=environment, actor=actor_of(request), now=timezone.now())
    return _answer(environment)


def show_environment(environment: Environment) -> dict[str, Any]:
    """An environment as the API answers it."""
    terms = terms_of(environment)
    return {"name": environment.name, **terms, "revision": environment.revision, "warnings": warn(terms)}


def _create(request: Request) -> Response:
    access.ask_administrator(request, environments.REFUSAL)
    fields = Fields(request.data)
    name = fields.text("name", needed=True, longest=64)
    title = fields.text("title", needed=True, longest=60)
    terms = {**_read(fields, besides=("name",)), "title": title}
    try:
        made = create_environment(name=name, terms=terms, actor=actor_of(request), now=timezone.now())
    except PolicyWrong as wrong:
        raise _wrong(fields, wrong) from wrong
    return _answer(made, status=201)


def _change(request: Request, environment: Environment) -> Environment:
    access.ask_administrator(request, environments.REFUSAL)
    fields = Fields(request.data)
    if "name" in fields.data:
        fields.wrong("name", "A name is never changed; tokens and addresses hold it.")
    terms = _read(fields, besides=("name",))
    opened = _ask_match(request, environment)
    try:
        return change_environment(
            environment=environment, terms=terms, opened=opened, actor=actor_of(request), now=timezone.now()
        )
    except PolicyWrong as wrong:
        raise _wrong(fields, wrong) from wrong
    except Changed as late:
        raise _late(late.environment) from late


def _read(fields: Fields, *, besides: tuple[str, ...]) -> dict[str, Any]:
    """The fields of a policy that the body names; raises Problem for wrong ones and for all others."""
    terms = {}
    for name in fields.data:
        if name in besides:
            continue
        if name not in READERS:
            fields.wrong(str(name)[:64], f"{str(name)[:64]!r} is no field of a policy.")
        elif fields.data[name] in (None, "") and name not in SWITCHES:
            fields.wrong(name, f"{name} is empty.")
        else:
            terms[name] = READERS[name](fields, name)
    fields.check()
    return terms


def _wrong(fields: Fields, wrong: PolicyWrong) -> Problem:
    for name, message in wrong.errors.items():
        fields.wrong(name, message)
    return Problem("field-invalid", str(wrong), status=422, errors=fields.errors)


def _ask_match(request: Request, environment: Environment) -> Terms | None:
    """What must still hold when the change is made, None without `If-Match`; raises Problem where it does not."""
    header = request.headers.get("If-Match")
    if header is None:
        return None
    tags = parse_etags(header)
    if tags != ["*"] and _tag(environment) not in tags:
        raise _late(environment)
    return None if tags == ["*"] else terms_of(environment)


def _late(environment: Environment) -> Problem:
    return Problem(
        "environment-changed",
        f"{environment.title} has been changed since you read it; read it again. Its ETag is {_tag(environment)}.",
        status=412,
    )


def _answer(environment: Environment, *, status: int = 200) -> Response:
    return Response(show_environment(environment), status=status, headers={"ETag": _tag(environment)})


def _tag(environment: Environment) -> str:
    told = [environment.name, terms_of(environment)]
    return f'"{sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:32]}"'
