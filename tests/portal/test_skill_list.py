from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from catalog.models import Skill, State
from tests import make
from tests.make import Cast
from tests.portal.pages import HTMX, is_page, signed_in

pytestmark = pytest.mark.django_db
# Session, user, grants, count, page, lanes, what they lack, environments, six facets, inbox: whatever the size.
MOST_QUERIES = 20  # one of them counts what the bell of every page shows


@pytest.fixture
def cast() -> Cast:
    cast = make.cast()
    refund = make.version("refund-check", cast=cast, tags=("money", "shop"))
    make.version(
        "ticket-triage",
        cast=cast,
        team=cast.support,
        publisher=cast.sven,
        description="Сортирует обращения по очередям.",
    )
    make.version("kehu-huifu", cast=cast, description="起草给客户的中文回复。用于工单。", risk_level="high")
    make.release(refund, "production", cast=cast)
    return cast


def names(client: Client, query: str = "", **headers: str) -> list[str]:
    """The names in the rows, in their order."""
    html = client.get(f"/?{query}", headers=headers).content.decode()
    return re.findall(r'<a class="name" href="/skills/[^"]+">([^<]+)</a>', html)


def test_lists_what_there_is_by_name(cast: Cast) -> None:
    assert names(signed_in(cast.nora)) == ["kehu-huifu", "refund-check", "ticket-triage"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("q=refund", ["refund-check"]),
        ("q=REFUND+money", ["refund-check"]),
        ("q=refund+triage", []),
        ("q=shop", ["refund-check"]),
        ("q=сортирует", ["ticket-triage"]),
        ("q=中文回复", ["kehu-huifu"]),
        ("risk=high", ["kehu-huifu"]),
        ("risk=low&risk=high", ["kehu-huifu", "refund-check", "ticket-triage"]),
        ("risk=nonsense", []),
        ("env=production", ["refund-check"]),
        ("env=staging", []),
        ("team=support", ["ticket-triage"]),
        ("lang=ru&lang=zh", ["kehu-huifu", "ticket-triage"]),
        ("tag=money", ["refund-check"]),
        ("team=payments&lang=zh", ["kehu-huifu"]),
        ("sort=risk", ["kehu-huifu", "refund-check", "ticket-triage"]),
        ("sort=nonsense", ["kehu-huifu", "refund-check", "ticket-triage"]),
        ("page=99", ["kehu-huifu", "refund-check", "ticket-triage"]),
        ("q=100%25_", []),
    ],
)
def test_narrows_and_sorts(cast: Cast, query: str, expected: list[str]) -> None:
    assert names(signed_in(cast.nora), query) == expected


def test_best_match_comes_first(cast: Cast) -> None:
    make.version("a-refund-check", cast=cast)
    assert names(signed_in(cast.nora), "q=refund-check") == ["refund-check", "a-refund-check"]


def test_sorts_by_the_day_of_publication(cast: Cast) -> None:
    make.version("fresh", cast=cast, now=make.NOW + timedelta(days=1))
    assert names(signed_in(cast.nora), "sort=published")[0] == "fresh"


@pytest.mark.parametrize("state", [State.CANARY, State.PROPOSED])
def test_narrows_by_state_of_a_release(cast: Cast, state: State) -> None:
    second = make.version("refund-check", "1.1.0", cast=cast)
    make.release(second, "production", cast=cast, state=state)
    assert names(signed_in(cast.nora), f"state={state}") == ["refund-check"]


def test_a_canary_shows_both_versions_and_the_split(cast: Cast) -> None:
    second = make.version("refund-check", "1.1.0", cast=cast)
    make.release(second, "production", cast=cast, state=State.CANARY, percent=20)
    html = signed_in(cast.nora).get("/?q=refund").content.decode()
    assert "80 % stable, 20 % canary" in html
    assert "1.0.0 <small>80 %</small>" in html
    assert "<span>1.1.0</span>" in html


def test_counts_obey_the_other_facets(cast: Cast) -> None:
    context = signed_in(cast.nora).get("/?team=payments").context
    counts = {facet.key: {o.value: o.count for o in facet.options} for facet in context["facets"]}
    assert counts["risk"] == {"high": 1, "medium": 0, "low": 1}
    assert counts["team"] == {"payments": 2, "support": 1}
    assert counts["env"] == {"development": 0, "staging": 0, "production": 1}
    assert counts["lang"] == {"en": 1, "zh": 1}
    assert counts["tag"] == {"money": 1, "shop": 1}


def test_the_chosen_environment_limits_the_list(cast: Cast) -> None:
    client = signed_in(cast.nora)
    client.post("/preferences/environment/", {"environment": "production"})
    assert names(client) == ["refund-check"]
    html = client.get("/?q=triage").content.decode()
    assert "No skill matches “triage” in Production" in html
    assert "1 skill matches in all environments" in html


def test_htmx_gets_rows_and_counts_and_a_clean_address(cast: Cast) -> None:
    answer = signed_in(cast.nora).get("/?q=refund&sort=&page=1", headers=HTMX)
    html = answer.content.decode()
    assert not is_page(html)
    assert 'id="rows"' in html
    assert '<div id="facets" hx-swap-oob="innerHTML">' in html
    assert '<p id="announce" hx-swap-oob="innerHTML">1 skill</p>' in html
    assert answer["HX-Push-Url"] == "/?q=refund"
    assert "HX-Request" in answer["Vary"]


def test_going_back_gets_the_page(cast: Cast) -> None:
    headers = {**HTMX, "HX-History-Restore-Request": "true"}
    answer = signed_in(cast.nora).get("/?q=refund", headers=headers)
    assert is_page(answer.content.decode())
    assert "HX-Push-Url" not in answer


def test_a_team_keeps_a_skill_to_itself(cast: Cast) -> None:
    Skill.objects.filter(folder="refund-check").update(visibility=Skill.Visibility.TEAM)
    assert "refund-check" not in names(signed_in(cast.sven))
    assert "refund-check" in names(signed_in(cast.ravi))
    outsider = signed_in(cast.sven).get("/").context["facets"]
    assert "money" not in {option.value for facet in outsider for option in facet.options}


def test_a_deleted_skill_is_gone(cast: Cast) -> None:
    Skill.objects.filter(folder="refund-check").update(deleted_at=make.NOW)
    assert "refund-check" not in names(signed_in(cast.ines))


def test_shows_only_what_the_user_may_use(cast: Cast) -> None:
    reader = signed_in(cast.ravi).get("/").content.decode()
    publisher = signed_in(cast.ines).get("/").content.decode()
    for address in ("/publish/", "/inbox/", "/traces/", "/agents/"):
        assert f'href="{address}"' not in reader
        assert f'href="{address}"' in publisher


def test_the_inbox_counts_what_waits_for_this_user(cast: Cast) -> None:
    second = make.version("refund-check", "1.1.0", cast=cast)
    make.release(second, "production", cast=cast, state=State.PROPOSED)
    assert '<span class="count" id="inbox-count">1' in signed_in(cast.mara).get("/").content.decode()
    assert '<span class="count" id="inbox-count" hidden>' in signed_in(cast.ines).get("/").content.decode()
    assert "inbox-count" not in signed_in(cast.nora).get("/").content.decode()


def test_hostile_descriptions_are_text(cast: Cast) -> None:
    make.version("odd", cast=cast, description="<img src=x onerror=alert(1)> Use when odd.")
    html = signed_in(cast.nora).get("/?q=odd").content.decode()
    assert "<img" not in html
    assert "&lt;img src=x onerror" in html


def test_an_empty_catalog_says_what_to_do_first() -> None:
    cast = make.cast()
    html = signed_in(cast.ines).get("/").content.decode()
    assert "The catalog is empty" in html


def test_queries_do_not_grow(cast: Cast, django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    client = signed_in(cast.mara)
    with django_assert_max_num_queries(MOST_QUERIES):
        client.get("/")
    for n in range(55):
        version = make.version(f"skill-{n}", cast=cast, tags=(f"tag-{n}",))
        if n % 5 == 0:
            make.release(version, "development", cast=cast)
    with django_assert_max_num_queries(MOST_QUERIES):
        answer = client.get("/?q=skill&risk=low&page=2")
    assert len(answer.context["rows"]) == 5


def test_needs_a_sign_in_and_a_safe_method(client: Client, cast: Cast) -> None:
    assert client.get("/")["Location"] == "/sign-in/?next=/"
    assert signed_in(cast.ines).post("/").status_code == 405
