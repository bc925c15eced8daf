"""The second confirmation of a grave decision: the password again, unless it was just entered (spec 4.2).

Wrong tries are counted and bounded as those of the sign-in are, for each account whatever its address.
"""

from __future__ import annotations

from datetime import datetime

from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables

from catalog.models import User
from portal import counters

FRESH_SECONDS = 600
TRIES = 10
# Two windows of the clock count, so that five minutes without a try are always enough.
TRIES_SECONDS = 150
ENTERED = "password_entered"
COUNTED = "confirm"


class PasswordWrong(Exception):
    """The password is missing or wrong; the text does not say which."""

    status = 422


class TooManyTries(PasswordWrong):
    """So many were wrong that even the right one has to wait."""

    status = 429


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
    """Take note in the session that the password was entered; raises PasswordWrong, TooManyTries."""
    key, moment = str(request.user.pk), now.timestamp()
    if password:
        # Counted before the password is looked at: tries at the same time count each other.
        counters.count(COUNTED, key, seconds=TRIES_SECONDS, now=moment)
    if counters.recent(COUNTED, key, seconds=TRIES_SECONDS, now=moment) > TRIES:
        raise TooManyTries(_("Too many tries. Wait five minutes, then enter your password again."))
    if not password or not request.user.check_password(password):
        raise PasswordWrong(_("Enter the password of your account; this one is missing or wrong."))
    counters.forget(COUNTED, key, seconds=TRIES_SECONDS, now=moment)
    request.session[ENTERED] = {"user": key, "at": moment}
