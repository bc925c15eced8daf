"""The site of Django's admin: for administrators, with the portal's sign-in and no way to a password.

Signing in is throttled in one place, and whatever changes an account stands in the journal: the
admin's own views do neither.
"""

from __future__ import annotations

from typing import Any, NoReturn
from urllib.parse import urlencode

from django.contrib.admin import AdminSite
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, resolve_url
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache

from portal import access

NOTHING = "The admin has no such page."


class Window(AdminSite):
    """Administrators look at the tables; everybody else stays outside."""

    site_header = site_title = "Quartermaster"

    def has_permission(self, request: HttpRequest) -> bool:
        """Who holds the role administrator, by a grant or as superuser; `is_staff` says nothing."""
        return access.powers(request).is_admin

    @method_decorator(never_cache)
    @method_decorator(login_not_required)
    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """To the portal's sign-in, and from there back; 403 for who is signed in and may not look."""
        target = request.GET.get("next") or resolve_url("admin:index")
        if not request.user.is_authenticated:
            return redirect(f"{resolve_url('sign-in')}?{urlencode({'next': target})}")
        if not self.has_permission(request):
            raise PermissionDenied(_("This part is for administrators."))
        return redirect("admin:index")

    def logout(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> NoReturn:
        """Not here: the page's own button goes to the portal's."""
        raise Http404(NOTHING)

    def password_change(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> NoReturn:
        """Not here."""
        raise Http404(NOTHING)

    def password_change_done(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> NoReturn:
        """Not here."""
        raise Http404(NOTHING)
