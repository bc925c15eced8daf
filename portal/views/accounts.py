"""Signing in and out, and what belongs to the person who is signed in."""

from __future__ import annotations

from unicodedata import normalize

from django.contrib import messages
from django.contrib.auth import login, logout
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import BadRequest
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import HttpResponseClientRefresh

from catalog.delegations import as_loans, open_delegations
from catalog.models import Delegation, Environment, Grant
from catalog.people import Link, LinkUsed, choose_password, read_link
from governance import mail
from portal import access
from portal.counters import Uncounted
from portal.forms.accounts import SignInForm
from portal.forms.people import ChoosePasswordForm
from portal.tries import TooManyTries, count_try, forget_tries

MOST_LOANS = 50


@sensitive_post_parameters("password")
@never_cache
@login_not_required
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in(request: HttpRequest) -> HttpResponse:
    """Sign in with a local account; after ten failures of a name from an address, wait five minutes."""
    target = _next(request)
    if request.user.is_authenticated:
        return redirect(target)
    form = SignInForm(request, request.POST if request.method == "POST" else None)
    context = {"form": form, "next": target}
    if request.method != "POST":
        return render(request, "accounts/sign_in.html", context)
    key, now = _tries_key(request), timezone.now()
    try:
        count_try("sign-in", key, now=now)
        if not form.is_valid():
            return render(request, "accounts/sign_in.html", context, status=422)
        forget_tries("sign-in", key, now=now)
    except TooManyTries:
        context |= {"form": SignInForm(request), "throttled": True}
        return render(request, "accounts/sign_in.html", context, status=429)
    except Uncounted:
        context |= {"form": SignInForm(request), "uncounted": True}
        return render(request, "accounts/sign_in.html", context, status=503)
    login(request, form.get_user())
    return redirect(target)


@require_POST
@login_not_required
def sign_out(request: HttpRequest) -> HttpResponse:
    """End the session."""
    logout(request)
    return redirect("sign-in")


@sensitive_post_parameters("new_password1", "new_password2")
@never_cache
@login_not_required
@require_http_methods(["GET", "HEAD", "POST"])
def welcome(request: HttpRequest, uid: str, token: str) -> HttpResponse:
    """Choose a password by a link, which ends it, and be signed in; every link that is none reads the same."""
    link = Link(uid, token)
    try:
        person = read_link(link)
        form = ChoosePasswordForm(person, request.POST if request.method == "POST" else None)
        if request.method == "POST" and form.is_valid():
            password, origin = form.cleaned_data["new_password1"], access.actor(request).origin
            login(request, choose_password(link=link, password=password, origin=origin, now=timezone.now()))
            messages.success(request, _("Welcome. This is the catalog; your profile says what you may do."))
            return redirect("skill-list")
    except LinkUsed:
        return render(request, "accounts/welcome.html", {}, status=410)
    status = 422 if request.method == "POST" else 200
    return render(request, "accounts/welcome.html", {"form": form, "person": person}, status=status)


@require_safe
def profile(request: HttpRequest) -> HttpResponse:
    """Who I am, and what I may do where, in words; lent rights too."""
    me, now = request.user.pk, timezone.now()
    grants = (
        Grant.objects.filter(user=me).select_related("team", "environment").order_by("role", "team__name")
    )
    mine = Delegation.objects.filter(open_delegations(now)).filter(Q(giver=me) | Q(taker=me))
    rows = mine.select_related("giver", "taker", "team", "environment").order_by("ends_at")
    loans = [loan for loan in as_loans(list(rows[:MOST_LOANS]), now=now) if loan.state == "running"]
    context = {
        "mail_is_on": mail.is_on(),
        "grants": grants,
        "teams": sorted({grant.team for grant in grants if grant.team}, key=str),
        "lent": [loan for loan in loans if loan.row.giver_id == me],
        "borrowed": [loan for loan in loans if loan.row.taker_id == me and loan.lent],
    }
    return render(request, "accounts/profile.html", context)


@require_POST
def environment_choose(request: HttpRequest) -> HttpResponse:
    """Keep the environment that lists are filtered by; an empty name means all."""
    name = request.POST.get("environment", "")
    if "\0" in name or (name and not Environment.objects.filter(name=name).exists()):
        raise BadRequest(_("There is no environment of that name."))
    request.session["environment"] = name
    if getattr(request, "htmx", False):
        return HttpResponseClientRefresh()
    return redirect(_safe(request, request.META.get("HTTP_REFERER", "")))


def _next(request: HttpRequest) -> str:
    return _safe(request, request.POST.get("next") or request.GET.get("next") or "")


def _safe(request: HttpRequest, address: str) -> str:
    """The address if it is one of ours, else the catalog's."""
    ours = address.startswith(("/", "http")) and url_has_allowed_host_and_scheme(
        address, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return address if ours else resolve_url("skill-list")


def _tries_key(request: HttpRequest) -> str:
    # The form takes a name as good as this one for the same.
    name = normalize("NFKC", request.POST.get("username", "")[:300]).strip().casefold()
    return f"{request.META.get('REMOTE_ADDR')}\0{name}"
