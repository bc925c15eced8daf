from __future__ import annotations

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from catalog.models import Skill, Version
from portal.diffs import diff_lines
from tests import make
from tests.make import Cast
from tests.portal.pages import HTMX, is_page, signed_in

pytestmark = pytest.mark.django_db
ADDRESS = "/skills/refund-check/compare/"
PAIR = f"{ADDRESS}?from=1.0.0&to=1.1.0"
MOST_QUERIES = 17


@pytest.fixture
def cast() -> Cast:
    cast = make.cast()
    make.version(cast=cast, body="# Refunds\n\nRead the order.\n", files={"references/old.md": b"# Old\n"})
    make.version(
        number="1.1.0",
        cast=cast,
        body="# Refunds\n\nRead the whole order.\n",
        files={"references/new.md": b"# New\n"},
        permissions=("network",),
    )
    return cast


def test_without_versions_it_compares_the_latest_with_the_one_below(cast: Cast) -> None:
    answer = signed_in(cast.nora).get(ADDRESS)
    assert (answer.context["before"].version, answer.context["after"].version) == ("1.0.0", "1.1.0")


def test_it_tells_files_permissions_and_the_bump(cast: Cast) -> None:
    html = signed_in(cast.nora).get(PAIR).content.decode()
    assert "From 1.0.0 to 1.1.0" in html
    for told in ("references/old.md", "references/new.md", "+ <code>network</code>", "Something is new"):
        assert told in html
    assert "1.1.0 says as much, or more." in html


def test_the_head_is_shown_first_and_its_words_are_marked(cast: Cast) -> None:
    answer = signed_in(cast.nora).get(PAIR)
    assert answer.context["diff"].path == "SKILL.md"
    assert "<mark>whole </mark>" in answer.content.decode().replace(
        "<mark> whole</mark>", "<mark>whole </mark>"
    )


@pytest.mark.parametrize(
    ("path", "kind"), [("references/old.md", "del"), ("references/new.md", "add")], ids=["removed", "added"]
)
def test_a_file_of_one_side_alone(cast: Cast, path: str, kind: str) -> None:
    diff = signed_in(cast.nora).get(f"{PAIR}&file={path}").context["diff"]
    assert {line.kind for line in diff.lines} == {kind}


def test_htmx_gets_the_lines_alone_or_the_panel(cast: Cast) -> None:
    client = signed_in(cast.nora)
    lines = client.get(
        f"{PAIR}&file=references/new.md", headers={**HTMX, "HX-Target": "diff"}
    ).content.decode()
    assert lines.lstrip().startswith('<div id="diff">')
    panel = client.get(PAIR, headers={**HTMX, "HX-Target": "tab"}).content.decode()
    assert not is_page(panel)
    assert "Declaration of both versions" in panel


def test_unified_is_asked_for(cast: Cast) -> None:
    html = signed_in(cast.nora).get(f"{PAIR}&view=unified").content.decode()
    assert "diff-split" not in html
    assert "diff--unified" in html


def test_nothing_of_a_revoked_version_is_quoted(cast: Cast) -> None:
    Version.objects.filter(version="1.0.0").update(revoked_at=make.NOW)
    for person in (cast.nora, cast.ada):
        answer = signed_in(person).get(f"{PAIR}&file=SKILL.md")
        assert answer.context["diff"].lines == ()
        assert "Read the order." not in answer.content.decode()


def test_a_break_under_a_minor_number_is_said(cast: Cast) -> None:
    old = make.version("refund.issue", cast=cast, files={"manifest.yaml": make.manifest(), "run.py": b""})
    new = make.version(
        "refund.issue",
        cast=cast,
        files={"manifest.yaml": make.manifest(version="2.0.0"), "run.py": b"#!/usr/bin/env python3\n"},
    )
    fields = {**new.fields, "input_schema": {"type": "object", "properties": {}}}
    type(new).objects.filter(pk=new.pk).update(fields=fields, version="1.0.1")
    html = signed_in(cast.nora).get("/skills/refund-issue/compare/?from=1.0.0&to=1.0.1").content.decode()
    assert "Callers may break: the least honest number is 2.0.0 (major)" in html
    assert "input_schema.order_id" in html
    assert old.skill_id == new.skill_id


def test_downwards_no_number_is_judged(cast: Cast) -> None:
    html = signed_in(cast.nora).get(f"{ADDRESS}?from=1.1.0&to=1.0.0").content.decode()
    assert "says nothing about this way" in html


def test_the_same_version_twice_and_a_single_one(cast: Cast) -> None:
    client = signed_in(cast.nora)
    same = client.get(f"{ADDRESS}?from=1.0.0&to=1.0.0").content.decode()
    assert "Nothing differs" in same
    assert "Both sides are the same version. Choose another one above." in same
    assert "says nothing about this way" not in same
    assert "Swap" not in same
    assert "There is nothing below it" in client.get(f"{ADDRESS}?to=1.0.0").content.decode()
    make.version("order-find", cast=cast)
    alone = client.get("/skills/order-find/compare/").content.decode()
    assert "1.0.0 is the only version. A comparison needs a second one." in alone
    assert "<select" not in alone


def test_unknown_versions(cast: Cast) -> None:
    for query in ("from=9.9.9", "to=9.9.9"):
        assert signed_in(cast.nora).get(f"{ADDRESS}?{query}").status_code == 404


def test_queries_do_not_grow(cast: Cast, django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    files = {f"references/{n}.md": b"# More\n" for n in range(30)}
    make.version(number="1.2.0", cast=cast, files=files)
    client = signed_in(cast.nora)
    with django_assert_max_num_queries(MOST_QUERIES):
        client.get(f"{ADDRESS}?from=1.0.0&to=1.2.0")


def test_outsiders_and_other_methods(client: Client, cast: Cast) -> None:
    assert client.get(ADDRESS).status_code == 302
    assert signed_in(cast.ines).post(ADDRESS).status_code == 405
    Skill.objects.update(visibility=Skill.Visibility.TEAM)
    assert signed_in(cast.sven).get(ADDRESS).status_code == 404
    assert signed_in(cast.ravi).get(ADDRESS).status_code == 200


def test_the_list_of_versions_leads_there(cast: Cast) -> None:
    html = signed_in(cast.nora).get("/skills/refund-check/versions/").content.decode()
    assert "/skills/refund-check/compare/?to=1.1.0" in html
    assert "/skills/refund-check/compare/?to=1.0.0" not in html


def test_lines_that_are_left_out_are_counted() -> None:
    old = [str(n) for n in range(20)]
    lines = diff_lines(old, [*old[:10], "new", *old[10:]])
    assert [(line.kind, line.count) for line in lines if line.kind == "fold"] == [("fold", 7), ("fold", 7)]
    assert diff_lines(old, old) == []


@pytest.mark.parametrize(
    ("here", "there", "sides"),
    [(b"\0a", b"\0b", ["1.2.0", "1.3.0"]), (None, b"\0b", ["1.3.0"]), (b"\0a", None, ["1.2.0"])],
)
def test_what_is_no_text_is_led_to_on_the_sides_that_have_it(
    cast: Cast, here: bytes | None, there: bytes | None, sides: list[str]
) -> None:
    for number, content in (("1.2.0", here), ("1.3.0", there)):
        make.version(number=number, cast=cast, files={"assets/a.bin": content} if content else {})
    html = signed_in(cast.nora).get(f"{ADDRESS}?from=1.2.0&to=1.3.0&file=assets/a.bin").content.decode()
    there_are = [n for n in ("1.2.0", "1.3.0") if f"/versions/{n}/files/assets/a.bin" in html]
    assert there_are == sides


def test_lines_that_are_not_shown_are_counted_and_led_to(cast: Cast) -> None:
    make.version(number="1.2.0", cast=cast, files={"references/a.md": b"first\n"})
    make.version(number="1.3.0", cast=cast, files={"references/a.md": b"line\n" * 1000})
    answer = signed_in(cast.nora).get(f"{ADDRESS}?from=1.2.0&to=1.3.0&file=references/a.md")
    diff = answer.context["diff"]
    assert (diff.added, diff.removed, len(diff.lines), diff.left_out) == (1000, 1, 400, 602)
    html = answer.content.decode()
    assert "+1000" in html
    assert "602 more lines are not shown." in html
    assert 'href="/skills/refund-check/versions/1.3.0/files/references/a.md">in 1.3.0</a>' in html
