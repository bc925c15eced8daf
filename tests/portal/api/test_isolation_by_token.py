"""Two tokens of one agent, and none, over every call of the feed: each is served its environment alone.

`test_environment_isolation` looks for traces of another environment in what one token is answered; here
the two are asked the same in turn, with each other's ETags, and their answers held against the bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import pytest
from django.http import HttpResponse
from django.urls import get_resolver

from catalog import resolution
from catalog.models import Agent, Environment, Version
from tests import make
from tests.portal.api.callers import API, Caller, assert_problem

pytestmark = pytest.mark.django_db

SHARED = "refund-check"
RULES = "references/rules.md"
# Each with a skill of its own, and one letter changed in its name.
OWN = {"production": ("vault-open", "vault-opem"), "development": ("sky-gulls", "sky-gullz")}
OTHER = {"production": "development", "development": "production"}
NUMBERS = {"production": "2.0.0", "development": "1.0.0"}


@dataclass(frozen=True)
class Side:
    """An environment as a token of it sees it."""

    name: str
    caller: Caller
    shared: Version
    own: Version

    @property
    def rules(self) -> bytes:
        """The rules as they are there."""
        return f"# Rules of {self.name}\n".encode()


Sides = dict[str, Side]


@pytest.fixture
def desk(cast: make.Cast) -> Agent:
    """The agent."""
    return make.agent(team=cast.payments, template="Mine: {skills}")


@pytest.fixture
def sides(cast: make.Cast, desk: Agent) -> Sides:
    """refund-check in another version in each, and a skill that is in this one alone."""
    return {name: make_side(name, cast, desk) for name in ("production", "development")}


def make_side(name: str, cast: make.Cast, desk: Agent) -> Side:
    told = f"Marked for {name}. Use when asked."
    files = {RULES: f"# Rules of {name}\n".encode(), f"references/of-{name}.md": b"# Here\n"}
    body = f"Body of {name}.\n"
    shared = make.version(SHARED, NUMBERS[name], cast=cast, description=told, body=body, files=files)
    make.release(shared, name, cast=cast)
    own = make.version(OWN[name][0], cast=cast, description=told, body=body, files={RULES: files[RULES]})
    make.release(own, name, cast=cast)
    return Side(name, Caller(make.token(agent=desk, environment=name)[1]), shared, own)


@pytest.fixture(params=["production", "development"])
def side(request: pytest.FixtureRequest, sides: Sides) -> Side:
    """Each in turn."""
    return sides[request.param]


@pytest.fixture
def other(side: Side, sides: Sides) -> Side:
    """The one that it is not."""
    return sides[OTHER[side.name]]


def content(answer: HttpResponse) -> bytes:
    """The bytes of the answer."""
    return b"".join(answer.streaming_content) if answer.streaming else bytes(answer.content)


def assert_nothing_of(other: Side, answer: HttpResponse, *asked: str) -> None:
    """Neither body nor headers tell of the other side; what was `asked` may be repeated."""
    headers = "\n".join(f"{name}: {value}" for name, value in answer.items())
    told = content(answer).decode("utf-8", "replace") + headers
    for text in asked:
        told = told.replace(text, "")
    versions = (other.shared, other.own)
    hidden = [other.name, other.own.skill.folder, other.shared.version]
    hidden += [
        one for row in versions for one in (row.bundle_sha256, row.artifact_id, str(row.pk), row.pk.hex)
    ]
    hidden += [sha256(other.rules).hexdigest(), f"of-{other.name}.md"]
    # Every skill that is published first is a 1.0.0.
    found = [one for one in hidden if one in told and one != "1.0.0"]
    assert not found, (found, told[:400])


LISTS = (
    "feed",
    "feed?key=session-1",
    "feed?fields=name,version,description,bundle_sha256,provenance",
    "feed/advertise",
    "feed/advertise?format=markdown",
    "feed/advertise?format=xml",
    "feed/advertise?format=json",
    "feed/advertise?format=template",
    "feed/tools?scripts=true",
)
# Those with an ETag, which differs between the two.
TAGGED = (
    "feed",
    "feed?key=session-1",
    f"feed/skills/{SHARED}/resources/{RULES}",
    f"feed/skills/{SHARED}/bundle.zip",
)
READS = (
    *LISTS,
    f"feed/skills/{SHARED}",
    f"feed/skills/{SHARED}/resources/{RULES}",
    f"feed/skills/{SHARED}/resources/rules.md",
    f"feed/skills/{SHARED}/bundle.zip",
)


def feed_addresses() -> set[str]:
    """The names of the addresses of the feed."""
    known = get_resolver().reverse_dict
    return {name for name in known if isinstance(name, str) and name.startswith("api-feed")}


def test_every_address_of_the_feed_is_asked_here() -> None:
    asked = {get_resolver().resolve(API + path.partition("?")[0]).url_name for path in READS}
    assert asked == feed_addresses()


@pytest.mark.parametrize("path", READS)
def test_each_is_served_its_own(sides: Sides, path: str) -> None:
    """Asked in turn and again, so that nothing that is remembered for one is told to the other."""
    for name in ("production", "development", "production", "development"):
        answer = sides[name].caller.get(path)
        assert answer.status_code == 200
        assert_nothing_of(sides[OTHER[name]], answer)
        head = sides[name].caller.head(path)
        assert (head.status_code, content(head)) == (200, b"")
        assert head.get("ETag") == answer.get("ETag")
        assert_nothing_of(sides[OTHER[name]], head)


def test_the_list_has_its_versions_and_digests(side: Side) -> None:
    told = side.caller.get("feed").json()
    assert told["environment"] == side.name
    seen = {(one["folder"], one["version"], one["bundle_sha256"]) for one in told["skills"]}
    assert seen == {(one.skill.folder, one.version, one.bundle_sha256) for one in (side.shared, side.own)}


@pytest.mark.parametrize("path", [path for path in LISTS if "advertise" in path])
def test_both_skills_of_its_own_are_advertised(side: Side, path: str) -> None:
    told = content(side.caller.get(path)).decode()
    assert told.count(f"Marked for {side.name}") == 2
    assert side.own.skill.folder in told


def test_a_template_is_filled_with_its_own(side: Side, other: Side) -> None:
    for template in ("{skills}", "{skills}{resource_instructions}{runner_instructions}"):
        answer = side.caller.post("feed/advertise", {"template": template})
        assert answer.status_code == 200
        assert content(answer).decode().count(f"Marked for {side.name}") == 2
        assert_nothing_of(other, answer)


@pytest.mark.parametrize("pin", ["", "?version={}"])
def test_the_bytes_are_those_of_its_version(side: Side, pin: str) -> None:
    query = pin.format(side.shared.version)
    skill = side.caller.get(f"feed/skills/{SHARED}{query}").json()
    assert (skill["version"], skill["bundle_sha256"]) == (side.shared.version, side.shared.bundle_sha256)
    assert f"Body of {side.name}." in skill["instructions"]
    for path in (RULES, "rules.md"):
        assert content(side.caller.get(f"feed/skills/{SHARED}/resources/{path}{query}")) == side.rules
    bundle = content(side.caller.get(f"feed/skills/{SHARED}/bundle.zip{query}"))
    assert sha256(bundle).hexdigest() == side.shared.artifact_id


@pytest.mark.parametrize("path", TAGGED)
def test_the_etag_of_the_other_is_no_match(side: Side, other: Side, path: str) -> None:
    foreign, own = other.caller.get(path)["ETag"], side.caller.get(path)["ETag"]
    assert foreign != own
    for method in ("GET", "HEAD"):
        for tags in (foreign, f"W/{foreign}", f'"none", {foreign}', f"{foreign}, {foreign}"):
            answer = side.caller.send(method, path, headers={"If-None-Match": tags})
            assert (answer.status_code, answer["ETag"]) == (200, own), (method, tags)
            assert_nothing_of(other, answer)
        same = side.caller.send(method, path, headers={"If-None-Match": f"{foreign}, {own}"})
        assert (same.status_code, same["ETag"], content(same)) == (304, own, b"")
        assert_nothing_of(other, same)


def test_the_same_skills_at_the_same_revision_have_other_etags(cast: make.Cast, desk: Agent) -> None:
    shared, callers = make.version(SHARED, cast=cast), {}
    for name in ("production", "development"):
        make.release(shared, name, cast=cast)
        Environment.objects.filter(name=name).update(revision=1000)
        callers[name] = Caller(make.token(agent=desk, environment=name)[1])
    resolution.forget_cached()
    answers = {name: one.get("feed") for name, one in callers.items()}
    assert {answer.json()["revision"] for answer in answers.values()} == {1000}
    assert answers["production"]["ETag"] != answers["development"]["ETag"]
    for name, one in callers.items():
        answer = one.get("feed", If_None_Match=answers[OTHER[name]]["ETag"])
        assert (answer.status_code, answer.json()["environment"]) == (200, name)


FORMS = (
    "feed/skills/{}",
    "feed/skills/{}?version=1.0.0&key=session-1",
    "feed/skills/{}/bundle.zip",
    "feed/skills/{}/resources/rules.md",
)


@pytest.mark.parametrize("form", FORMS)
def test_a_skill_of_the_other_is_nowhere_and_no_hint(side: Side, other: Side, form: str) -> None:
    for asked in OWN[other.name]:
        path = form.format(asked)
        tag = other.caller.get(f"feed/skills/{other.own.skill.folder}/bundle.zip")["ETag"]
        answer = side.caller.get(path, If_None_Match=tag)
        told = assert_problem(answer, 404, "skill-not-found")
        assert not told.get("near")
        assert_nothing_of(other, answer, asked)
        # As of what is nowhere.
        nowhere = side.caller.get(path.replace(asked, "qqqq-zzzz")).json()
        assert told == {name: said_of(nowhere[name], asked) for name in nowhere}
        assert side.caller.head(path).status_code == 404


def said_of(told: Any, name: str) -> Any:
    """The same with the name."""
    return told.replace("qqqq-zzzz", name) if isinstance(told, str) else told


def test_its_own_is_hinted_at(side: Side) -> None:
    """So that the silence about the other is not that of hints that are never given."""
    name, alike = OWN[side.name]
    assert assert_problem(side.caller.get(f"feed/skills/{alike}"), 404, "skill-not-found")["near"] == [name]


@pytest.mark.parametrize("rest", ["", "/bundle.zip", f"/resources/{RULES}"])
def test_a_version_of_the_other_is_nowhere(side: Side, other: Side, cast: make.Cast, rest: str) -> None:
    """Neither what is live there, nor what was and can still be asked for there."""
    later = make.version(SHARED, "3.0.0", cast=cast, body="Later.\n", files={RULES: b"# Later\n"})
    make.release(later, other.name, cast=cast)
    resolution.forget_cached()
    for number in (other.shared.version, "3.0.0"):
        path = f"feed/skills/{SHARED}{rest}?version={number}"
        assert other.caller.get(path).status_code == 200
        tag = other.caller.get(f"feed/skills/{SHARED}/bundle.zip?version={number}")["ETag"]
        answer = side.caller.get(path, If_None_Match=tag)
        assert_nothing_of(other, answer, number)
        assert later.bundle_sha256 not in content(answer).decode()
        nowhere = side.caller.get(path.replace(number, "7.7.7"))
        assert answer.status_code == nowhere.status_code == 410
        assert content(answer).decode() == content(nowhere).decode().replace("7.7.7", number)


def test_a_file_of_the_other_is_nowhere(side: Side, other: Side) -> None:
    for path in (f"references/of-{other.name}.md", f"of-{other.name}.md"):
        answer = side.caller.get(f"feed/skills/{SHARED}/resources/{path}")
        assert answer.status_code == 404
        assert_nothing_of(other, answer, f"of-{other.name}.md", other.name)


def strangers() -> Iterator[Callable[[Sides], Caller]]:
    """Callers without a token that counts."""
    yield lambda sides: Caller()
    yield lambda sides: Caller("qm_unknown")
    yield lambda sides: Caller(sides["production"].caller.secret[:-1])


@pytest.mark.parametrize("make_caller", list(strangers()))
def test_without_a_token_there_is_nothing(sides: Sides, make_caller: Callable[[Sides], Caller]) -> None:
    stranger = make_caller(sides)
    for path in (*READS, *(f"feed/skills/{name}" for pair in OWN.values() for name in pair)):
        tags = [one.caller.get(path).get("ETag", '"none"') for one in sides.values()]
        plain = stranger.get(path)
        asked = [
            plain,
            stranger.get(path, If_None_Match=", ".join(tags)),
            stranger.get(path, If_None_Match="*"),
        ]
        for answer in (*asked, stranger.head(path, If_None_Match=tags[0])):
            assert answer.status_code == 401, path
            assert "ETag" not in answer
            assert "X-Quartermaster-Assignment" not in answer
            for one in sides.values():
                assert_nothing_of(one, answer)
        assert {content(answer) for answer in asked} == {content(plain)}
    answer = stranger.post("feed/advertise", {"template": "{skills}"})
    assert answer.status_code == 401
    for one in sides.values():
        assert_nothing_of(one, answer)
