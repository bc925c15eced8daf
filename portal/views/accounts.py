"""Signing in and out, and what belongs to the person who is signed in."""

from __future__ import annotations

import time
from unicodedata import normalize

from django.contrib.auth import login, logout
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import HttpResponseClientRefresh

from catalog.models import Environment, Grant
from portal import counters
from portal.forms.accounts import SignInForm

TRIES = 10
# Two windows of the clock count, so that five minutes without a try are always enough.
TRIES_SECONDS = 150


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
    status = 200
    if request.method == "POST":
        # Counted before the password is looked at: tries at the same time count each other.
        key, now = _tries_key(request), time.time()
        counters.count("sign-in", key, seconds=TRIES_SECONDS, now=now)
        if counters.recent("sign-in", key, seconds=TRIES_SECONDS, now=now) > TRIES:
            form = SignInForm(request)
            context = {"form": form, "next": target, "throttled": True}
            return render(request, "accounts/sign_in.html", context, status=429)
        if form.is_valid():
            counters.forget("sign-in", key, seconds=TRIES_SECONDS, now=now)
            login(request, form.get_user())
            return redirect(target)
        status = 422
    return render(request, "accounts/sign_in.html", {"form": form, "next": target}, status=status)


@require_POST
@login_not_required
def sign_out(request: HttpRequest) -> HttpResponse:
    """End the session."""
    logout(request)
    return redirect("sign-in")


@require_safe
def profile(request: HttpRequest) -> HttpResponse:
    """Who I am, and what I may do where, in words."""
    grants = (
        Grant.objects.filter(user=request.user.pk)
        .select_related("team", "environment")
        .order_by("role", "team__name")
    )
    return render(request, "accounts/profile.html", {"grants": grants})


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
