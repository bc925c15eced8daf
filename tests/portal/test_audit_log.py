"""The audit log as a page: entries in words, the proof, and the export."""

from __future__ import annotations

import json
import re
from datetime import timedelta

import pytest
from django.db import transaction
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from catalog import journal, lifecycle
from catalog.journal import Actor, read_head
from catalog.models import JournalEntry, JournalHead
from portal import entries
from tests import make
from tests.cast import actor
from tests.portal.answers import HTMX, text_of
from tests.portal.pages import is_page, signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada(cast: make.Cast) -> Client:
    return signed_in(cast.ada)


@pytest.fixture
def written(cast: make.Cast) -> int:
    """Something happened: how many entries there are."""
    release = make.release(make.version(cast=cast), "production", cast=cast, now=make.NOW)
    later = make.NOW + timedelta(days=2)
    lifecycle.deprecate(version=release.version, actor=actor(cast.ines), reason="Old <b>one</b>.", now=later)
    return JournalEntry.objects.count()


def write(count: int) -> None:
    """So many more entries."""
    with transaction.atomic():
        for n in range(count):
            journal.append(actor=Actor.system("test"), verb="set.add", target=f"set {n}", now=make.NOW)


def numbers(html: str) -> list[int]:
    """The entries that the page shows."""
    return [int(n) for n in re.findall(r'<tr id="entry-(\d+)"', html)]


def check(client: Client, anchor: str = "") -> str:
    """What the check of the whole chain says."""
    answer = client.post("/audit-log/verify/", {"anchor": anchor}, headers=HTMX)
    html = text_of(answer)
    assert answer.status_code == 200
    assert not is_page(html)
    return html


def test_entries_in_words_newest_first(ada: Client, written: int) -> None:
    html = text_of(ada.get("/audit-log/"))
    assert numbers(html) == list(range(written, 0, -1))
    assert "Deprecated a version" in html
    assert "Approved a release" in html
    assert "version.deprecate" in html
    assert "Old &lt;b&gt;one&lt;/b&gt;." in html
    assert JournalEntry.objects.get(n=written).hash in html
    assert "127.0.0.1" in html
    assert 'aria-current="page"' in html
    assert 'href="/audit-log/"' in html


def test_before_and_after_stand_beside_each_other(ada: Client, written: int) -> None:
    html = text_of(ada.get("/audit-log/?verb=release.start"))
    assert (
        '<th scope="row">state</th><td class="wrap-any">approved</td><td class="wrap-any">live</td>' in html
    )
    assert '<th scope="col">Before</th>' in html


@pytest.mark.parametrize("name", ["ines", "mara", "lena", "ravi", "nora"])
def test_for_administrators_alone(cast: make.Cast, written: int, name: str) -> None:
    client = signed_in(getattr(cast, name))
    answers = (
        client.get("/audit-log/"),
        client.get("/audit-log/export.jsonl"),
        client.post("/audit-log/verify/"),
    )
    for answer in answers:
        assert answer.status_code == 403
        assert "read by administrators" in text_of(answer)
    assert "/audit-log/" not in client.get("/").content.decode()


def test_wrong_methods_and_signed_out(ada: Client, client: Client) -> None:
    assert ada.post("/audit-log/").status_code == 405
    assert ada.post("/audit-log/export.jsonl").status_code == 405
    assert ada.get("/audit-log/verify/").status_code == 405
    assert client.get("/audit-log/").status_code == 302


def test_nothing_yet(ada: Client) -> None:
    html = text_of(ada.get("/audit-log/"))
    assert "Nothing was changed yet" in html
    assert "0 entries" in html
    assert "The audit log is as it was written" in check(ada)


@pytest.mark.parametrize(
    ("query", "verbs"),
    [
        ("actor=mara&verb=release", {"release.approve", "release.start"}),
        ("verb=version", {"version.publish", "version.deprecate"}),
        ("verb=version.publish", {"version.publish"}),
        ("verb=vers", set()),
        ("target=refund-check+1.0.0+in+production", {"release.propose", "release.approve", "release.start"}),
        ("target=refund", set()),
        ("since=2026-12-01T00:00", {"version.deprecate"}),
        ("until=2026-12-01T00:00&verb=version", {"version.publish"}),
        ("since=2026-12-01T00:00&until=2026-12-01T00:00", set()),
        ("actor=nobody", set()),
    ],
)
def test_filters(ada: Client, written: int, query: str, verbs: set[str]) -> None:
    answer = ada.get(f"/audit-log/?{query}", headers=HTMX)
    html = text_of(answer)
    assert not is_page(html)
    found = {JournalEntry.objects.get(n=n).verb for n in numbers(html)}
    assert found == verbs
    assert ("No entry matches" in html) == (not verbs)
    exported = b"".join(ada.get(f"/audit-log/export.jsonl?{query}")).splitlines()
    assert {json.loads(line)["verb"] for line in exported} == verbs


def test_a_filter_that_is_none(ada: Client, written: int) -> None:
    html = text_of(ada.get("/audit-log/?since=yesterday"))
    assert "Enter a valid date/time." in html
    assert len(numbers(html)) == written
    assert "Enter a valid date/time." in text_of(ada.get("/audit-log/?since=yesterday", headers=HTMX))
    assert ada.get("/audit-log/export.jsonl?since=yesterday").status_code == 422


def test_pages_by_number(ada: Client) -> None:
    write(120)
    first = text_of(ada.get("/audit-log/?verb=set"))
    assert numbers(first) == list(range(120, 70, -1))
    assert "verb=set&amp;before=71" in first
    second = text_of(ada.get("/audit-log/?verb=set&before=71"))
    assert numbers(second) == list(range(70, 20, -1))
    assert "verb=set&amp;after=70" in second
    last = text_of(ada.get("/audit-log/?before=21"))
    assert numbers(last) == list(range(20, 0, -1))
    assert 'rel="next"' not in last
    assert numbers(text_of(ada.get("/audit-log/?after=20"))) == list(range(70, 20, -1))
    newest = text_of(ada.get("/audit-log/?after=70"))
    assert numbers(newest) == list(range(120, 70, -1))
    assert 'rel="prev"' not in newest
    for odd in ("x", "-1", "9" * 5000, "٣"):
        assert numbers(text_of(ada.get("/audit-log/", {"before": odd})))[0] == 120


def test_the_head_can_be_kept_and_asked_for(ada: Client, written: int) -> None:
    n, head = read_head()
    assert f'data-copy="{n}:{head}"' in ada.get("/audit-log/").content.decode()
    html = check(ada)
    assert f"{written} entries were hashed again in" in html
    assert "Without a head that you kept" in html
    write(3)
    assert "The head that you kept is still in it" in check(ada, f"{n}:{head}")


@pytest.mark.parametrize(
    "anchor", ["x", "5", "5:", "5:xyz", ":" + "a" * 64, "5:" + "A" * 64, "5:" + "a" * 63]
)
def test_a_head_that_is_none(ada: Client, written: int, anchor: str) -> None:
    answer = ada.post("/audit-log/verify/", {"anchor": anchor}, headers=HTMX)
    assert answer.status_code == 422
    assert "A head reads n:hash" in text_of(answer)
    page = ada.post("/audit-log/verify/", {"anchor": anchor})
    assert page.status_code == 422
    assert is_page(page.content.decode())


def test_without_script_the_page_comes_with_the_result(ada: Client, written: int) -> None:
    html = text_of(ada.post("/audit-log/verify/"))
    assert is_page(html)
    assert "The audit log is as it was written" in html
    assert len(numbers(html)) == written


def test_an_entry_that_was_changed(ada: Client, written: int) -> None:
    JournalEntry.objects.filter(n=3).update(actor="somebody")
    html = check(ada)
    assert "tampered with: entry 3 does not fit" in html
    assert "Entry 3 was changed, or stands in the place of another one." in html
    assert "/audit-log/?before=4" in html


def test_an_entry_that_was_removed(ada: Client, written: int) -> None:
    JournalEntry.objects.filter(n=3).delete()
    html = check(ada)
    assert "tampered with: entry 3 does not fit" in html
    assert "Entry 3 was removed." in html


def test_entries_that_changed_places(ada: Client, written: int) -> None:
    JournalEntry.objects.filter(n=2).update(n=999)
    JournalEntry.objects.filter(n=3).update(n=2)
    JournalEntry.objects.filter(n=999).update(n=3)
    assert "tampered with: entry 2 does not fit" in check(ada)


def test_a_tail_that_was_cut_off(ada: Client, written: int) -> None:
    n, head = read_head()
    JournalEntry.objects.filter(n__gt=written - 2).delete()
    html = check(ada)
    assert f"entry {written - 1} does not fit" in html
    assert f"It ends with entry {written - 2}, and what came after is gone." in html
    # Whoever moves the head back as well is shown by the one that was kept.
    last = JournalEntry.objects.get(n=written - 2)
    JournalHead.objects.update(n=last.n, hash=last.hash)
    assert "The audit log is as it was written" in check(ada)
    html = check(ada, f"{n}:{head}")
    assert f"entry {written - 1} does not fit" in html
    write(5)
    assert f"entry {n} does not fit" in check(ada, f"{n}:{head}")


def test_everything_that_was_removed(ada: Client, written: int) -> None:
    JournalEntry.objects.all().delete()
    assert "entry 1 does not fit" in check(ada)


def test_the_export_is_whole_and_in_order(ada: Client, written: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entries, "CHUNK", 2)
    answer = ada.get("/audit-log/export.jsonl")
    assert answer["Content-Type"] == "application/x-ndjson"
    assert answer["Cache-Control"] == "private, no-store"
    assert answer.streaming
    lines = [json.loads(line) for line in b"".join(answer).splitlines()]
    assert [line["n"] for line in lines] == list(range(1, written + 1))
    assert [line["previous"] for line in lines[1:]] == [line["hash"] for line in lines[:-1]]
    assert lines[-1]["after"] == {"reason": "Old <b>one</b>."}
    assert b"".join(ada.head("/audit-log/export.jsonl")) == b""


def test_what_is_written_meanwhile_is_not_exported(ada: Client, written: int) -> None:
    lines = entries.export_lines(JournalEntry.objects.all())
    first = next(lines)
    write(3)
    assert len((first + b"".join(lines)).splitlines()) == written


def test_entries_that_somebody_spoilt_are_shown(ada: Client, written: int) -> None:
    JournalEntry.objects.filter(n=1).update(
        before=[1, 2], after="text", verb="odd\u202ething", target="\u202e"
    )
    html = text_of(ada.get("/audit-log/"))
    assert "[1, 2]" in html
    assert "text" in html


def test_queries_do_not_grow(
    ada: Client, written: int, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    write(60)
    with django_assert_max_num_queries(8):
        ada.get("/audit-log/")
    with django_assert_max_num_queries(5):
        ada.get("/audit-log/", headers=HTMX)
