"""Many publish at once: a version is made once, nobody fails, and nothing is half."""

from __future__ import annotations

import http.client
import json
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.db import IntegrityError, connection

from catalog import publishing
from catalog.journal import check_chain
from catalog.models import Blob, BundleFile, Skill, Version
from catalog.upkeep import find_faults, sweep
from tests import cast as crew
from tests import make

MANY = 50


def publish(
    team: Any, name: str = "refund-check", body: str = "Same.\n", number: str = "1.0.0"
) -> Callable[[], str]:
    """A publication, to be made later; answers its status."""
    files = {
        "SKILL.md": make.skill_md(name, version=number, body=body),
        "references/rules.md": b"Thirty days.\n",
        "scripts/run.sh": b"#!/bin/sh\n",
    }
    bundle = make.bundle(files, folder=name)
    return lambda: make.publication(bundle, team=team, stability="stable").status


def check_the_record(versions: int) -> None:
    """Everything adds up; what a publication kept that was then refused is swept."""
    assert Version.objects.count() == versions
    assert list(find_faults()) == []
    assert check_chain().entries == versions
    sweep(now=make.NOW + timedelta(days=2))
    assert Blob.objects.filter(files=None, artifacts=None).count() == 0
    assert set(BundleFile.objects.values_list("version__version", flat=True)) == set(
        Version.objects.values_list("version", flat=True)
    )


def test_the_same_bytes(shared_database: str) -> None:
    team = make.cast().payments
    done = crew.together([publish(team)] * MANY)
    assert Counter(map(str, done)) == {"published": 1, "unchanged": MANY - 1}
    check_the_record(1)


def test_other_bytes_under_one_version(shared_database: str) -> None:
    team = make.cast().payments
    done = crew.together([publish(team, body=f"Number {n}.\n") for n in range(MANY)])
    assert Counter(map(str, done)) == {"published": 1, "conflict": MANY - 1}
    check_the_record(1)


def test_many_versions_of_one_skill(shared_database: str) -> None:
    team = make.cast().payments
    done = crew.together([publish(team, body=f"{n}\n", number=f"1.{n}.0") for n in range(20)])
    assert Counter(map(str, done)) == {"published": 20}
    check_the_record(20)
    assert Skill.objects.select_related("latest").get().latest.version == "1.19.0"  # type: ignore[union-attr]


def test_many_skills_that_share_files(shared_database: str) -> None:
    team = make.cast().payments
    done = crew.together([publish(team, f"skill-{n}", body=f"{n}\n") for n in range(20)])
    assert Counter(map(str, done)) == {"published": 20}
    assert Skill.objects.count() == 20
    assert list(find_faults()) == []


def test_two_names_of_one_folder(shared_database: str) -> None:
    team = make.cast().payments
    names = ["web.search", "web_search", "web-search"] * 6
    bundles = [crew.tool(name) for name in names]
    done = crew.together([lambda one=one: make.publication(one, team=team).status for one in bundles])  # type: ignore[misc]
    assert Counter(map(str, done)) == {"published": 1, "unchanged": 5, "rejected": 12}
    assert Skill.objects.get().folder == "web-search"
    check_the_record(1)


def test_two_teams_and_one_name(shared_database: str) -> None:
    cast = make.cast()
    done = crew.together([publish(team) for team in (cast.payments, cast.support)] * 5)
    assert Counter(map(str, done)) == {"published": 1, "unchanged": 4, "rejected": 5}
    check_the_record(1)


def test_two_skills_that_need_each_other(shared_database: str) -> None:
    """Each is right alone; whoever comes second closes the circle."""
    team = make.cast().payments
    for n in range(8):
        one, other = f"a.n{n}", f"b.n{n}"
        pair = [crew.tool(one, needs={other: "1.0.0"}), crew.tool(other, needs={one: "1.0.0"})]
        needs = [{other.replace(".", "-"): "1.0.0"}, {one.replace(".", "-"): "1.0.0"}]
        assert [dict(bundle.manifest.dependencies) for bundle in pair if bundle.manifest] == needs
        done = crew.together(
            [lambda bundle=bundle: make.publication(bundle, team=team).status for bundle in pair]
        )  # type: ignore[misc]
        assert Counter(map(str, done)) == {"published": 1, "rejected": 1}
    assert Skill.objects.count() == 8
    check_the_record(8)


# -- over HTTP, against two processes


def post(address: str, secret: str, body: str, name: str = "refund-check") -> Callable[[], tuple[int, str]]:
    """A request, to be made later; answers the status of HTTP and of the result."""
    told = {
        "team": "payments",
        "version": "1.0.0",
        "stability": "stable",
        "metadata": {"name": name, "description": make.DESCRIPTION},
        "instructions": body,
        "resources": {"references/rules.md": "Thirty days.\n"},
    }
    place = urlsplit(address)

    def call() -> tuple[int, str]:
        wire = http.client.HTTPConnection(str(place.hostname), place.port, timeout=60)
        headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}
        wire.request("POST", "/api/v1/publish", json.dumps(told), headers)
        answer = wire.getresponse()
        content = answer.read()
        wire.close()
        if answer.status >= 500:
            return answer.status, content.decode()
        return answer.status, json.loads(content)["results"][0]["status"]

    return call


def test_over_http(server: str) -> None:
    cast = make.cast()
    _, secret = make.token(user=cast.ines, scopes=("publish",))
    connection.close()
    done = crew.together([post(server, secret, "Same.\n")] * MANY)
    assert Counter(done) == {(201, "published"): 1, (200, "unchanged"): MANY - 1}
    others = crew.together([post(server, secret, f"Number {n}.\n", "order-status") for n in range(MANY)])
    assert Counter(others) == {(201, "published"): 1, (409, "conflict"): MANY - 1}
    assert Version.objects.count() == 2
    assert list(find_faults()) == []


@pytest.mark.django_db
def test_a_fault_of_the_database_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """After three attempts a clash that does not go away is told."""
    tried = []

    def clash(*_: object) -> None:
        tried.append(1)
        raise IntegrityError("again")

    monkeypatch.setattr(publishing, "_store", clash)
    with pytest.raises(IntegrityError):
        publish(make.cast().payments)()
    assert len(tried) == publishing.ATTEMPTS == 3
