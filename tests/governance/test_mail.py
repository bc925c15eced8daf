"""Notices by mail, against a real server on loopback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from email.header import decode_header, make_header
from email.message import Message
from typing import Any
from uuid import uuid4

import pytest
from pytest_django import Settings

from catalog.models import Skill, State, User
from governance import approvals, mail
from governance.mail import Sent, send_due
from governance.models import Notice
from governance.notices import spread
from tests import make
from tests.cast import ROOT, actor, shared_database, together
from tests.smtp import Post, mail_server

__all__ = ["shared_database"]

NOW = make.NOW


@pytest.fixture
def post(settings: Settings) -> Iterator[Post]:
    """A mail server that the settings name."""
    with mail_server() as server:
        settings.MAIL_IS_ON = True
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT, settings.EMAIL_TIMEOUT = "127.0.0.1", server.port, 2
        settings.PORTAL_URL = "https://skills.example.org"
        settings.DEFAULT_FROM_EMAIL = "quartermaster@skills.example.org"
        yield server


@pytest.fixture
def cast(db: None) -> make.Cast:
    return make.cast()


def notice(user: User, *, email: str = "", **fields: Any) -> Notice:
    """A notice that is to go by mail."""
    User.objects.filter(pk=user.pk).update(email=email or f"{user.username}@example.org")
    told = {"actor": "Ines Okafor", "skill": "refund-check", "version": "1.0.0", "reason": "Broken."}
    given = {"entry": Notice.objects.count() + 1, "verb": "version.yank", "told": told, "at": NOW}
    return Notice.objects.create(user=user, wants_mail=True, **{**given, **fields})


def text(mail: Message) -> str:
    return mail.get_payload(decode=True).decode()  # type: ignore[union-attr]


def test_one_mail_for_each_notice(cast: make.Cast, post: Post) -> None:
    User.objects.filter(pk=cast.mara.pk).update(email="mara@example.org")
    release = make.release(
        make.version(cast=cast), "production", cast=cast, state=State.PROPOSED, note="Ask ines@example.org."
    )
    spread(now=NOW)
    row = Notice.objects.get(user=cast.mara)
    assert Notice.objects.get(user=cast.otto).wants_mail is False
    assert send_due(now=NOW) == Sent(sent=1)
    assert send_due(now=NOW + timedelta(hours=1)) == Sent()
    (mail,) = post.mails
    assert post.recipients == [mail["To"]] == ["mara@example.org"]
    assert mail["From"] == "quartermaster@skills.example.org"
    assert " ".join(mail["Subject"].split()) == (
        "[Quartermaster] Ines Okafor proposes refund-check 1.0.0 for Production; it waits for your decision."
    )
    assert mail["Message-ID"] == f"<{row.pk}@skills.example.org>"
    assert mail["Auto-Submitted"] == "auto-generated"
    assert f"https://skills.example.org/releases/{release.pk}/" in text(mail)
    assert "https://skills.example.org/notices/" in text(mail)
    assert "Reason: Ask [EMAIL·" in text(mail)
    assert "ines@example.org" not in text(mail)
    row.refresh_from_db()
    assert (row.mailed_at, row.tries) == (NOW, 1)


def test_without_a_server_nothing_is_sent(cast: make.Cast, settings: Settings) -> None:
    row = notice(cast.mara)
    assert send_due(now=NOW) == Sent()
    row.refresh_from_db()
    assert (row.tries, row.wants_mail) == (0, True)


def test_what_is_older_than_a_day_is_not_sent_when_mail_is_first_there(cast: make.Cast, post: Post) -> None:
    notice(cast.mara, at=NOW - timedelta(hours=25))
    notice(cast.otto, at=NOW - timedelta(hours=23))
    assert send_due(now=NOW) == Sent(sent=1)
    assert post.recipients == ["otto@example.org"]
    assert set(Notice.objects.values_list("user__username", "wants_mail")) == {
        ("mara", False),
        ("otto", True),
    }


def test_what_was_read_in_the_portal_is_not_sent(cast: make.Cast, post: Post) -> None:
    notice(cast.mara, read_at=NOW)
    assert send_due(now=NOW) == Sent()
    assert post.mails == []


def test_who_left_or_sees_the_skill_no_more_is_sent_nothing(cast: make.Cast, post: Post) -> None:
    skill = make.version(cast=cast).skill
    notice(cast.nora, skill=skill)
    notice(cast.otto, skill=skill)
    notice(cast.mara, skill=skill)
    Skill.objects.update(visibility=Skill.Visibility.TEAM)
    User.objects.filter(pk=cast.mara.pk).update(is_active=False)
    assert send_due(now=NOW) == Sent(sent=1)
    assert post.recipients == ["otto@example.org"]
    assert Notice.objects.filter(wants_mail=True).count() == 1


def test_no_header_is_injected(cast: make.Cast, post: Post) -> None:
    told = {
        "actor": "Eve\r\nBcc: all@example.org",
        "skill": "a\nb" * 200,
        "version": "1\r\n\r\nhidden",
        "reason": "One.\r\n.\r\nMAIL FROM:<x@example.org>",
    }
    notice(cast.mara, told=told)
    notice(cast.otto, email="otto@example.org\nBcc: x@example.org")
    assert send_due(now=NOW) == Sent(sent=1, given_up=1)
    (mail,) = post.mails
    subject = str(make_header(decode_header(mail["Subject"])))
    assert "\n" not in subject.replace("\n ", " ")
    assert len(subject) <= 210
    assert mail["Bcc"] is None
    assert post.recipients == ["mara@example.org"]
    assert "MAIL FROM:<x@example.org>" in text(mail)


def test_names_of_any_script(cast: make.Cast, post: Post) -> None:
    notice(cast.mara, told={"actor": "李雷", "skill": "refund-check", "version": "1.0.0"})
    send_due(now=NOW)
    assert "李雷 yanked" in str(make_header(decode_header(post.mails[0]["Subject"])))


def test_a_server_that_says_later_is_asked_again_with_growing_waits(
    cast: make.Cast, post: Post, caplog: pytest.LogCaptureFixture
) -> None:
    row = notice(cast.mara)
    notice(cast.otto)
    post.at_rcpt["mara@example.org"] = "450 try later"
    assert send_due(now=NOW) == Sent(sent=1, later=1)
    waits, now = [], NOW
    while True:
        row.refresh_from_db()
        if not row.wants_mail:
            break
        assert row.leased_until is not None
        waits.append(row.leased_until - now)
        assert send_due(now=now + waits[-1] / 2) == Sent(given_up=int(len(waits) == 9))
        now = row.leased_until
        send_due(now=now)
    assert [wait // timedelta(minutes=1) for wait in waits] == [5, 10, 20, 40, 80, 160, 320, 640, 1280]
    assert "given up" in caplog.text
    assert "mara@example.org" not in caplog.text
    assert len(post.mails) == 1


def test_a_server_that_comes_back(cast: make.Cast, post: Post) -> None:
    notice(cast.mara)
    post.at_data = "451 not now"
    assert send_due(now=NOW) == Sent(later=1)
    post.at_data = "250 taken"
    assert send_due(now=NOW + timedelta(minutes=6)) == Sent(sent=1)


@pytest.mark.parametrize("where", ["rcpt", "data"])
def test_a_server_that_says_never_is_not_asked_again(
    cast: make.Cast, post: Post, where: str, caplog: pytest.LogCaptureFixture
) -> None:
    row = notice(cast.mara)
    if where == "rcpt":
        post.at_rcpt["mara@example.org"] = "550 no such person"
    else:
        post.at_data = "554 refused"
    assert send_due(now=NOW) == Sent(given_up=1)
    row.refresh_from_db()
    assert (row.wants_mail, row.mailed_at) == (False, None)
    assert "refused for good" in caplog.text
    assert "mara@example.org" not in caplog.text


def test_a_server_that_is_away_costs_no_try(cast: make.Cast, post: Post, settings: Settings) -> None:
    notice(cast.mara)
    settings.EMAIL_PORT = 1
    assert send_due(now=NOW) == Sent(later=1)
    assert Notice.objects.get().tries == 0
    post.greeting = "554 go away"
    settings.EMAIL_PORT = post.port
    assert send_due(now=NOW) == Sent(later=1)


def test_a_server_that_hangs_ends_the_round(cast: make.Cast, post: Post, settings: Settings) -> None:
    settings.EMAIL_TIMEOUT = 0.3
    for user in (cast.mara, cast.otto, cast.lena):
        notice(user)
    post.hangs_at = "MAIL"
    assert send_due(now=NOW) == Sent(later=1)
    assert sorted(Notice.objects.values_list("tries", flat=True)) == [0, 0, 1]


@pytest.mark.django_db(transaction=True)
def test_two_senders_send_each_mail_once(shared_database: str, post: Post) -> None:
    users = [make.user(f"user-{n}") for n in range(20)]
    for user in users:
        notice(user)
    together([lambda: send_due(now=NOW)] * 2)
    assert sorted(post.recipients) == sorted(f"user-{n}@example.org" for n in range(20))
    assert Notice.objects.filter(mailed_at=None).count() == 0


SENDER = """
import django; django.setup()
from datetime import UTC, datetime
from governance.mail import send_due
send_due(now=datetime(2026, 11, 30, 9, 0, tzinfo=UTC))
"""


@pytest.mark.django_db(transaction=True)
def test_a_sender_that_is_killed_after_sending_sends_once_more_under_the_same_id(
    shared_database: str, post: Post
) -> None:
    row = notice(make.user("mara"))
    post.hangs_at = "TAKEN"
    environ = os.environ | {
        "DATABASE_URL": shared_database,
        "DJANGO_SETTINGS_MODULE": "portal.settings",
        "EMAIL_URL": f"smtp://127.0.0.1:{post.port}",
        "PORTAL_URL": "https://skills.example.org",
    }
    process = subprocess.Popen([sys.executable, "-c", SENDER], cwd=ROOT, env=environ)
    try:
        assert post.taken.wait(60)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait(30)
    post.released.set()
    post.hangs_at = ""
    assert send_due(now=NOW + timedelta(minutes=4)) == Sent()
    assert send_due(now=NOW + timedelta(minutes=6)) == Sent(sent=1)
    assert {mail["Message-ID"] for mail in post.mails} == {f"<{row.pk}@skills.example.org>"}
    assert len(post.mails) == 2
    assert send_due(now=NOW + timedelta(minutes=12)) == Sent()


def test_a_rejection_goes_out_without_what_was_typed_as_a_secret(cast: make.Cast, post: Post) -> None:
    release = make.release(make.version(cast=cast), "production", cast=cast, state=State.PROPOSED)
    User.objects.filter(pk=cast.ines.pk).update(email="ines@example.org")
    secret = f"password={uuid4().hex}"
    approvals.reject(release=release, actor=actor(cast.mara), reason=f"It logs {secret}.", now=NOW)
    spread(now=NOW)
    send_due(now=NOW)
    (told,) = post.mails
    assert "rejected refund-check" in text(told)
    assert secret not in told.as_string()
    assert mail.is_on()
