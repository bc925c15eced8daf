"""The link of an invitation: its address, and the mail that carries it."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from django.conf import settings
from django.core.mail import send_mail
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework.request import Request

from catalog.journal import Actor
from catalog.models import User
from catalog.people import make_link
from governance import mail

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Sent:
    """The address to hand over, and whether a mail with it went out."""

    address: str
    mailed: bool


def send_link(request: HttpRequest | Request, person: User, actor: Actor) -> Sent:
    """Make the link anew, below `PORTAL_URL` where that is set, and mail it where the person has an address and the instance sends mail.

    Raises what `make_link` raises. A mail that cannot be sent is logged: the link is shown all the same.
    """
    link = make_link(person=person, actor=actor, now=timezone.now())
    path = reverse("welcome", args=[link.uid, link.token])
    named = f"{settings.PORTAL_URL}{path}"
    shown = named if settings.PORTAL_IS_NAMED else request.build_absolute_uri(path)
    # A request may name any host that leads here; no such name goes out by mail.
    return Sent(shown, _mail(person, named))


def _mail(person: User, address: str) -> bool:
    if not (mail.is_on() and person.email):
        return False
    subject = _("Your account at Quartermaster")
    body = _(
        "There is an account for you: %(name)s.\n\nChoose a password within seven days:\n%(address)s\n\n"
        "The link works once. If you expected no invitation, leave it alone."
    ) % {"name": person.username, "address": address}
    try:
        send_mail(subject, body, None, [person.email])
    except OSError as fault:
        log.warning("An invitation could not be mailed: %s", type(fault).__name__)
        return False
    return True
