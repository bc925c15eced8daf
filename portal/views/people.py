"""People, for administrators: who there is, what they may do, invitations, and the end of an account."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Prefetch
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from catalog.delegations import as_loans
from catalog.grants import BadGrant, LastAdministrator, give_grant, take_grant
from catalog.leaving import NotClosable, close_account, look_ahead, open_account
from catalog.models import Delegation, Grant, Skill, Token, User
from catalog.ownership import NotOfTheTeam
from catalog.people import REFUSAL, AccountTaken, BadAccount, invite, people_who, state_of
from catalog.tokens import revoke_token
from portal import access, welcome
from portal.forms.people import GrantForm, HeirsForm, InviteForm
from portal.fragments import render_part

PAGE_SIZE = 50
MOST_SHOWN = 50
STATES = ("active", "waiting", "closed")


@require_safe
def person_list(request: HttpRequest) -> HttpResponse:
    """Everybody with an account, with their roles, their last sign-in and their state."""
    access.ask_administrator(request, REFUSAL)
    asked, state = request.GET.get("q", "").strip()[:200], request.GET.get("state", "")
    grants = Grant.objects.select_related("team", "environment").order_by("role", "team__name")
    people = people_who(text=asked, state=state).prefetch_related(Prefetch("grants", grants))
    page = Paginator(people, PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "asked": asked,
        "state": state if state in STATES else "",
        "page": page,
        "rows": [(person, state_of(person)) for person in page],
    }
    return render_part(request, "people/person_list.html", "rows", context)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def person_invite(request: HttpRequest) -> HttpResponse:
    """Make an account; the answer alone shows the link by which its person chooses a password."""
    access.ask_administrator(request, REFUSAL)
    form = InviteForm(request.POST if request.method == "POST" else None)
    if request.method != "POST":
        return render(request, "people/person_invite.html", {"form": form})
    if form.is_valid():
        told = {name: form.cleaned_data[name] for name in ("username", "name", "email")}
        try:
            actor, now = access.actor(request), timezone.now()
            person = invite(**told, grants=form.grants, actor=actor, now=now)
        except AccountTaken as fault:
            form.add_error("username", str(fault))
        except BadAccount as fault:
            form.add_error(fault.field, str(fault))
        else:
            return _show_link(request, person, invited=True)
    return render(request, "people/person_invite.html", {"form": form}, status=422)


@require_safe
def person_detail(request: HttpRequest, username: str) -> HttpResponse:
    """A person: roles, tokens, skills, delegations."""
    return _show(request, _person(request, username))


@require_POST
@never_cache
def person_link(request: HttpRequest, username: str) -> HttpResponse:
    """Make the link to a password anew; the answer alone shows it."""
    person = _person(request, username)
    try:
        return _show_link(request, person, invited=False)
    except BadAccount as fault:
        return _show(request, person, status=409, refused=str(fault))


@require_POST
def person_grant(request: HttpRequest, username: str) -> HttpResponse:
    """Give a role."""
    person = _person(request, username)
    form = GrantForm(request.POST)
    if form.is_valid():
        actor, now = access.actor(request), timezone.now()
        try:
            grant = give_grant(user=person, wanted=form.wanted(), actor=actor, now=now)
        except BadGrant as fault:
            form.add_error(None, str(fault))
        else:
            told = {"name": str(person), "role": grant.get_role_display()}
            messages.success(request, _("%(name)s has the role %(role)s.") % told)
            return redirect("person-detail", person.username)
    return _show(request, person, status=422, form=form)


@require_POST
def grant_remove(request: HttpRequest, grant_id: UUID) -> HttpResponse:
    """Take a role away, and go back to the team (`back=team`) or the person; a second time changes nothing."""
    access.ask_administrator(request, REFUSAL)
    grant = Grant.objects.filter(pk=grant_id).select_related("user", "team").first()
    if grant is None:
        messages.info(request, _("The role is gone already."))
        return redirect("person-list")
    try:
        take_grant(grant=grant, actor=access.actor(request), now=timezone.now())
    except LastAdministrator as fault:
        return _show(request, grant.user, status=409, refused=str(fault))
    told = {"name": str(grant.user), "role": grant.get_role_display()}
    messages.success(request, _("%(name)s no longer has the role %(role)s there.") % told)
    if request.POST.get("back") == "team" and grant.team:
        return redirect("team-detail", grant.team.slug)
    return redirect("person-detail", grant.user.username)


@require_POST
def person_token_revoke(request: HttpRequest, username: str, token_id: UUID) -> HttpResponse:
    """End a token of the person; a second time changes nothing."""
    person = _person(request, username)
    token = Token.objects.filter(user=person, pk=token_id).select_related("agent", "user").first()
    if token is None:
        raise Http404(str(token_id))
    revoke_token(token=token, actor=access.actor(request), now=timezone.now())
    messages.success(request, _("The token %(prefix)s… is revoked.") % {"prefix": token.prefix})
    return redirect("person-detail", person.username)


@require_http_methods(["GET", "HEAD", "POST"])
def person_close(request: HttpRequest, username: str) -> HttpResponse:
    """Close an account: what goes with it is shown first."""
    person, now = _person(request, username), timezone.now()
    seen = look_ahead(person=person, now=now)
    sent = request.POST if request.method == "POST" else None
    form = HeirsForm(sent, person=person, teams=seen.teams, ask_reason=True)
    status = 200 if sent is None else 422
    if sent is not None and form.is_valid():
        actor, reason = access.actor(request), form.cleaned_data["reason"]
        try:
            close_account(person=person, actor=actor, reason=reason, heirs=form.heirs, now=now)
        except NotOfTheTeam as fault:
            form.add_error(None, str(fault))
        except (LastAdministrator, NotClosable) as fault:
            form.add_error(None, str(fault))
            status = 409
        else:
            messages.success(request, _("The account of %(name)s is closed.") % {"name": str(person)})
            return redirect("person-detail", person.username)
    context = {"person": person, "leaving": seen, "form": form}
    return render(request, "people/person_close.html", context, status=status)


@require_POST
def person_open(request: HttpRequest, username: str) -> HttpResponse:
    """Open a closed account again; it has neither roles nor a password."""
    person = _person(request, username)
    try:
        open_account(person=person, actor=access.actor(request), now=timezone.now())
    except NotClosable as fault:
        return _show(request, person, status=409, refused=str(fault))
    told = _("The account of %(name)s is open. Make a link, and give the first role.")
    messages.success(request, told % {"name": str(person)})
    return redirect("person-detail", person.username)


def _person(request: HttpRequest, username: str) -> User:
    access.ask_administrator(request, REFUSAL)
    return access.person_read(username)


def _show_link(request: HttpRequest, person: User, *, invited: bool) -> HttpResponse:
    """The link, this once; it goes by mail too where the person has an address and the instance sends mail."""
    made = welcome.send_link(request, person, access.actor(request))
    context = {"person": person, "address": made.address, "mailed": made.mailed, "invited": invited}
    return render(request, "people/person_link.html", context)


def _show(request: HttpRequest, person: User, *, status: int = 200, **more: Any) -> HttpResponse:
    """The page; a form that was sent comes back with what is wrong in it."""
    now = timezone.now()
    grants = person.grants.select_related("team", "environment").order_by("role", "team__name")
    tokens = Token.objects.filter(user=person).order_by("-created_at")
    skills = Skill.objects.filter(owner=person, deleted_at=None).select_related("team").order_by("name")
    given, taken = person.delegations_given.all(), person.delegations_taken.all()
    rows = (given | taken).select_related("giver", "taker", "team", "environment").order_by("-created_at")
    found: list[Delegation] = list(rows[:MOST_SHOWN])
    context = {
        "person": person,
        "state": state_of(person),
        "grants": list(grants),
        "tokens": list(tokens[:MOST_SHOWN]),
        "skills": list(skills[: MOST_SHOWN + 1]),
        "most": MOST_SHOWN,
        "loans": as_loans(found, now=now),
        "form": GrantForm(),
        "now": now,
    }
    return render(request, "people/person_detail.html", {**context, **more}, status=status)
