"""The shared set of hostile uploads over the portal's form, where it lies beside the checkout.

What REST answers for each case is held in `tests/portal/api/test_hostile_uploads.py`; the form must
tell the same findings, and store exactly what REST stores.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from catalog.models import Version
from tests import make
from tests.portal.answers import HTMX, text_of
from tests.portal.api.watched import watched
from tests.requirements import shared

SET = shared("hostile")
HOSTILE = SET.folder
CASES = {case["id"]: case for case in SET.lines("expected.jsonl")}
SECONDS = 2

pytestmark = [pytest.mark.django_db, SET.needed]


@pytest.fixture
def ines(client: Client) -> Client:
    """A publisher of one team, signed in."""
    client.force_login(make.cast().ines)
    return client


def form(case: dict[str, Any]) -> dict[str, Any]:
    """The form, filled in with the case."""
    file = HOSTILE / case["file"]
    upload = SimpleUploadedFile(file.name, file.read_bytes())
    return {"file": upload, "team": "payments", "version": "1.0.0"}


def codes(text: str) -> set[str]:
    """The codes of the findings that the report shows."""
    return set(re.findall(r"<code[^>]*>([a-z0-9]+(?:-[a-z0-9]+)+)</code>", text))


@pytest.mark.parametrize("name", list(CASES))
def test_a_hostile_upload_by_form(ines: Client, name: str, tmp_path: Path) -> None:
    case = CASES[name]
    for before in case["after"]:
        ines.post("/publish/", form(CASES[before]))
    kept = set(Version.objects.values_list("bundle_sha256", flat=True))
    assert len(kept) == len(case["after"])

    with watched() as watch:
        report = text_of(ines.post("/publish/check/", form(case), headers=HTMX))
    assert watch.seconds < SECONDS
    assert watch.outside(tmp_path) == []
    assert set(Version.objects.values_list("bundle_sha256", flat=True)) == kept
    wanted = {case["code"], *case["also"]} - {""}
    if case["expect"] != "accept":
        assert codes(report) & wanted

    answer = ines.post("/publish/", form(case))
    now = set(Version.objects.values_list("bundle_sha256", flat=True))
    if case["expect"] == "reject":
        assert answer.status_code == 422
        assert codes(text_of(answer)) & wanted
        assert now == kept
    elif name == "manifest-same-version-same-bytes":
        assert now == kept
    else:
        assert answer.status_code in {200, 302}
        assert len(now) == len(kept) + (2 if name == "layout-two-skills" else 1)
