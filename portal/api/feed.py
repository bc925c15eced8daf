"""The feed: what an agent is served in the environment of its token (contract, Feed)."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.http import HttpRequest, HttpResponse, QueryDict
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from catalog.advertisement import (
    Advertised,
    as_json,
    as_markdown,
    as_xml,
    fill_template,
    tool_definitions,
)
from catalog.models import Agent
from catalog.resolution import Feed, feed_of
from catalog.snapshots import Served
from governance.models import ReadCount
from governance.usage import count_reads
from portal.api.authentication import bearer_of
from portal.api.described import described
from portal.api.endpoints import endpoint
from portal.api.errors import Problem
from portal.api.examples import feed as examples
from portal.api.fields import Fields
from portal.api.rendering import as_json as render_json
from portal.downloads import matches_etag, not_modified

LONGEST_KEY = 300
KEY = {"key": "A session or end user, for gray releases; the agent itself where absent."}
SCRIPTS = OpenApiParameter("scripts", bool, description="Whether the agent runs scripts.")
FORMAT = OpenApiParameter("format", str, enum=["markdown", "xml", "json", "template"])


@described(
    "feed",
    "Every skill that the agent is served, its dependencies first.",
    answers={200: "Feed", 304: ""},
    query={**KEY, "fields": "Comma-separated names of fields; all where absent."},
    examples=examples.FEED,
)
@endpoint({"GET": "feed"})
def feed(request: Request) -> HttpResponse:
    """Every skill that the agent is served."""
    return list_all(request, asked_feed(request), agent_of(request), _fields(request))


def list_all(
    request: HttpRequest | Request, seen: Feed, agent_id: UUID, fields: Sequence[str] = ()
) -> HttpResponse:
    """The answer that lists the feed, or that it is not modified; the reads of the agent are counted."""
    if matches_etag(request, seen.etag):
        return _assigned(not_modified(seen.etag), seen)
    for ids in seen.counted_ids:
        count(request, seen, agent_id, ids, ReadCount.Read.ADVERTISED)
    answer = HttpResponse(_body(seen, fields), content_type="application/json")
    answer["ETag"] = seen.etag
    answer["Cache-Control"] = "private, no-cache"
    return _assigned(answer, seen)


@described(
    "feed_advertise",
    "The text for a system prompt; as `template`, the one that the agent was given in the portal.",
    answers={200: "Advertised"},
    files=("text/plain",),
    problems=(400, 404),
    query=KEY,
    parameters=[SCRIPTS, FORMAT],
)
@described(
    "feed_template",
    "Fill a template of the agent's own; {skills}, {resource_instructions} and {runner_instructions}.",
    method="POST",
    sent={"application/json": "Template"},
    answers={},
    files=("text/plain",),
    problems=(400, 415, 422),
    query=KEY,
    parameters=[SCRIPTS],
    examples=examples.ADVERTISE,
)
@endpoint({"GET": "feed", "POST": "feed"}, any_type=True)
def advertise(request: Request) -> HttpResponse:
    """The text for a system prompt."""
    seen = asked_feed(request)
    skills, scripts = [_advertised(one) for one in seen.advertised], _flag(request, "scripts")
    if request.method == "POST":
        answer = _text(fill_template(_template(request), skills, scripts=scripts))
    else:
        answer = _as_asked(request, skills, scripts)
    count(request, seen, agent_of(request), seen.advertised_ids, ReadCount.Read.ADVERTISED)
    return _assigned(answer, seen)


def _template(request: Request) -> str:
    fields = Fields(request.data)
    template = fields.text("template", needed=True)
    fields.check()
    return template


def _own_template(agent_id: UUID) -> str:
    template = Agent.objects.values_list("template", flat=True).get(pk=agent_id)
    if not template:
        raise Problem("template-missing", "The agent has no template of its own.", status=404)
    return template


def _as_asked(request: Request, skills: list[Advertised], scripts: bool) -> HttpResponse:
    form = request.query_params.get("format", "markdown")
    if form == "json":
        return HttpResponse(render_json(as_json(skills, scripts=scripts)), content_type="application/json")
    if form == "template":
        return _text(fill_template(_own_template(agent_of(request)), skills, scripts=scripts))
    if form not in {"markdown", "xml"}:
        raise Problem("format-unknown", "format is markdown, xml, json or template.")
    return _text(as_markdown(skills, scripts=scripts) if form == "markdown" else as_xml(skills))


@described(
    "feed_tools",
    "The tools that apply to what the agent is served.",
    answers={200: "Tools"},
    query={**KEY, "mode": "Of a session; not used without one."},
    parameters=[SCRIPTS],
    examples=examples.TOOLS,
)
@endpoint({"GET": "feed"})
def tools(request: Request) -> HttpResponse:
    """The tools that apply."""
    seen = asked_feed(request)
    skills = [_advertised(one) for one in seen.served.values() if one.item["available"]]
    body = {"tools": tool_definitions(skills, scripts=_flag(request, "scripts"))}
    return _assigned(HttpResponse(render_json(body), content_type="application/json"), seen)


def asked_feed(request: Request) -> Feed:
    """What the agent of the request is served; raises Problem for who is no agent."""
    environment_id = bearer_of(request).environment_id
    if environment_id is None:
        raise Problem("agent-token-needed", "The feed is read with the token of an agent.", status=403)
    key = key_of(request.query_params)
    return feed_of(agent_id=agent_of(request), environment_id=environment_id, key=key)


def agent_of(request: Request) -> UUID:
    """The agent whose token the request bears; raises Problem for who is none."""
    agent_id = bearer_of(request).agent_id
    if agent_id is None:
        raise Problem("agent-token-needed", "The feed is read with the token of an agent.", status=403)
    return agent_id


def key_of(query: QueryDict) -> str:
    """The stickiness key of a request."""
    return query.get("key", "")[:LONGEST_KEY]


def count(
    request: HttpRequest | Request,
    seen: Feed,
    agent_id: UUID,
    version_ids: tuple[str, ...],
    read: ReadCount.Read,
) -> None:
    """Count that the agent read these versions; a HEAD reads nothing that an agent could use."""
    if request.method != "HEAD" and version_ids:
        count_reads(
            environment_id=seen.environment_id,
            agent_id=agent_id,
            version_ids=version_ids,
            read=read,
            now=timezone.now(),
        )


def _advertised(one: Served) -> Advertised:
    item = one.item
    return Advertised(one.folder, item["description"], item["has_resources"], item["has_scripts"])


def _fields(request: Request) -> list[str]:
    text = request.query_params.get("fields", "")
    return [name for name in text.split(",") if name]


def _body(seen: Feed, fields: Sequence[str]) -> bytes:
    """The list as it was put together once, unless it is cut to some fields."""
    if not fields:
        return seen.body
    items = (one.item for one in seen.served.values())
    skills = [{name: item[name] for name in fields if name in item} for item in items]
    return render_json({"environment": seen.environment, "revision": seen.revision, "skills": skills})


def _flag(request: Request, name: str) -> bool:
    return request.query_params.get(name, "").lower() in {"1", "true", "yes"}


def _text(text: str) -> HttpResponse:
    return HttpResponse(text, content_type="text/plain; charset=utf-8")


def _assigned(answer: HttpResponse, seen: Feed) -> HttpResponse:
    """Name the arm of each gray release that the caller is in."""
    if seen.assignment:
        answer["X-Quartermaster-Assignment"] = seen.assignment
    return answer
