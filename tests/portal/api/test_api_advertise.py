"""What a system prompt says of the skills, byte for byte; templates; and the tools that apply."""

from __future__ import annotations

from typing import Any

import pytest

from catalog import advertisement
from catalog.models import Agent, Version
from tests import make
from tests.portal.api.callers import Caller, assert_problem

pytestmark = pytest.mark.django_db

# The example in the documentation of RAF's AgentSkillsProvider, with the line end that a file has.
MARKDOWN = """\
## Available Skills

Use load_skill(name) to get full instructions for any skill listed below.

- **code-review**: Review code for quality, bugs, and best practices.
  Resources: use read_skill_resource("code-review", "<path>") to read reference documents.
- **deploy**: Automated deployment to staging environments.
  Scripts: use run_skill_script("deploy", "<path>") to execute bundled scripts.
"""
XML = """\
<available_skills>
  <skill>
    <name>code-review</name>
    <description>Review code for quality, bugs, and best practices.</description>
  </skill>
  <skill>
    <name>deploy</name>
    <description>Automated deployment to staging environments.</description>
  </skill>
</available_skills>
"""
JSON = (
    b'{"skills":['
    b'{"name":"code-review","description":"Review code for quality, bugs, and best practices.",'
    b'"has_resources":true,"has_scripts":false},'
    b'{"name":"deploy","description":"Automated deployment to staging environments.",'
    b'"has_resources":false,"has_scripts":true}]}'
)


def release(cast: make.Cast, name: str, **more: Any) -> None:
    """A live skill in production."""
    make.release(make.version(name, cast=cast, **more), "production", cast=cast)


@pytest.fixture
def two(cast: make.Cast) -> None:
    """The two skills of RAF's example."""
    review = "Review code for quality, bugs, and best practices."
    release(cast, "code-review", description=review, files={"references/style.md": b"# Style\n"})
    deploy = "Automated deployment to staging environments."
    release(cast, "deploy", description=deploy, files={"scripts/run.sh": b"#!/bin/sh\ntrue\n"})


def test_markdown_is_rafs(desk: Caller, two: None) -> None:
    for query in ("?scripts=true", "?scripts=true&format=markdown", "?scripts=1&key=s-1"):
        answer = desk.get(f"feed/advertise{query}", Accept="text/plain")
        assert answer.content.decode() == MARKDOWN
        assert answer["Content-Type"] == "text/plain; charset=utf-8"
    without = desk.get("feed/advertise").content.decode()
    assert without == "".join(line for line in MARKDOWN.splitlines(True) if "Scripts:" not in line)


def test_xml(desk: Caller, two: None) -> None:
    assert desk.get("feed/advertise?format=xml", Accept="application/xml").content.decode() == XML


def test_json(desk: Caller, two: None) -> None:
    answer = desk.get("feed/advertise?format=json&scripts=true")
    assert answer.content == JSON
    assert answer["Content-Type"] == "application/json"


def test_a_format_that_is_none(desk: Caller) -> None:
    assert_problem(desk.get("feed/advertise?format=yaml"), 400, "format-unknown")


def test_nothing_to_advertise(desk: Caller) -> None:
    assert desk.get("feed/advertise?format=xml").content == b"<available_skills>\n</available_skills>\n"
    assert desk.get("feed/advertise?format=json").json() == {"skills": []}


def test_markup_is_escaped_and_lines_are_joined(desk: Caller, cast: make.Cast) -> None:
    front = "---\nname: compare\ndescription: |\n  Tells whether a < b & c.\n  Use for numbers.\n---\n\n# Compare\n"
    release(cast, "compare", files={"SKILL.md": front.encode()})
    assert "a &lt; b &amp; c. Use for" in desk.get("feed/advertise?format=xml").content.decode()
    assert "- **compare**: Tells whether a < b & c. Use" in desk.get("feed/advertise").content.decode()


def test_hidden_from_the_model_is_not_advertised(desk: Caller, cast: make.Cast, two: None) -> None:
    release(cast, "for-people", frontmatter="disable-model-invocation: true\n")
    for form in ("markdown", "xml", "json"):
        assert "for-people" not in desk.get(f"feed/advertise?format={form}").content.decode()
    assert "for-people" in desk.get("feed").content.decode()


def test_more_than_twenty_recommend_a_search(
    desk: Caller, two: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert advertisement.MANY == 20
    monkeypatch.setattr(advertisement, "MANY", 1)
    note = "There are 2 skills: search for the task at hand rather than reading them all."
    assert desk.get("feed/advertise").content.decode().endswith(f"\n\n{note}\n")
    assert desk.get("feed/advertise?format=json").json()["note"] == note


def test_a_template_is_filled(desk: Caller, two: None) -> None:
    skills = XML.removeprefix("<available_skills>\n").removesuffix("\n</available_skills>\n")
    template = "Skills {{here}}:\n{skills}\n{resource_instructions}\n{runner_instructions}\n"
    filled = desk.post("feed/advertise?scripts=true", {"template": template}, Accept="text/plain")
    text = filled.content.decode()
    assert text.startswith(f"Skills {{here}}:\n{skills}\n- Use `read_skill_resource`")
    assert "`run_skill_script`" in text
    assert "run_skill_script" not in desk.post("feed/advertise", {"template": template}).content.decode()
    assert desk.post("feed/advertise", {"template": "<{0}>"}).content.decode() == f"<{skills}>"


@pytest.mark.parametrize(
    ("template", "told"),
    [
        ("No placeholder", "has no {skills}"),
        ("{skills} {secret}", "{secret}"),
        ("{skills.__class__}", "has no {skills}"),
        ("{skills} {skills.__class__.__mro__}", "not known"),
        ("{skills} {0[0]}", "not known"),
        ("{skills!r}", "followed by a format"),
        ("{skills:>99999999}", "followed by a format"),
        ("{skills} {", "stray brace"),
        ("{skills} }", "stray brace"),
        ("{skills} {}", "not known"),
        ("{skills}" * 11, "11 placeholders"),
    ],
)
def test_a_template_that_cannot_be_filled(desk: Caller, two: None, template: str, told: str) -> None:
    answer = desk.post("feed/advertise", {"template": template})
    assert told in assert_problem(answer, 422, "template-invalid")["detail"]


@pytest.mark.parametrize("body", [{}, {"template": 5}, {"template": ""}, {"template": ["{skills}"]}, []])
def test_a_template_of_another_type(desk: Caller, body: object) -> None:
    answer = desk.post("feed/advertise", body)
    assert answer.status_code in {400, 422}


def tools(desk: Caller, query: str = "") -> dict[str, dict[str, Any]]:
    """The tools by their names."""
    return {one["name"]: one for one in desk.get(f"feed/tools{query}").json()["tools"]}


def test_tools_only_where_they_apply(desk: Caller, cast: make.Cast) -> None:
    assert list(tools(desk)) == ["load_skill"]
    release(cast, "plain")
    assert list(tools(desk, "?scripts=true")) == ["load_skill"]


def test_tools_for_resources_and_scripts(desk: Caller, two: None) -> None:
    assert list(tools(desk)) == ["load_skill", "read_skill_resource"]
    found = tools(desk, "?scripts=true&mode=semantic_tools")
    assert list(found) == ["load_skill", "read_skill_resource", "run_skill_script"]
    needed = {name: one["parameters"]["required"] for name, one in found.items()}
    assert needed == {
        "load_skill": ["skill_name"],
        "read_skill_resource": ["skill_name", "resource_name"],
        "run_skill_script": ["skill_name", "script_name"],
    }
    assert "args" in found["run_skill_script"]["parameters"]["properties"]
    assert all(one["parameters"]["type"] == "object" for one in found.values())
    assert "run_skill_script" not in tools(desk, "?scripts=false")


def test_the_template_that_the_agent_was_given(desk: Caller, refunds: Version) -> None:
    assert_problem(desk.get("feed/advertise?format=template"), 404, "template-missing")
    Agent.objects.update(
        template="You have {{these}}:\n{skills}\n{resource_instructions}{runner_instructions}"
    )
    answer = desk.get("feed/advertise?format=template")
    assert answer["Content-Type"] == "text/plain; charset=utf-8"
    text = answer.content.decode()
    assert text.startswith("You have {these}:\n  <skill>\n    <name>refund-check</name>\n")
    assert text.endswith(advertisement.RESOURCE_INSTRUCTIONS)
    with_scripts = desk.get("feed/advertise?format=template&scripts=true").content.decode()
    assert with_scripts == text + advertisement.RUNNER_INSTRUCTIONS
