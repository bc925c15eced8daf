"""People by REST, for administrators: who there is, invitations, and the end of an account."""

from __future__ import annotations

from typing import Any

from django.db.models import Prefetch
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from catalog.delegations import as_loans
from catalog.leaving import close_account, look_ahead, open_account
from catalog.models import Delegation, Grant, Skill, Token, User
from catalog.people import LONGEST_EMAIL, REFUSAL, invite, people_who, state_of
from portal import access, welcome
from portal.api.authentication import actor_of
from portal.api.delegations import show_delegation
from portal.api.described import CURSOR, described
from portal.api.endpoints import endpoint
from portal.api.examples import people as examples
from portal.api.fields import Fields
from portal.api.grants import LONGEST_USERNAME, known_person, read_wanted, show_grant
from portal.api.idempotency import ShownOnce, once
from portal.api.paging import page_of

STATES = ("active", "waiting", "closed")
MOST_GRANTS, MOST_SHOWN = 50, 200


@described(
    "people",
    "Everybody with an account, by user name, with their grants. For administrators.",
    answers={200: "PersonPage"},
    problems=(400,),
    query={
        "q": "Part of a name, a user name or an e-mail address.",
        "state": "active, waiting (no password yet) or closed.",
        **CURSOR,
    },
)
@described(
    "person_invite",
    "Make an account without a password, and its first grants. The answer alone holds the link by which its "
    "person chooses one, once, within seven days; it is mailed too where the instance sends mail. For "
    "administrators.",
    method="POST",
    sent={"application/json": "Invite"},
    answers={201: "Invited"},
    problems=(400, 409, 415, 422),
    examples=examples.PERSON,
    once=True,
)
@endpoint({"GET": "admin", "POST": "admin"})
@once
def person_list(request: Request) -> Response:
    """People, or a new account."""
    access.ask_administrator(request, REFUSAL)
    if request.method == "POST":
        return _invite(request)
    state = Fields(request.query_params)
    chosen = state.choice("state", STATES) or ""
    state.check()
    rows = people_who(text=request.query_params.get("q", "")[:200], state=chosen)
    grants = Grant.objects.select_related("user", "team", "environment").order_by("pk")
    rows = rows.prefetch_related(Prefetch("grants", grants))
    return Response(page_of(request, rows, key="username", show=show_person))


def _invite(request: Request) -> Response:
    fields = Fields(request.data)
    username = fields.text("username", needed=True, longest=LONGEST_USERNAME)
    name, email = fields.text("name", longest=LONGEST_USERNAME), fields.text("email", longest=LONGEST_EMAIL)
    asked = fields.data.get("grants") or []
    if not isinstance(asked, list) or len(asked) > MOST_GRANTS:
        fields.wrong("grants", f"grants is not a list of at most {MOST_GRANTS} grants.")
    fields.check()
    wanted = [read_wanted(Fields(one)) for one in asked]
    actor, now = actor_of(request), timezone.now()
    person = invite(username=username, name=name, email=email, grants=wanted, actor=actor, now=now)
    made = welcome.send_link(request, person, actor)
    return _shown_once({**show_in_full(person), "link": made.address, "mailed": made.mailed}, status=201)


@described(
    "person",
    "One person: grants, tokens by prefix, skills owned, delegations. For administrators.",
    answers={200: "PersonDetail"},
    problems=(404,),
)
@endpoint({"GET": "admin"})
def person_detail(request: Request, username: str) -> Response:
    """One person."""
    return Response(show_in_full(_person(request, username)))


@described(
    "person_link",
    "Make the link to a password anew: it works once, within seven days. The answer alone holds it; it is "
    "mailed too where the instance sends mail. For administrators.",
    method="POST",
    sent={"application/json": "Nothing"},
    answers={200: "WelcomeLink"},
    problems=(404, 415, 422),
    once=True,
)
@endpoint({"POST": "admin"})
@once
def person_link(request: Request, username: str) -> Response:
    """A new link."""
    made = welcome.send_link(request, _person(request, username), actor_of(request))
    return _shown_once({"link": made.address, "mailed": made.mailed}, status=200)


@described(
    "person_close",
    "Close an account: it signs in no more, its tokens, grants and delegations end. Its skills pass to the "
    "`successor`, who belongs to each of their teams; `successors` names one by team. A skill without one "
    "stands without owner. 409 for the last administrator. For administrators.",
    method="POST",
    sent={"application/json": "Close"},
    answers={200: "PersonDetail"},
    problems=(400, 404, 409, 415, 422),
    examples=examples.CLOSE,
    once=True,
)
@endpoint({"POST": "admin"})
@once
def person_close(request: Request, username: str) -> Response:
    """Close an account."""
    person, now = _person(request, username), timezone.now()
    fields = Fields(request.data)
    successor, successors = fields.text("successor", longest=LONGEST_USERNAME), fields.mapping("successors")
    if not all(isinstance(one, str) for one in successors.values()):
        fields.wrong("successors", "successors is not an object of user names by team.")
    reason = fields.reason()
    heirs = {}
    for team in look_ahead(person=person, now=now).teams:
        if name := successors.get(team.slug, successor):
            heirs[team.pk] = known_person("successor", name)
    close_account(person=person, actor=actor_of(request), reason=reason, heirs=heirs, now=now)
    person.refresh_from_db()
    return Response(show_in_full(person))


@described(
    "person_open",
    "Open a closed account again, without grants and without a password. For administrators.",
    method="POST",
    sent={"application/json": "Nothing"},
    answers={200: "PersonDetail"},
    problems=(404, 409, 415),
    once=True,
)
@endpoint({"POST": "admin"})
@once
def person_open(request: Request, username: str) -> Response:
    """Open an account again."""
    person = _person(request, username)
    return Response(show_in_full(open_account(person=person, actor=actor_of(request), now=timezone.now())))


def show_person(person: User) -> dict[str, Any]:
    """A person as lists answer it."""
    return {
        "username": person.username,
        "name": person.get_full_name(),
        "email": person.email,
        "state": state_of(person),
        "superuser": person.is_superuser,
        "last_sign_in": person.last_login,
        "grants": [show_grant(grant) for grant in person.grants.all()],
    }


def show_in_full(person: User) -> dict[str, Any]:
    """A person with what is theirs; the secrets of tokens are known to nobody."""
    grants = Grant.objects.select_related("user", "team", "environment").order_by("pk")
    fresh = User.objects.prefetch_related(Prefetch("grants", grants)).get(pk=person.pk)
    tokens = Token.objects.filter(user=person).order_by("-created_at")[:MOST_SHOWN]
    skills = Skill.objects.filter(owner=person, deleted_at=None).order_by("name")
    rows = person.delegations_given.all() | person.delegations_taken.all()
    found: list[Delegation] = list(
        rows.select_related("giver", "taker", "team", "environment").order_by("-created_at")[:MOST_SHOWN]
    )
    return {
        **show_person(fresh),
        "tokens": [
            {
                "id": str(token.pk),
                "prefix": token.prefix,
                "name": token.name,
                "scopes": token.scopes,
                "expires_at": token.expires_at,
                "last_used_at": token.last_used_at,
                "revoked_at": token.revoked_at,
            }
            for token in tokens
        ],
        "skills": list(skills.values_list("name", flat=True)[:MOST_SHOWN]),
        "delegations": [show_delegation(loan) for loan in as_loans(found, now=timezone.now())],
    }


def _shown_once(told: dict[str, Any], *, status: int) -> ShownOnce:
    """An answer with a link, which is kept nowhere."""
    headers = {"Cache-Control": "no-store"}
    return ShownOnce(told, again={**told, "link": None}, status=status, headers=headers)


def _person(request: Request, username: str) -> User:
    access.ask_administrator(request, REFUSAL)
    return access.person_read(username)
