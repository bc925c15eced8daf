from __future__ import annotations

from hashlib import sha256
from io import BytesIO
from zipfile import ZipFile

import pytest
from django.test import Client

from catalog.models import Skill, Version
from tests import make
from tests.make import Cast
from tests.portal.pages import signed_in

pytestmark = pytest.mark.django_db
ADDRESS = "/skills/refund-check/versions/1.0.0/bundle.zip"


@pytest.fixture
def cast() -> Cast:
    cast = make.cast()
    make.version("refund-check", cast=cast, files={"references/a.md": b"x\n"})
    return cast


def test_is_the_artifact_as_an_attachment(cast: Cast) -> None:
    answer = signed_in(cast.nora).get(ADDRESS)
    assert sha256(answer.content).hexdigest() == Version.objects.get().artifact_id
    assert ZipFile(BytesIO(answer.content)).namelist() == ["SKILL.md", "references/a.md"]
    assert answer["Content-Type"] == "application/zip"
    assert 'filename="refund-check-1.0.0.zip"' in answer["Content-Disposition"]
    assert answer["Content-Security-Policy"] == "default-src 'none'; sandbox"


def test_is_not_sent_twice(cast: Cast) -> None:
    client = signed_in(cast.nora)
    etag = client.get(ADDRESS)["ETag"]
    assert client.get(ADDRESS, headers={"If-None-Match": etag}).status_code == 304


def test_a_yanked_one_can_still_be_had_a_revoked_one_not(cast: Cast) -> None:
    Version.objects.update(yanked_at=make.NOW)
    assert signed_in(cast.nora).get(ADDRESS).status_code == 200
    Version.objects.update(revoked_at=make.NOW)
    assert signed_in(cast.nora).get(ADDRESS).status_code == 403
    assert signed_in(cast.ada).get(ADDRESS).status_code == 200


def test_outsiders_and_other_methods(client: Client, cast: Cast) -> None:
    assert client.get(ADDRESS).status_code == 302
    assert signed_in(cast.ines).post(ADDRESS).status_code == 405
    Skill.objects.update(visibility=Skill.Visibility.TEAM)
    assert signed_in(cast.sven).get(ADDRESS).status_code == 404
