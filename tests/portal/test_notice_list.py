"""The bell, the list of notices, and what marks them read."""

from __future__ import annotations

import re
from datetime import timedelta
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from catalog.models import JournalEntry, Release, Skill, State, User
from governance import approvals
from governance.models import Notice
from governance.notices import spread
from tests import make
from tests.cast import actor
from tests.portal.answers import HTMX, text_of
from tests.portal.pages import is_page, links, signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def waiting(cast: make.Cast) -> Release:
    """A proposal that Mara and Otto are told of."""
    release = make.release(
        make.version(cast=cast), "production", cast=cast, state=State.PROPOSED, note="Rounds to cents."
    )
    spread(now=make.NOW)
    return release


@pytest.fixture
def mara(cast: make.Cast) -> Client:
    return signed_in(cast.mara)


def many(user: User, count: int, *, read: int = 0, verb: str = "version.yank") -> None:
    """Notices of the user, the first of them read."""
    Notice.objects.bulk_create(
        Notice(
            entry=1000 + n,
            user=user,
            verb=verb,
            told={"actor": f"Nr {n}", "skill": "refund-check", "version": "1.0.0"},
            at=make.NOW,
            read_at=make.NOW if n < read else None,
        )
        for n in range(count)
    )


def bell(html: str) -> str:
    """What the bell shows."""
    found = re.search(r'id="bell".*?</a>', html, re.DOTALL)
    assert found
    count = re.search(r'<span class="count">(\S+?)<', found[0])
    return count[1] if count else ""


def test_nothing_new(cast: make.Cast) -> None:
    client = signed_in(cast.nora)
    html = text_of(client.get("/notices/"))
    assert "Nothing new" in html
    assert "You are told here" in html
    assert bell(html) == ""
    assert "Show all notices" in text_of(client.get("/notices/?show=unread"))


def test_a_notice_stands_on_the_bell_and_in_the_list(mara: Client, waiting: Release) -> None:
    html = text_of(mara.get("/notices/"))
    assert bell(html) == "1"
    assert bell(text_of(mara.get("/"))) == "1"
    assert "Ines Okafor proposes refund-check 1.0.0 for Production" in html
    assert "Rounds to cents." in html
    notice = Notice.objects.get(user__username="mara")
    assert f"/notices/{notice.pk}/" in links(html)
    answer = mara.get(f"/notices/{notice.pk}/")
    assert (answer.status_code, answer["Location"]) == (302, f"/releases/{waiting.pk}/")
    notice.refresh_from_db()
    assert notice.read_at is not None


def test_reading_the_release_reads_its_notices(mara: Client, cast: make.Cast, waiting: Release) -> None:
    mara.head(f"/releases/{waiting.pk}/")
    assert Notice.objects.filter(read_at=None).count() == 2
    html = text_of(mara.get(f"/releases/{waiting.pk}/"))
    assert bell(html) == ""
    assert Notice.objects.get(user=cast.mara).read_at is not None
    assert Notice.objects.get(user=cast.otto).read_at is None


def test_the_bell_answers_where_its_number_is_another(mara: Client, waiting: Release) -> None:
    assert mara.get("/notices/bell/?had=1", headers=HTMX).status_code == 204
    answer = mara.get("/notices/bell/?had=", headers=HTMX)
    html = text_of(answer)
    assert not is_page(html)
    assert bell(html) == "1"
    assert '<div hx-swap-oob="innerHTML:#announce">1 unread notice</div>' in html
    assert "notices-changed" in answer["HX-Trigger"]
    fewer = text_of(mara.get("/notices/bell/?had=7", headers=HTMX))
    assert "#announce" not in fewer
    for odd in ("x" * 5000, "9" * 5000, "-1", "99+", "٣"):
        assert mara.get("/notices/bell/", {"had": odd}, headers=HTMX).status_code == 200
    assert mara.get("/notices/bell/")["Location"] == "/notices/"


@pytest.mark.parametrize(("count", "shown"), [(99, "99"), (100, "99+"), (130, "99+")])
def test_the_number_is_bounded(cast: make.Cast, mara: Client, count: int, shown: str) -> None:
    many(cast.mara, count)
    assert bell(text_of(mara.get("/notices/"))) == shown
    assert mara.get(f"/notices/bell/?had={shown.replace('+', '%2B')}", headers=HTMX).status_code == 204


def test_marking_one_and_all(mara: Client, cast: make.Cast) -> None:
    many(cast.mara, 3)
    one = Notice.objects.order_by("entry")[0]
    answer = mara.post(f"/notices/{one.pk}/read/", headers=HTMX)
    html = text_of(answer)
    assert not is_page(html)
    assert bell(html) == "2"
    assert "2 unread" in html
    first = Notice.objects.get(pk=one.pk).read_at
    assert mara.post(f"/notices/{one.pk}/read/")["Location"] == "/notices/"
    assert Notice.objects.get(pk=one.pk).read_at == first
    html = text_of(mara.post("/notices/read-all/", headers=HTMX))
    assert "All read" in html
    assert not Notice.objects.filter(read_at=None).exists()
    assert mara.post("/notices/read-all/").status_code == 302


def test_notices_of_others_are_not_there(mara: Client, cast: make.Cast) -> None:
    many(cast.otto, 1)
    pk = Notice.objects.get().pk
    for answer in (mara.get(f"/notices/{pk}/"), mara.post(f"/notices/{pk}/read/")):
        assert answer.status_code == 404
    assert mara.get(f"/notices/{uuid4()}/").status_code == 404
    mara.post("/notices/read-all/")
    assert Notice.objects.filter(read_at=None).count() == 1
    assert "Nr 0" not in text_of(mara.get("/notices/"))


def test_wrong_methods_and_signed_out(mara: Client, client: Client, cast: make.Cast) -> None:
    many(cast.mara, 1)
    pk = Notice.objects.get().pk
    assert mara.post("/notices/").status_code == 405
    assert mara.get(f"/notices/{pk}/read/").status_code == 405
    assert mara.get("/notices/read-all/").status_code == 405
    assert client.get("/notices/").status_code == 302
    assert client.get("/notices/bell/", headers=HTMX).status_code == 401


def test_unread_first_and_pages_by_key(mara: Client, cast: make.Cast) -> None:
    many(cast.mara, 70, read=35)
    seen: list[int] = []
    address = "/notices/"
    for _ in range(3):
        html = text_of(mara.get(address))
        seen += [int(n) for n in re.findall(r">Nr (\d+) yanked", html)]
        older = re.search(r'rel="next" href="(\?before=[\d-]+)"', html)
        address = f"/notices/{older[1]}" if older else ""
    assert seen == [*range(69, 34, -1), *range(34, -1, -1)]
    assert address == ""
    for odd in ("x", "2-5", "1-", "0-" + "9" * 5000, "0-٣"):
        assert "Nr 69" in text_of(mara.get("/notices/", {"before": odd}))


def test_filters(mara: Client, cast: make.Cast, waiting: Release) -> None:
    many(cast.mara, 2, read=1)
    assert "Nr 0" not in text_of(mara.get("/notices/?show=unread"))
    html = text_of(mara.get("/notices/?kind=releases", headers=HTMX))
    assert "proposes refund-check" in html
    assert "yanked" not in html
    assert "proposes" not in text_of(mara.get("/notices/?kind=skills"))
    assert "No notice matches" in text_of(mara.get("/notices/?kind=people"))
    assert "Nr 0" in text_of(mara.get("/notices/?kind=nonsense&show=7"))
    html = text_of(mara.post("/notices/read-all/?kind=people&show=unread", headers=HTMX))
    assert "kind=people" in html


def test_reasons_and_names_are_escaped(mara: Client, cast: make.Cast) -> None:
    many(cast.mara, 1)
    Notice.objects.update(told={"actor": "<b>Eve</b>", "skill": "x", "version": "1", "reason": "<script>"})
    html = mara.get("/notices/").content.decode()
    assert "&lt;b&gt;Eve&lt;/b&gt;" in html
    assert "<script>" not in html.split('id="notices"')[1]


def test_a_skill_that_is_gone_or_hidden(cast: make.Cast, waiting: Release) -> None:
    Skill.objects.update(owner=cast.nora)
    approvals.reject(release=waiting, actor=actor(cast.mara), reason="No.", now=make.NOW)
    spread(now=make.NOW)
    nora = signed_in(cast.nora)
    assert "rejected refund-check" in text_of(nora.get("/notices/"))
    Skill.objects.update(owner=None, visibility=Skill.Visibility.TEAM)
    html = text_of(nora.get("/notices/"))
    assert "refund-check" not in html
    assert bell(html) == ""


def test_queries_do_not_grow(
    mara: Client, cast: make.Cast, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    many(cast.mara, 40)
    with django_assert_max_num_queries(9):
        mara.get("/notices/")
    with django_assert_max_num_queries(4):
        mara.get("/notices/bell/?had=1", headers=HTMX)


def test_the_profile_says_whether_mail_is_sent(settings: Settings, cast: make.Cast) -> None:
    client = signed_in(cast.mara)
    assert "This installation sends no mail." in text_of(client.get("/profile/"))
    settings.MAIL_IS_ON = True
    assert "Your account has no e-mail address." in text_of(client.get("/profile/"))
    User.objects.filter(pk=cast.mara.pk).update(email="mara@example.org")
    assert "Each notice goes to mara@example.org as well" in text_of(client.get("/profile/"))


def test_the_sample_has_notices_of_what_waits_alone() -> None:
    from django.core.management import call_command

    call_command("sample_data", verbosity=0)
    assert Notice.objects.exists()
    told = Notice.objects.select_related("release")
    assert {(one.verb, one.release.state) for one in told if one.release} == {("release.propose", "proposed")}
    assert spread(now=timezone.now() + timedelta(minutes=1)).entries == 0
    assert JournalEntry.objects.count() > Notice.objects.count()


def test_one_page_offers_no_other(cast: make.Cast, mara: Client) -> None:
    many(cast.mara, 3)
    assert "From the start" not in text_of(mara.get("/notices/"))
    assert "From the start" in text_of(mara.get("/notices/", {"before": "an odd place"}))
