"""The commands that people and scripts run: what they print, what they change, and how they end."""

from __future__ import annotations

import getpass
import json
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from catalog import blobs, journal
from catalog.models import (
    Agent,
    Blob,
    BundleFile,
    Degradation,
    Environment,
    Grant,
    JournalEntry,
    Release,
    Role,
    Skill,
    SkillSet,
    State,
    Team,
    Token,
    User,
    Version,
)
from catalog.tokens import read_token
from catalog.upkeep import find_faults
from governance.models import Call
from tests import make

pytestmark = pytest.mark.django_db


def run(*arguments: str, **options: Any) -> tuple[str, str]:
    """What a command prints: standard output and standard error."""
    out, err = StringIO(), StringIO()
    call_command(*arguments, stdout=out, stderr=err, **options)
    return out.getvalue(), err.getvalue()


def refusal(*arguments: str) -> str:
    """The sentence that a command ends with."""
    with pytest.raises(CommandError) as refused:
        run(*arguments)
    return str(refused.value)


# -- token


def test_token_of_an_agent_makes_what_is_missing_and_prints_the_token_alone() -> None:
    words = (
        "token",
        "agent",
        "front-desk",
        "--environment",
        "production",
        "--scopes",
        "feed",
        "traces:write",
    )
    out, err = run(*words)
    assert err == ""
    assert out.count("\n") == 1
    bearer = read_token(out.strip(), now=timezone.now())
    agent = Agent.objects.get()
    assert bearer is not None
    assert (bearer.agent_id, bearer.scopes) == (agent.pk, {"feed", "traces:write"})
    assert (agent.name, agent.team.slug) == ("front-desk", "agents")
    assert Environment.objects.get(pk=bearer.environment_id).name == "production"
    again, _ = run(*words)
    assert again != out
    assert (Agent.objects.count(), Team.objects.count(), Token.objects.count()) == (1, 1, 2)
    assert list(JournalEntry.objects.values_list("verb", flat=True)) == [
        "team.create", "agent.create", "token.issue", "token.issue",
    ]  # fmt: skip
    assert JournalEntry.objects.filter(origin=f"command of {getpass.getuser()}").count() == 4


def test_token_of_a_user_makes_account_role_and_team() -> None:
    out, _ = run(
        "token", "user", "ines", "--role", "publisher", "--team", "payments", "--scopes", "publish,read"
    )
    bearer = read_token(out.strip(), now=timezone.now())
    user = User.objects.get()
    assert bearer is not None
    assert (bearer.user_id, bearer.scopes) == (user.pk, {"publish", "read"})
    assert not user.has_usable_password()
    grant = Grant.objects.get()
    assert (grant.user, grant.role, grant.team, grant.environment) == (
        user,
        "publisher",
        Team.objects.get(),
        None,
    )
    run("token", "user", "ines", "--role", "publisher", "--team", "payments", "--scopes", "publish")
    assert (User.objects.count(), Grant.objects.count(), Team.objects.count()) == (1, 1, 1)


def test_a_token_leaves_an_account_that_is_there_as_it_is() -> None:
    cast = make.cast()
    before = (User.objects.count(), Grant.objects.count())
    run("token", "user", "ines", "--scopes", "read")
    cast.ines.refresh_from_db()
    assert cast.ines.check_password(make.PASSWORD)
    assert before == (User.objects.count(), Grant.objects.count())


def test_an_administrator_is_one_of_everything() -> None:
    run("token", "user", "root", "--role", "admin", "--team", "platform", "--scopes", "admin")
    grant = Grant.objects.get()
    assert (grant.role, grant.team) == (Role.ADMIN, None)
    assert Team.objects.get().slug == "platform"


@pytest.mark.parametrize(("words", "days"), [((), 90), (("--days", "1"), 1), (("--days", "365"), 365)])
def test_days_of_a_token(words: tuple[str, ...], days: int) -> None:
    run("token", "user", "ines", "--scopes", "read", *words)
    assert abs(Token.objects.get().expires_at - timezone.now() - timedelta(days=days)) < timedelta(minutes=1)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("agent", "bot", "--environment", "nowhere", "--scopes", "feed"),
            "There is no environment nowhere; there are development, staging, production.",
        ),
        (
            ("agent", "bot", "--environment", "production", "--scopes", "feed", "publish"),
            "The scopes of this token are feed, traces:write, evaluations:write; publish was asked for.",
        ),
        (
            ("user", "ines", "--scopes", "everything"),
            "The scopes of this token are read, publish, release, traces:read, evaluations:write, admin; everything was asked for.",
        ),
        (("user", "ines", "--scopes", ","), None),
        (
            ("user", "ines", "--scopes", "read", "--days", "0"),
            "A token lives 1 to 365 days; 0 was asked for.",
        ),
        (
            ("user", "ines", "--scopes", "read", "--days", "400"),
            "A token lives 1 to 365 days; 400 was asked for.",
        ),
        (
            ("agent", "front desk", "--environment", "production", "--scopes", "feed"),
            "front desk is no name of an agent; use at most 64 letters, digits, - and _.",
        ),
        (("user", "two words", "--scopes", "read"), None),
        (
            ("user", "ines", "--team", "???", "--scopes", "read"),
            "'???' is no name of a team; use at most 64 of a-z, 0-9, - and _.",
        ),
        (("user", "ines", "--role", "king", "--scopes", "read"), None),
        (("agent", "bot", "--scopes", "feed"), None),
    ],
)
def test_a_token_that_cannot_be_made_is_one_sentence_and_leaves_nothing(
    words: tuple[str, ...], said: str | None
) -> None:
    text = refusal("token", *words)
    assert said is None or text == said
    assert "\n" not in text
    assert not any(model.objects.exists() for model in (User, Team, Agent, Token, JournalEntry))


def test_a_retired_agent_gets_no_token() -> None:
    make.agent("bot", team=make.team("desk"), retired_at=make.NOW)
    text = refusal("token", "agent", "bot", "--environment", "production", "--scopes", "feed")
    assert text == "The agent bot is retired; its tokens are refused."


def test_a_machine_account_without_a_name_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody() -> str:
        raise KeyError("uid not found: 4711")

    monkeypatch.setattr(getpass, "getuser", nobody)
    run("token", "user", "ines", "--scopes", "read")
    assert set(JournalEntry.objects.values_list("origin", flat=True)) == {"command"}


# -- Import


def folder(
    tmp_path: Path, name: str, *, inside: str = "skills", body: str = make.BODY, version: str = "1.0.0"
) -> Path:
    """A skill in a local folder."""
    place = tmp_path / inside / name
    place.mkdir(parents=True)
    (place / "SKILL.md").write_bytes(make.skill_md(name, version=version, body=body))
    return place


def ended(*arguments: str) -> tuple[int, str]:
    """How an import ends, and what it prints."""
    out = StringIO()
    try:
        call_command("import_skills", *arguments, stdout=out)
    except SystemExit as end:
        return int(str(end.code)), out.getvalue()
    return 0, out.getvalue()


def test_an_import_that_runs_twice_changes_nothing_the_second_time(tmp_path: Path) -> None:
    make.cast()
    for name in ("refund-check", "order-status"):
        folder(tmp_path, name)
    words = (str(tmp_path / "skills"), "--team", "payments")
    code, out = ended(*words)
    assert code == 0
    assert out.splitlines()[-1] == "2 published."
    seen = (
        list(Version.objects.values()),
        list(Skill.objects.values()),
        journal.read_head(),
        Blob.objects.count(),
    )
    code, out = ended(*words)
    assert code == 0
    assert [line.split() for line in out.splitlines() if line[0] != " "] == [
        ["unchanged", "order-status", "1.0.0"], ["unchanged", "refund-check", "1.0.0"], ["2", "unchanged."],
    ]  # fmt: skip
    assert seen == (
        list(Version.objects.values()), list(Skill.objects.values()), journal.read_head(), Blob.objects.count(),
    )  # fmt: skip
    row = Version.objects.select_related("publisher").first()
    assert row is not None
    assert (row.publisher, row.provenance) == (None, {"form": "folder", "via": "import"})


def test_a_skill_alone_and_the_parent_of_skills(tmp_path: Path) -> None:
    make.cast()
    alone = folder(tmp_path, "refund-check", inside="one")
    folder(tmp_path, "order-status", inside="many")
    code, out = ended(str(alone), str(tmp_path / "many"), "--team", "payments", "--as", "ines")
    assert (code, out.splitlines()[-1]) == (0, "2 published.")
    assert {version.publisher.username for version in Version.objects.select_related("publisher")} == {"ines"}  # type: ignore[union-attr]


def test_a_dry_run_of_an_import_stores_nothing(tmp_path: Path) -> None:
    make.cast()
    folder(tmp_path, "refund-check")
    code, out = ended(str(tmp_path / "skills"), "--team", "payments", "--dry-run")
    assert (code, out.splitlines()[-1]) == (0, "1 checked.")
    assert not any(model.objects.exists() for model in (Skill, Blob, JournalEntry))
    assert not (tmp_path / "blobs").exists()


def test_an_import_in_json(tmp_path: Path) -> None:
    make.cast()
    folder(tmp_path, "refund-check")
    (tmp_path / "skills" / "broken").mkdir()
    (tmp_path / "skills" / "broken" / "SKILL.md").write_text("nothing")
    code, out = ended(str(tmp_path / "skills"), "--team", "payments", "--format", "json")
    told = json.loads(out)
    assert code == 1
    assert [(one["folder"], one["status"]) for one in told["results"]] == [
        ("broken", "rejected"), ("refund-check", "published"),
    ]  # fmt: skip
    assert told["results"][1]["bundle_sha256"] == Version.objects.get().bundle_sha256
    assert set(told["results"][0]["findings"][0]) >= {"code", "severity", "path", "line", "message", "hint"}
    assert told["findings"] == []


def test_of_two_folders_with_one_name_the_first_counts_and_the_other_is_told(tmp_path: Path) -> None:
    make.cast()
    folder(tmp_path, "refund-check", inside="a", body="First.\n")
    folder(tmp_path, "refund-check", inside="b", body="Second.\n")
    code, out = ended(str(tmp_path / "a"), str(tmp_path / "b"), "--team", "payments")
    assert code == 1
    assert out.splitlines()[-1] == "1 published, 1 rejected."
    assert "already holds a skill named refund-check; the first one counts." in out
    content = blobs.read_blob(BundleFile.objects.get().blob_id)
    assert content.endswith(b"First.\n")


def test_an_import_of_other_bytes_is_a_conflict(tmp_path: Path) -> None:
    make.cast()
    ended(str(folder(tmp_path, "refund-check", inside="a")), "--team", "payments")
    code, out = ended(
        str(folder(tmp_path, "refund-check", inside="b", body="Other.\n")), "--team", "payments"
    )
    assert (code, out.splitlines()[-1]) == (1, "1 conflict.")


def test_an_import_that_finds_nothing_says_so(tmp_path: Path) -> None:
    make.cast()
    (tmp_path / "empty").mkdir()
    _, out = ended(str(tmp_path / "empty"), "--team", "payments")
    assert out.splitlines()[-1] == "no skill found."
    assert not Skill.objects.exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--team", "nobody"), "There is no team nobody; there are: payments, support."),
        (("--team", "payments", "--as", "nobody"), "There is no user nobody."),
        (
            ("--team", "payments", "--as", "sven"),
            "Publishing for Payments needs the role publisher in that team.",
        ),
    ],
)
def test_an_import_that_cannot_begin_is_one_sentence(
    tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    make.cast()
    folder(tmp_path, "refund-check")
    assert refusal("import_skills", str(tmp_path / "skills"), *words) == said
    assert not Skill.objects.exists()


def test_a_folder_that_is_none_is_one_sentence(tmp_path: Path) -> None:
    make.cast()
    text = refusal("import_skills", str(tmp_path / "nowhere"), "--team", "payments")
    assert text == f"Not a folder: {tmp_path / 'nowhere'}."


# -- verify and sweep


def test_verify_says_how_much_it_checked_and_the_head() -> None:
    make.version(cast=make.cast())
    n, head = journal.read_head()
    out, err = run("verify")
    assert err == ""
    assert out == (
        "2 blobs, 1 versions, 1 entries of the audit log: all as they were written. "
        f"Head of the audit log: {n}:{head}\n"
    )
    run("verify", "--anchor", f"{n}:{head}")


def test_verify_names_each_fault_and_fails() -> None:
    row = make.version(cast=make.cast())
    blobs.delete_blob(row.artifact_id)
    JournalEntry.objects.update(actor="somebody else")
    err = StringIO()
    with pytest.raises(CommandError, match=r"^2 fault\(s\) found\.$") as failed:
        call_command("verify", stdout=StringIO(), stderr=err)
    assert failed.value.returncode == 1
    assert err.getvalue().splitlines() == [
        f"Blob {row.artifact_id} is missing from the store.",
        "The audit log does not fit together at entry 1.",
    ]


def test_verify_finds_a_log_that_was_cut() -> None:
    make.version(cast=make.cast())
    err = StringIO()
    with pytest.raises(CommandError):
        call_command("verify", anchor=f"7:{'0' * 64}", stdout=StringIO(), stderr=err)
    assert err.getvalue() == "The audit log does not fit together at entry 2.\n"
    assert (
        refusal("verify", "--anchor", "nonsense") == "The anchor reads n:hash, as an earlier run printed it."
    )


def test_sweep_says_what_it_removed() -> None:
    make.version(cast=make.cast())
    digest = "ab" * 32
    blobs.store().save(blobs.path_of(digest), blobs.ContentFile(b"left over"))
    assert run("sweep")[0] == "0 blobs and 0 stray files removed.\n"
    assert run("sweep", "--hours", "0")[0] == "0 blobs and 1 stray files removed.\n"
    assert not blobs.has_blob(digest)
    assert list(find_faults()) == []


# -- sample_data


def test_sample_data_fills_an_empty_catalog_once(client: Client) -> None:
    out, err = run("sample_data")
    assert err == ""
    accounts = "publisher, approver, approver2, analyst, admin, reader"
    assert out == f"Loading the sample data …\nSample accounts, user name and password alike: {accounts}.\n"
    everywhere, within = Grant.objects.filter(team=None), Grant.objects.exclude(team=None)
    roles = {grant.user.username: grant.role for grant in everywhere.select_related("user")}
    assert roles == {name: name.rstrip("2") for name in accounts.split(", ")}
    assert len(roles) == everywhere.count()
    assert not Grant.objects.exclude(environment=None).exists()
    # What somebody is within a team gives nobody more than they have everywhere.
    assert all(grant.role == roles[grant.user.username] for grant in within.select_related("user"))
    assert {grant.team.slug for grant in within.select_related("team") if grant.team} == {
        "engineering", "finance", "support", "workplace",
    }  # fmt: skip
    assert Grant.objects.filter(may_override=True).get().user.username == "approver2"
    for name in roles:
        assert User.objects.get(username=name).check_password(name)
        assert client.login(username=name, password=name)
    check_the_sample()
    seen = (journal.read_head(), Call.objects.count(), Version.objects.count(), User.objects.count())
    out, _ = run("sample_data")
    assert (
        out
        == f"The sample data is there already. Sample accounts, user name and password alike: {accounts}.\n"
    )
    assert seen == (journal.read_head(), Call.objects.count(), Version.objects.count(), User.objects.count())


def check_the_sample() -> None:
    """Everything that the first pages show is there, and everything adds up."""
    states = set(Release.objects.values_list("state", flat=True))
    assert states >= {
        State.LIVE, State.CANARY, State.PROPOSED, State.REJECTED, State.WITHDRAWN, State.ROLLED_BACK,
        State.SUPERSEDED,
    }  # fmt: skip
    for environment in Environment.objects.all():
        assert Release.objects.filter(environment=environment, state=State.LIVE).exists()
    assert Skill.objects.count() >= 15
    assert Agent.objects.exists()
    assert Call.objects.filter(outcome="error").exists()
    [off] = Degradation.objects.filter(restored_at=None).select_related("skill", "fallback")
    assert (off.skill.name, off.fallback and off.fallback.name) == ("release-notes", "sync-notes")
    [going] = Release.objects.exclude(next_step_at=None)
    assert (going.state, going.percent) == (State.CANARY, 25)
    assert going.next_step_at
    assert going.next_step_at > timezone.now()
    assert not Version.objects.filter(publisher=None).exists()
    assert not JournalEntry.objects.filter(at__gt=timezone.now()).exists()
    assert list(find_faults()) == []


@pytest.mark.parametrize(
    "own",
    [
        lambda: make.user("root", is_superuser=True),
        lambda: make.team("payments"),
        lambda: SkillSet.objects.create(slug="desk", name="Desk"),
        lambda: run("token", "agent", "bot", "--environment", "production", "--scopes", "feed"),
    ],
)
def test_sample_data_leaves_a_catalog_of_somebody_alone(own: Any) -> None:
    own()
    models = (User, Team, Agent, Skill, SkillSet, Token, JournalEntry, Grant, Call)
    seen = [model.objects.count() for model in models]
    out, err = run("sample_data")
    assert (out, err) == ("This catalog has data of its own; the sample data is left out.\n", "")
    assert seen == [model.objects.count() for model in models]
