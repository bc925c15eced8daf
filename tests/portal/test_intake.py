"""What came in from agents, and who says nothing."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from catalog.models import Agent, Role, Version
from governance.models import Intake, ReadCount
from governance.models.traces import Source
from governance.otlp import Span
from governance.traces import ingest
from tests import make
from tests.portal.answers import text_of
from tests.portal.reports import report

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("live")]


def test_nothing_came_in_yet(lena: Client, desk: Agent) -> None:
    text = text_of(lena.get("/telemetry/"))
    assert "No telemetry yet" in text
    assert "curl http://testserver/api/v1/traces \\" in text
    assert "It has not asked the feed for skills either." in text
    assert lena.post("/telemetry/").status_code == 405


def test_calls_and_spans_are_counted_by_agent_and_environment(
    lena: Client, desk: Agent, django_assert_num_queries: Any
) -> None:
    now = timezone.now()
    span = Span("t", "t-1", "", "chat", False, now, 5, {"to": "mara@example.org"})
    report(desk, {}, {"skill": "unknown-skill", "user_intent": "mara@example.org"})
    report(desk, {}, environment="staging")
    ingest(
        calls=[{"call_id": "x", "outcome": "meh"}],
        spans=[span],
        source=Source.OTLP,
        agent_id=desk.pk,
        environment_id=make.environment("production").pk,
        now=now,
    )
    # A session, an account, its grants, the bell, and of the page: environments, agents, counters, clocks.
    with django_assert_num_queries(8):
        answer = lena.get("/telemetry/")
    staging, production = answer.context["telemetry"].reports
    assert (staging.environment.name, production.environment.name) == ("staging", "production")
    assert [way.source for way in production.sources] == [Source.OTLP, Source.REST]
    found = production.day
    assert (found.accepted, found.rejected, found.unknown, found.spans, found.masked) == (2, 1, 1, 1, 2)
    assert production.week == production.day
    text = text_of(answer)
    assert "OpenTelemetry spans, REST" in text
    assert "No telemetry yet" not in text


def test_the_day_and_the_week_are_told_apart(lena: Client, desk: Agent) -> None:
    report(desk, {})
    row = Intake.objects.get()
    for days, accepted in ((2, 10), (6, 100), (8, 1000)):
        row.pk, row.hour, row.accepted = None, row.hour - timedelta(days=days), accepted
        row.save()
        row.hour += timedelta(days=days)
    [found] = lena.get("/telemetry/").context["telemetry"].reports
    assert (found.day.accepted, found.week.accepted) == (1, 111)


def test_who_was_heard_long_ago_and_who_never(lena: Client, desk: Agent, live: Any, cast: make.Cast) -> None:
    report(desk, {})
    Intake.objects.update(hour=timezone.now() - timedelta(days=30))
    reader = make.agent("night-desk", team=cast.support)
    ReadCount.objects.create(
        hour=timezone.now(),
        environment=make.environment("production"),
        agent=reader,
        skill=live.skill,
        version=Version.objects.get(),
        read="loaded",
        count=3,
    )
    make.agent("old-desk", team=cast.support, retired_at=timezone.now())
    text = text_of(lena.get("/telemetry/"))
    assert "No telemetry in seven days." in text
    assert "It reads skills from the feed, and says nothing of what comes of them." in text
    assert "old-desk" not in text


def test_a_clock_that_is_off_is_said_in_words(lena: Client, desk: Agent, cast: make.Cast) -> None:
    ahead = timezone.now() + timedelta(hours=3, seconds=20)
    report(desk, {"started_at": ahead.isoformat()})
    behind = timezone.now() - timedelta(hours=30)
    report(make.agent("slow-desk", team=cast.support), {"started_at": behind.isoformat()})
    text = text_of(lena.get("/telemetry/"))
    assert "The agent&#x27;s clock is 3 h ahead." in text
    assert "It came in 30 h after it ended" in text


def test_each_sees_the_agents_of_their_teams_and_environments(
    client: Client, cast: make.Cast, desk: Agent
) -> None:
    report(desk, {})
    report(desk, {}, environment="staging")
    other = make.agent("night-desk", team=cast.support)
    report(other, {})
    make.grant(cast.nora, Role.ANALYST, environment=make.environment("staging"))

    def seen(user: Any) -> set[tuple[str, str]]:
        client.force_login(user)
        reports = client.get("/telemetry/").context["telemetry"].reports
        return {(one.agent.name, one.environment.name) for one in reports}

    own = {("front-desk", "production"), ("front-desk", "staging")}
    assert seen(cast.ines) == own
    assert seen(cast.sven) == {("night-desk", "production")}
    assert seen(cast.nora) == {("front-desk", "staging")}
    assert seen(cast.ada) == seen(cast.lena) == {*own, ("night-desk", "production")}
    client.force_login(cast.ravi)
    answer = client.get("/telemetry/")
    assert answer.status_code == 403
    assert "You do not see what comes in" in text_of(answer)


def test_an_agent_leads_to_its_traces_or_to_its_page_where_traces_are_not_read(
    client: Client, cast: make.Cast, desk: Agent
) -> None:
    report(desk, {})
    for user, address in (
        (cast.lena, "/traces/?agent=front-desk&amp;environment=production"),
        (cast.ada, "/agents/front-desk/"),
    ):
        client.force_login(user)
        content = client.get("/telemetry/").content.decode()
        assert f'<a class="name" href="{address}"' in content
        assert client.get(address.replace("&amp;", "&")).status_code == 200


def test_a_silent_agent_leads_to_its_page_for_who_may_read_that(
    client: Client, cast: make.Cast, desk: Agent
) -> None:
    for user, leads in ((cast.ines, True), (cast.ada, True), (cast.lena, False)):
        client.force_login(user)
        content = client.get("/telemetry/").content.decode()
        assert "front-desk" in content
        assert ('href="/agents/front-desk/"' in content) is leads
        assert (client.get("/agents/front-desk/").status_code == 200) is leads


def test_the_navigation_leads_there(client: Client, cast: make.Cast) -> None:
    for user, leads in ((cast.lena, True), (cast.ada, True), (cast.ravi, False)):
        client.force_login(user)
        assert ('href="/telemetry/"' in text_of(client.get("/"))) is leads
