"""What a system prompt says of the skills, and the tools that read them (spec 5.2, 5.3). Pure."""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape

# Above this many an agent chooses badly from a list (spec 1.5).
MANY = 20
# Each may stand for hundreds of skills: a short template must not become a huge text.
MOST_PLACEHOLDERS = 10


class BadTemplate(Exception):
    """A template of an agent's own cannot be filled; the text says which part, and the mend."""


@dataclass(frozen=True, slots=True)
class Advertised:
    """What is said of one skill before it is loaded; `name` is its folder name."""

    name: str
    description: str
    has_resources: bool
    has_scripts: bool

    @property
    def line(self) -> str:
        """The description in one line."""
        return " ".join(self.description.split())


def as_markdown(skills: Sequence[Advertised], *, scripts: bool) -> str:
    """The text that RAF's provider builds (spec 5.2 [R]); scripts only for an agent that runs them."""
    lines = [
        "## Available Skills",
        "",
        "Use load_skill(name) to get full instructions for any skill listed below.",
        "",
    ]
    for skill in skills:
        lines.append(f"- **{skill.name}**: {skill.line}")
        if skill.has_resources:
            lines.append(
                f'  Resources: use read_skill_resource("{skill.name}", "<path>") to read reference documents.'
            )
        if scripts and skill.has_scripts:
            lines.append(
                f'  Scripts: use run_skill_script("{skill.name}", "<path>") to execute bundled scripts.'
            )
    return "\n".join([*lines, *_many(skills)]) + "\n"


def as_xml(skills: Sequence[Advertised]) -> str:
    """The `<available_skills>` block of Agent Framework, sorted by name."""
    lines = ["<available_skills>"]
    for skill in sorted(skills, key=lambda one: one.name):
        lines += [
            "  <skill>",
            f"    <name>{escape(skill.name)}</name>",
            f"    <description>{escape(skill.line)}</description>",
            "  </skill>",
        ]
    return "\n".join([*lines, "</available_skills>"]) + "\n"


def as_json(skills: Sequence[Advertised], *, scripts: bool) -> dict[str, Any]:
    """The same as an object, with a note where there are too many to choose from."""
    listed = [
        {
            "name": skill.name,
            "description": skill.description,
            "has_resources": skill.has_resources,
            "has_scripts": scripts and skill.has_scripts,
        }
        for skill in skills
    ]
    note = _many(skills)
    return {"skills": listed, **({"note": note[-1]} if note else {})}


def fill_template(template: str, skills: Sequence[Advertised], *, scripts: bool) -> str:
    """Put the skills into a template with `{skills}` or `{0}`, `{runner_instructions}` and
    `{resource_instructions}`; braces that are meant as such are doubled.

    Raises BadTemplate for another placeholder, a stray brace, or a template without the skills.
    """
    named = _placeholders(template)
    used = set(named)
    if not used & {"skills", "0"}:
        raise BadTemplate("The template has no {skills}; the skills would be nowhere in the text.")
    unknown = sorted(used - {"skills", "0", "runner_instructions", "resource_instructions"})
    if unknown:
        raise BadTemplate(
            f"The template has {{{unknown[0]}}}, which is not known; write {{{{ and }}}} for braces of its own."
        )
    if len(named) > MOST_PLACEHOLDERS:
        raise BadTemplate(f"The template has {len(named)} placeholders; {MOST_PLACEHOLDERS} are enough.")
    has_resources = any(skill.has_resources for skill in skills)
    has_scripts = scripts and any(skill.has_scripts for skill in skills)
    block = "\n".join(
        f"  <skill>\n    <name>{escape(s.name)}</name>\n    <description>{escape(s.line)}</description>\n  </skill>"
        for s in sorted(skills, key=lambda one: one.name)
    )
    return template.format(
        block,
        skills=block,
        resource_instructions=RESOURCE_INSTRUCTIONS if has_resources else "",
        runner_instructions=RUNNER_INSTRUCTIONS if has_scripts else "",
    )


RESOURCE_INSTRUCTIONS = (
    "- Use `read_skill_resource` to read a file that the instructions name, by its listed path."
)
RUNNER_INSTRUCTIONS = (
    "- Use `run_skill_script` to run a script that the instructions name, by its listed path."
)


def _placeholders(template: str) -> list[str]:
    try:
        parts = list(string.Formatter().parse(template))
    except ValueError as fault:
        raise BadTemplate(f"The template has a stray brace ({fault}); write {{{{ or }}}} for one.") from fault
    for _, name, form, conversion in parts:
        if name is not None and (form or conversion):
            raise BadTemplate(
                f"The placeholder {{{name}}} is followed by a format; only its name may be there."
            )
    return [name for _, name, _, _ in parts if name is not None]


def _many(skills: Sequence[Advertised]) -> list[str]:
    if len(skills) <= MANY:
        return []
    return ["", f"There are {len(skills)} skills: search for the task at hand rather than reading them all."]


def tool_definitions(skills: Sequence[Advertised], *, scripts: bool) -> list[dict[str, Any]]:
    """The tools that apply (spec 5.3): loading always, resources and scripts where some skill has them."""
    tools = [
        _tool(
            "load_skill",
            "Load the full instructions of a skill.",
            {"skill_name": SKILL_NAME},
            ["skill_name"],
        )
    ]
    if any(skill.has_resources for skill in skills):
        tools.append(
            _tool(
                "read_skill_resource",
                "Read a file that belongs to a skill, such as a reference or a template.",
                {
                    "skill_name": SKILL_NAME,
                    "resource_name": {
                        "type": "string",
                        "description": "The path of the file, as the skill names it.",
                    },
                },
                ["skill_name", "resource_name"],
            )
        )
    if scripts and any(skill.has_scripts for skill in skills):
        tools.append(
            _tool(
                "run_skill_script",
                "Run a script that belongs to a skill.",
                {
                    "skill_name": SKILL_NAME,
                    "script_name": {
                        "type": "string",
                        "description": "The path of the script, as the skill names it.",
                    },
                    "args": {
                        "type": ["object", "array", "null"],
                        "description": "Named arguments, or a list of words; none where absent.",
                        "default": None,
                    },
                },
                ["skill_name", "script_name"],
            )
        )
    return tools


SKILL_NAME: Mapping[str, Any] = {"type": "string", "description": "The name of the skill, as it is listed."}


def _tool(name: str, description: str, properties: Mapping[str, Any], required: list[str]) -> dict[str, Any]:
    return {
        "name": name,
        "description": description,
        "parameters": {
            "type": "object",
            "properties": dict(properties),
            "required": required,
            "additionalProperties": False,
        },
    }
