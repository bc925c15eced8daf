"""The sample data that is shipped: skills that read well, and a plan that speaks only of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from catalog.bundles.bundle import PERMISSIONS, RISKS, STABILITIES
from catalog.bundles.files import File, Limits, Tree
from catalog.bundles.language import language_of
from catalog.bundles.reading import read_bundle
from catalog.bundles.safety import suggested_risk
from catalog.semver import parse, precedence_key

SAMPLES = Path(__file__).parents[2] / "catalog" / "samples"
FOLDERS = sorted(path for path in (SAMPLES / "skills").glob("*/*/*") if path.is_dir())
PLAN: dict[str, Any] = yaml.load((SAMPLES / "plan.yaml").read_text("utf-8"), yaml.BaseLoader)
STAGES = {"intent", "selection", "parameters", "permission", "execution", "output"}
USERS = {"publisher", "approver", "approver2", "analyst", "admin", "reader"}
ENVIRONMENTS = ("development", "staging", "production")
VERSIONS = {(path.parent.name, path.name) for path in FOLDERS}


def frontmatter(folder: Path) -> dict[str, Any]:
    """The frontmatter of SKILL.md with every scalar as text; empty for a tool skill."""
    file = folder / "SKILL.md"
    if not file.exists():
        return {}
    values: dict[str, Any] = yaml.load(file.read_text("utf-8").split("---\n")[1], yaml.BaseLoader)
    return values


def manifest(folder: Path) -> dict[str, Any]:
    """The manifest, typed by YAML; empty where there is none."""
    file = folder / "manifest.yaml"
    return yaml.safe_load(file.read_text("utf-8")) if file.exists() else {}


def named(folders: list[Path]) -> set[str]:
    return {folder.parent.name for folder in folders}


@pytest.fixture(scope="module")
def languages() -> dict[str, str]:
    found = {}
    for folder in FOLDERS:
        description = frontmatter(folder).get("description") or manifest(folder)["description"]
        found[folder.parent.name] = language_of(description)
    return found


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_name_and_version_are_those_of_the_folders(folder: Path) -> None:
    head, tool = frontmatter(folder), manifest(folder)
    assert head or tool
    if head:
        assert head["name"] == folder.parent.name
        assert head["metadata"]["version"] == folder.name
        assert f'  version: "{folder.name}"\n' in (folder / "SKILL.md").read_text("utf-8")
    if tool:
        assert tool["name"].replace(".", "-").replace("_", "-") == folder.parent.name
        assert tool["version"] == folder.name
    if head and tool:
        assert head["description"] == tool["description"]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_the_reader_has_nothing_against_it(folder: Path) -> None:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    files = tuple(File(path.relative_to(folder).as_posix(), path.read_bytes()) for path in paths)
    ordered = tuple(sorted(files, key=lambda file: file.path.encode()))
    bundle = read_bundle(Tree(folder.parent.name, ordered), limits=Limits())
    found = {finding.code for finding in bundle.findings if finding.severity != "advice"}
    # One skill shows what a report looks like.
    showcase = {"frontmatter-unknown-key", "broken-reference", "remote-image"}
    assert found == (showcase if folder.parent.name == "visitor-welcome" else set())
    assert not bundle.refused
    assert {f.code for f in bundle.findings if f.severity == "advice"} <= {
        "test-cases-few", "schema-many-required",
    }  # fmt: skip
    version = next(v for v in PLAN["skills"][bundle.folder]["versions"] if v["version"] == bundle.version)
    declared = bundle.manifest.risk_level if bundle.manifest else version["risk"]
    needs = suggested_risk(version.get("permissions", []), bundle.findings)
    assert RISKS.index(declared) >= max(RISKS.index(needs), RISKS.index(bundle.suggested_risk))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_a_body_is_twenty_to_eighty_lines(folder: Path) -> None:
    if (folder / "SKILL.md").exists():
        body = (folder / "SKILL.md").read_text("utf-8").split("---\n", 2)[2]
        assert 20 <= len(body.splitlines()) <= 80


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_scripts_name_their_interpreter(folder: Path) -> None:
    for script in (folder / "scripts").glob("*"):
        assert script.read_bytes().startswith(b"#!"), script.name


@pytest.mark.parametrize(
    "folder", [f for f in FOLDERS if manifest(f)], ids=lambda path: f"{path.parent.name}-{path.name}"
)
def test_a_suite_suits_its_schema(folder: Path) -> None:
    tool = manifest(folder)
    schema = Draft202012Validator(tool["input_schema"])
    suite = folder / tool["test_suite"]
    for file in [suite] if suite.is_file() else sorted(suite.iterdir()):
        cases = yaml.safe_load(file.read_text("utf-8"))["cases"]
        assert len(cases) >= 3
        for case in cases:
            schema.validate(case["input"])
            assert case["expect"]


def test_there_are_enough_skills_of_each_kind(languages: dict[str, str]) -> None:
    names = named(FOLDERS)
    assert len(names) >= 16
    assert [sum(language == wanted for language in languages.values()) for wanted in ("zh", "ru")] == [3, 2]
    assert len(named([f for f in FOLDERS if manifest(f)])) >= 4
    assert named([f for f in FOLDERS if not frontmatter(f)]) == {"web-search"}
    assert "billing-refund" in named([f for f in FOLDERS if frontmatter(f) and "run" in manifest(f)])
    assert named([f for f in FOLDERS if frontmatter(f).get("disable-model-invocation") == "true"])
    assert named([f for f in FOLDERS if "allowed-tools" in frontmatter(f)])
    for part in ("references", "assets", "scripts"):
        assert len(named([f for f in FOLDERS if (f / part).is_dir()])) >= 3


def test_two_skills_have_a_third_version() -> None:
    counts = [sum(name == skill for skill, _ in VERSIONS) for name in named(FOLDERS)]
    assert sorted(counts)[-2:] == [3, 3]
    assert max(counts) == 3


def test_dependencies_are_among_the_samples() -> None:
    wanted = [pair for f in FOLDERS for pair in manifest(f).get("dependencies", {}).items()]
    assert wanted
    assert all((name.replace(".", "-"), version) in VERSIONS for name, version in wanted)


def test_the_plan_publishes_every_version_once() -> None:
    planned = [(name, v["version"]) for name, skill in PLAN["skills"].items() for v in skill["versions"]]
    assert sorted(planned) == sorted(VERSIONS)
    for name, skill in PLAN["skills"].items():
        assert (SAMPLES / "skills" / skill["team"] / name).is_dir()
        assert skill["team"] in PLAN["teams"]
        keys = [precedence_key(v["version"]) for v in skill["versions"]]
        assert keys == sorted(keys)


def test_what_skill_md_cannot_name_stands_in_the_plan() -> None:
    for folder in FOLDERS:
        skill = PLAN["skills"][folder.parent.name]
        version = next(v for v in skill["versions"] if v["version"] == folder.name)
        assert version["notes"]
        if manifest(folder):
            assert not {"risk", "permissions", "stability"} & version.keys()
        else:
            assert version["risk"] in RISKS
            assert version["stability"] in STABILITIES
            assert set(version["permissions"]) <= set(PERMISSIONS)
            assert skill["tags"]
    risky = [v for s in PLAN["skills"].values() for v in s["versions"] if v.get("risk") == "high"]
    assert any({"shell", "secrets"} & set(v["permissions"]) for v in risky)


def test_sets_and_agents_name_what_exists() -> None:
    assert len(PLAN["sets"]) == 3
    for group in PLAN["sets"].values():
        assert group["description"]
        assert set(group["skills"]) <= PLAN["skills"].keys()
    assert len(PLAN["agents"]) == 5
    for agent in PLAN["agents"].values():
        assert agent["team"] in PLAN["teams"]
        assert set(agent["environments"]) <= set(ENVIRONMENTS)
        assert set(agent.get("sets", [])) <= PLAN["sets"].keys()
        assert set(agent.get("skills", [])) <= PLAN["skills"].keys()


def test_steps_follow_publication_and_order_of_time() -> None:
    published = {
        (name, v["version"]): float(v["days_ago"])
        for name, skill in PLAN["skills"].items()
        for v in skill["versions"]
    }
    days = [float(step["days_ago"]) for step in PLAN["steps"]]
    assert days == sorted(days, reverse=True)
    for step in PLAN["steps"]:
        assert set(step.get("environments", [])) <= set(ENVIRONMENTS)
        assert {step.get("by", "approver"), *(a["by"] for a in step.get("approvals", []))} <= USERS
        if step["do"] in {"roll_back", "switch_off"}:
            assert step["reason"]
        else:
            assert published[step["skill"], step["version"]] > float(step["days_ago"])


def test_steps_end_with_one_of_each_kind() -> None:
    live, waiting = played()
    assert {step["do"] for step in PLAN["steps"]} == {
        "release", "canary", "wait", "reject", "withdraw", "roll_back", "deprecate", "switch_off",
    }  # fmt: skip
    assert ("billing-refund", "2.0.0", "production") in waiting
    assert ("database-failover", "2.0.0-rc.1", "staging") in waiting
    assert live["staging"]["web-search"] == "1.2.0"
    assert all(parse(version).prerelease is None for version in live["production"].values())
    assert len(live["development"]) == len(PLAN["skills"])


def played() -> tuple[dict[str, dict[str, str]], set[tuple[str, str, str]]]:
    """What the steps leave live in each environment, and what waits there."""
    history: dict[tuple[str, str], list[str]] = {}
    waiting = set()
    for step in PLAN["steps"]:
        for environment in step.get("environments", []):
            versions = history.setdefault((environment, step["skill"]), [])
            if step["do"] == "release":
                versions.append(step["version"])
            elif step["do"] == "roll_back":
                versions.pop()
            elif step["do"] == "wait":
                waiting.add((step["skill"], step["version"], environment))
    live: dict[str, dict[str, str]] = {environment: {} for environment in ENVIRONMENTS}
    for (environment, skill), versions in history.items():
        if versions:
            live[environment][skill] = versions[-1]
    return live, waiting


def test_a_suite_was_run_before_its_version_left_development() -> None:
    runs = {(run["skill"], run["version"]): float(run["days_ago"]) for run in PLAN["evaluations"]}
    for run in PLAN["evaluations"]:
        folder = SAMPLES / "skills" / PLAN["skills"][run["skill"]]["team"] / run["skill"] / run["version"]
        suite = folder / manifest(folder)["test_suite"]
        files = [suite] if suite.is_file() else sorted(suite.iterdir())
        cases = {case["name"] for file in files for case in yaml.safe_load(file.read_text("utf-8"))["cases"]}
        assert run["failed"] == "" or set(run["failed"]) <= cases
    for step in PLAN["steps"]:
        has_suite = "versions" not in step and (step["skill"], step.get("version")) in {
            (f.parent.name, f.name) for f in FOLDERS if manifest(f)
        }
        if has_suite and {"staging", "production"} & set(step["environments"]):
            assert runs[step["skill"], step["version"]] >= float(step["days_ago"])


def test_calls_are_of_versions_that_agents_can_receive() -> None:
    reachable: dict[str, set[tuple[str, str]]] = {environment: set() for environment in ENVIRONMENTS}
    for step in PLAN["steps"]:
        if step["do"] in {"release", "canary"}:
            for environment in step["environments"]:
                reachable[environment].add((step["skill"], step["version"]))
    for row in PLAN["calls"]:
        agent = PLAN["agents"][row["agent"]]
        assert row["environment"] in agent["environments"]
        assert set(row["candidates"]) <= PLAN["skills"].keys()
        for failure in [*row["failures"], *row.get("peak", {}).get("failures", [])]:
            assert failure["stage"] in STAGES
            assert failure.get("fallback", row["skill"]) in {row["skill"], *PLAN["skills"]}
        if row["skill"] == "null":
            assert {failure["stage"] for failure in row["failures"]} <= {"intent", "selection"}
            continue
        team = PLAN["skills"][row["skill"]]["team"]
        for version, share in row["versions"].items():
            assert 0 < float(share) <= 1
            assert (row["skill"], version) in reachable[row["environment"]]
        allowed = {
            *agent.get("skills", []),
            *(s for g in agent.get("sets", []) for s in PLAN["sets"][g]["skills"]),
        }
        assert not allowed or row["skill"] in allowed
        for kind in ("resource", "script"):
            for path in row["reads"].get(kind, {}):
                folders = [SAMPLES / "skills" / team / row["skill"] / version for version in row["versions"]]
                assert any((folder / path).is_file() for folder in folders), path


def test_inputs_of_manifest_skills_suit_their_schemas() -> None:
    rows = yaml.safe_load((SAMPLES / "plan.yaml").read_text("utf-8"))["calls"]
    checked = 0
    for row in rows:
        for version in row.get("versions", {}):
            tool = manifest(
                SAMPLES / "skills" / PLAN["skills"][row["skill"]]["team"] / row["skill"] / version
            )
            for example in row["examples"] if tool else []:
                faults = Draft202012Validator(tool["input_schema"]).iter_errors(example["parameters"])
                assert [fault.message for fault in faults] == [], (row["skill"], version)
                checked += 1
    assert checked >= 10


def test_every_field_of_a_call_can_be_made_from_the_plan() -> None:
    told = {key for row in PLAN["calls"] for key in row}
    told |= {key for row in PLAN["calls"] for example in row["examples"] for key in example}
    told |= {key for row in PLAN["calls"] for failure in row["failures"] for key in failure}
    assert told >= {
        "user_intent", "candidates", "selection_reason", "parameters", "output", "model", "tokens", "cost",
        "cache_hits", "spans", "reads", "versions", "children", "stage", "code", "retryable", "retries",
        "fallback", "replanned",
    }  # fmt: skip
    assert {failure["stage"] for row in PLAN["calls"] for failure in row["failures"]} == STAGES
    assert PLAN["tasks"]


def test_personal_data_is_invented() -> None:
    text = (SAMPLES / "plan.yaml").read_text("utf-8")
    domains = {word.split("@")[1].strip(".,;\"'}]。") for word in text.split() if "@" in word}
    assert domains == {"example.com"}
    for kind in ("4111 1111 1111 1111", "13800138000", "11010519491231002X", "DE89 3704", "203.0.113.24"):
        assert kind in text


def test_what_is_switched_off_is_live_there_with_what_stands_in() -> None:
    live, _ = played()
    off = [step for step in PLAN["steps"] if step["do"] == "switch_off"]
    assert [(step["skill"], step["environments"]) for step in off] == [("release-notes", ["production"])]
    for step in off:
        for environment in step["environments"]:
            assert {step["skill"], step["fallback"]} <= live[environment].keys()
            called = {row["skill"] for row in PLAN["calls"] if row["environment"] == environment}
            assert step["skill"] not in called


def test_a_gray_release_with_steps_is_under_way() -> None:
    [step] = [one for one in PLAN["steps"] if "steps" in one]
    assert step["do"] == "canary"
    assert step["steps"] == [step["percent"], "50", "100"]
    assert float(step["days_ago"]) < int(step["soak_minutes"]) / 60 / 24
    served = [tag for agent in PLAN["agents"].values() for tag in agent["tags"]]
    assert set(step["tags"]) <= set(served)


def test_every_team_has_members() -> None:
    assert PLAN["members"].keys() == PLAN["teams"].keys()
    assert all(set(roles) <= USERS and len(roles) == 2 for roles in PLAN["members"].values())
