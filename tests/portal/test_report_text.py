"""Reports as Markdown, and the findings behind them."""

from __future__ import annotations

from catalog.bundles.findings import Finding
from portal.findings import reasons_of, sheet_of
from portal.report_text import code, escape, markdown_of
from portal.runtimes import runtimes_shown

TEXT = b"one\ntwo ``` tick\nthree\nfour\n"


def finding(number: int = 1, severity: str = "warning", **more: object) -> Finding:
    return Finding(f"code-{number}", severity, f"Message {number}", "Mend it.", **more)  # type: ignore[arg-type]


def test_files_with_the_worst_come_first_and_lines_are_read_once() -> None:
    asked: list[str] = []

    def read(path: str) -> bytes:
        asked.append(path)
        return TEXT

    found = [
        finding(1, "advice", path="a.md", line=1),
        finding(2, "warning", path="b.md", line=4),
        finding(3, "error", path="b.md", line=2),
        finding(4, "warning", path="b.md", line=99),
    ]
    sheet = sheet_of(found, read)
    assert [file.path for file in sheet.files] == ["b.md", "a.md"]
    assert [line.number for line in sheet.files[0].items[0].lines] == [1, 2, 3]
    assert sheet.files[0].items[2].lines == ()
    assert sorted(asked) == ["a.md", "b.md"]
    assert sheet.counts == {"error": 1, "warning": 2, "advice": 1}


def test_one_severity_alone_and_what_is_left_out() -> None:
    sheet = sheet_of(
        [finding(n) for n in range(203)] + [finding(0, "advice")], lambda _: None, only="warning"
    )
    assert sheet.left_out == 3
    assert sheet_of([finding()], lambda _: None, only="other").only == ""


def test_a_file_with_a_suspected_secret_is_not_quoted() -> None:
    found = [finding(path="a", line=1), Finding("secret-suspected", "warning", "A key", path="a", line=2)]
    assert all(not item.lines for item in sheet_of(found, lambda _: TEXT).files[0].items)


def test_nothing_is_quoted_of_binary_or_huge_files() -> None:
    for content in (b"a\0b", b"x" * (1024 * 1024 + 1)):
        assert (
            sheet_of([finding(path="a", line=1)], lambda _, told=content: told).files[0].items[0].lines == ()
        )


def test_markdown_lets_nothing_act() -> None:
    told = Finding("code", "error", "<img src=x> [a](b) `c` @all #1", "Fix *it*.", "SKILL.md", 2)
    text = markdown_of("T", [("Risk", "high")], sheet_of([told], lambda _: TEXT))
    assert r"\<img src=x\> \[a\](b) \`c\` \@all \#1" in text
    assert "````text" in text
    assert ">    2  two ``` tick" in text
    assert "Fix: Fix \\*it\\*." in text


def test_escape_and_code() -> None:
    assert escape("a\nb  c") == "a b c"
    assert code("a`b``c") == "``` a`b``c ```"


def test_reasons_are_those_that_reach_the_suggested_risk() -> None:
    found = [Finding("remote-code-install", "warning", "x", path="a.sh", line=n) for n in range(1, 6)] + [
        Finding("broken-reference", "warning", "x", path="SKILL.md")
    ]
    high = reasons_of("high", ("shell", "network"), found)
    assert [(one.cause, one.more) for one in high] == [("remote-code-install", 2), ("shell", 0)]
    assert high[0].places == ("a.sh:1", "a.sh:2", "a.sh:3")
    assert reasons_of("low", ("shell",), found) == ()


def test_runtimes_in_their_order() -> None:
    stored = {"maf": {"verdict": "fails", "notes": ["No."]}, "spec": {"verdict": "loads", "notes": []}}
    assert [one.key for one in runtimes_shown(stored)] == ["spec", "maf"]
    assert runtimes_shown({}) == ()
