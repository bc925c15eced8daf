"""A real agent runtime reads what the feed serves: Microsoft Agent Framework's SkillsProvider."""

from __future__ import annotations

import json
import urllib.request
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from zipfile import ZipFile

import pytest
from agent_framework import AgentSession, SessionContext, SkillsProvider

from tests.chromium import run
from tests.served.instance import Instance


def fetch(url: str, token: str) -> bytes:
    """The body of an answer of the feed."""
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        body: bytes = answer.read()
    return body


@pytest.fixture(scope="module")
def skills_folder(served: Instance, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """Every bundle of production, unpacked below its folder name; and the feed's own words."""
    token = served.token("agent", "framework-bot", "--environment", "production", "--scopes", "feed")
    folder = tmp_path_factory.mktemp("skills")
    feed = json.loads(fetch(f"{served.url}/api/v1/feed", token))
    loaded = {}
    # One is switched off in the sample catalog; agents are told so, and get none of its bytes.
    off = [skill["folder"] for skill in feed["skills"] if not skill["available"]]
    assert off == ["release-notes"]
    with pytest.raises(HTTPError, match="409"):
        fetch(f"{served.url}/api/v1/feed/skills/release-notes/bundle.zip", token)
    for skill in feed["skills"]:
        name = skill["folder"]
        if name in off:
            continue
        bundle = fetch(f"{served.url}/api/v1/feed/skills/{name}/bundle.zip", token)
        with ZipFile(BytesIO(bundle)) as archive:
            archive.extractall(folder / name)
        loaded[name] = json.loads(fetch(f"{served.url}/api/v1/feed/skills/{name}", token))
    return folder, loaded


def test_every_bundle_loads_and_gives_its_instructions(
    skills_folder: tuple[Path, dict[str, Any]],
) -> None:
    folder, loaded = skills_folder
    assert len(loaded) >= 14

    instructions, contents = run(read_through_provider(folder, list(loaded)))
    for name, content in contents.items():
        assert f"<name>{name}</name>" in instructions
        assert loaded[name]["instructions"].strip() in content, name


async def read_through_provider(folder: Path, names: list[str]) -> tuple[str, dict[str, str]]:
    """What the provider puts into a system prompt, and what its tool `load_skill` answers for each name."""
    provider = SkillsProvider.from_paths(folder, disable_load_skill_approval=True)
    context = SessionContext(input_messages=[])
    await provider.before_run(agent=None, session=AgentSession(), context=context, state={})  # type: ignore[arg-type]
    load = next(tool for tool in context.tools if tool.name == "load_skill")
    contents = {}
    for name in names:
        [content] = await load.invoke(arguments={"skill_name": name})
        contents[name] = content.text
    return "\n".join(context.instructions), contents
