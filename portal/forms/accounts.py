"""Forms about the person who uses the portal."""

from __future__ import annotations

from django.contrib.auth.forms import AuthenticationForm
from django.utils.translation import gettext_lazy as _


class SignInForm(AuthenticationForm):
    """Name and password of a local account."""

    error_messages = {
        "invalid_login": _("Name and password do not match. Capitals count in both."),
        "inactive": _("This account is switched off. An administrator can switch it on."),
    }
