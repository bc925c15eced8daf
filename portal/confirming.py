"""The second confirmation of a grave decision: the password again, unless it was just entered (spec 4.2).

Wrong tries are counted and bounded as those of the sign-in are, for each account whatever its address.
"""

from __future__ import annotations

from datetime import datetime

from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables

from catalog.models import User
from portal.counters import Uncounted
from portal.tries import TooManyTries, count_try, forget_tries

FRESH_SECONDS = 600
ENTERED = "password_entered"
COUNTED = "confirm"


class PasswordWrong(Exception):
    """The password is missing or wrong; the text does not say which."""

    status = 422


class Waiting(PasswordWrong):
    """So many were wrong that even the right one has to wait."""

    status = 429


class NotLookedAt(PasswordWrong):
    """Tries cannot be counted now, so that none is taken."""

    status = 503


def has_password(request: HttpRequest) -> bool:
    """Whether the user has a password here; who signs in elsewhere has none."""
    return isinstance(request.user, User) and request.user.has_usable_password()


def is_fresh(request: HttpRequest, *, now: datetime) -> bool:
    """Whether this user entered the password in this session within ten minutes."""
    held = request.session.get(ENTERED)
    if not isinstance(held, dict) or held.get("user") != str(request.user.pk):
        return False
    age = now.timestamp() - float(held.get("at", 0))
    return 0 <= age < FRESH_SECONDS


@sensitive_variables("password")
def confirm_password(request: HttpRequest, password: str, *, now: datetime) -> None:
    """Take note in the session that the password was entered; raises PasswordWrong."""
    key = str(request.user.pk)
    try:
        if password:
            count_try(COUNTED, key, now=now)
        if not password or not request.user.check_password(password):
            raise PasswordWrong(_("Enter the password of your account; this one is missing or wrong."))
        forget_tries(COUNTED, key, now=now)
    except TooManyTries as many:
        raise Waiting(_("Too many tries. Wait five minutes, then enter your password again.")) from many
    except Uncounted as fault:
        raise NotLookedAt(
            _("Your password cannot be checked now: tries cannot be counted. Try again in a minute.")
        ) from fault
    request.session[ENTERED] = {"user": key, "at": now.timestamp()}
