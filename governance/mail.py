"""Notices by mail, where EMAIL_URL is set: one mail for each, sent outside of any transaction.

A notice is leased by a conditional update before its mail is sent, and marked afterwards. A worker
that dies between the two sends that mail once more when the lease is over, under the same Message-ID.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from smtplib import SMTPDataError, SMTPRecipientsRefused
from urllib.parse import urlsplit

from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.core.mail.backends.base import BaseEmailBackend
from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext

from catalog.access import powers_of
from governance.models import Notice
from governance.notice_texts import path_of, sentence
from governance.recipients import may_be_told

log = logging.getLogger(__name__)

# Each wait is twice the one before: nine tries within the day.
FIRST_WAIT = timedelta(minutes=5)
OLDEST = timedelta(days=1)
BATCH = 100
LONGEST_SUBJECT = 200


@dataclass(frozen=True, slots=True)
class Sent:
    """How many mails were sent, how many are tried again later, and how many were given up."""

    sent: int = 0
    later: int = 0
    given_up: int = 0


def is_on() -> bool:
    """Whether this installation sends mail."""
    return settings.MAIL_IS_ON


def send_due(*, now: datetime) -> Sent:
    """Send the mails that are due, over one connection; a server that cannot be reached ends the round."""
    given_up = _close_old(now)
    if not is_on():
        return Sent()
    due = list(_due(now).select_related("user", "skill", "release").order_by("entry", "pk")[:BATCH])
    if not due:
        return Sent(given_up=given_up)
    connection = get_connection(fail_silently=False)
    try:
        connection.open()
    except OSError as fault:  # smtplib's errors are OSErrors too
        log.warning("Mail cannot be sent now (%s); it is tried again in a minute.", type(fault).__name__)
        return Sent(later=len(due), given_up=given_up)
    try:
        return _send_all(due, connection, now, given_up)
    finally:
        _close(connection)


def message_of(notice: Notice) -> EmailMessage:
    """The mail of a notice: a sentence, the reason that somebody gave, and the address of the page."""
    with translation.override(settings.LANGUAGE_CODE):
        told = sentence(notice)
        path = path_of(notice)
        parts = [told]
        if reason := notice.told.get("reason"):
            parts.append(gettext("Reason: %(reason)s") % {"reason": reason})
        if path:
            parts.append(f"{settings.PORTAL_URL}{path}")
        parts.append(
            gettext("You find all of your notices at %(url)s")
            % {"url": f"{settings.PORTAL_URL}{reverse('notice-list')}"}
        )
        subject = f"[Quartermaster] {told}"[:LONGEST_SUBJECT]
    host = urlsplit(settings.PORTAL_URL).hostname or "localhost"
    return EmailMessage(
        subject=" ".join(subject.split()),
        body="\n\n".join(parts) + "\n",
        from_email=settings.DEFAULT_FROM_EMAIL,
        to=[notice.user.email],
        headers={"Message-ID": f"<{notice.pk}@{host}>", "Auto-Submitted": "auto-generated"},
    )


def _unsent() -> QuerySet[Notice]:
    return Notice.objects.filter(wants_mail=True, mailed_at=None)


def _due(now: datetime) -> QuerySet[Notice]:
    """What was neither sent nor read in the portal, and that nobody else is sending."""
    free = Q(leased_until=None) | Q(leased_until__lte=now)
    return _unsent().filter(free, read_at=None)


def _send_all(due: list[Notice], connection: BaseEmailBackend, now: datetime, given_up: int) -> Sent:
    sent = later = 0
    for notice in due:
        if not _lease(notice, now):
            continue
        if not _may_know(notice, now):
            _give_up(Notice.objects.filter(pk=notice.pk))
            continue
        fault = _send(notice, connection)
        if fault is None:
            Notice.objects.filter(pk=notice.pk).update(mailed_at=now)
            sent += 1
        elif _is_final(fault):
            log.warning("A mail was refused for good (%s); notice %s.", _said(fault), notice.pk)
            _give_up(Notice.objects.filter(pk=notice.pk))
            given_up += 1
        else:
            log.warning("A mail is tried again later (%s); notice %s.", _said(fault), notice.pk)
            later += 1
            if not _is_answer(fault):
                break
    return Sent(sent, later, given_up)


def _lease(notice: Notice, now: datetime) -> bool:
    """Take the notice for as long as the next try waits; False where another worker has it."""
    wait = FIRST_WAIT * 2**notice.tries
    mine = _unsent().filter(pk=notice.pk, leased_until=notice.leased_until, tries=notice.tries, read_at=None)
    return bool(mine.update(leased_until=now + wait, tries=notice.tries + 1))


def _may_know(notice: Notice, now: datetime) -> bool:
    """As when the notice was made: an active account that sees the skill."""
    if not notice.user.is_active or not notice.user.email:
        return False
    return notice.skill is None or may_be_told(powers_of(notice.user, now=now), notice.skill)


def _send(notice: Notice, connection: BaseEmailBackend) -> Exception | None:
    try:
        message = message_of(notice)
        message.connection = connection
        message.send()
    except (OSError, ValueError) as fault:  # a header that cannot be written is a ValueError
        return fault
    return None


def _is_final(fault: Exception) -> bool:
    """Whether another try can only end alike: the server refuses this address or this text for good."""
    if isinstance(fault, SMTPRecipientsRefused):
        return all(code >= 500 for code, _answer in fault.recipients.values())
    if isinstance(fault, SMTPDataError):
        return fault.smtp_code >= 500
    return isinstance(fault, ValueError)


def _is_answer(fault: Exception) -> bool:
    """Whether the server answered, and will answer the next one; else the round ends."""
    return isinstance(fault, (SMTPRecipientsRefused, SMTPDataError))


def _said(fault: Exception) -> str:
    """What the log says of a fault: no address, no text of the server."""
    codes: set[int] = set()
    if isinstance(fault, SMTPRecipientsRefused):
        codes = {code for code, _answer in fault.recipients.values()}
    elif isinstance(fault, SMTPDataError):
        codes = {fault.smtp_code}
    return " ".join([type(fault).__name__, *(str(code) for code in sorted(codes))])


def _close_old(now: datetime) -> int:
    """Give up what is older than a day; answers how many of them were tried."""
    old = _unsent().filter(at__lt=now - OLDEST)
    tried = old.filter(tries__gt=0, read_at=None).count()
    if tried:
        log.warning("Mails that were not sent within a day, and are given up: %d.", tried)
    _give_up(old)
    return tried


def _give_up(notices: QuerySet[Notice]) -> None:
    if notices.exists():
        notices.update(wants_mail=False)


def _close(connection: BaseEmailBackend) -> None:
    try:
        connection.close()
    except OSError as fault:
        log.info("The mail server did not say goodbye (%s).", type(fault).__name__)
