"""Commands in instructions and scripts that fetch, hide, run or destroy."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import partial

from catalog.bundles.findings import Finding
from catalog.bundles.rules import MAX_PER_RULE, Rule, Rules
from catalog.bundles.texts import Text

_SHELL = r"(?:/(?:usr/)?(?:local/)?bin/)?(?:env\s)?(?:ba|z|da|k|fi|c)?sh\b"
# With -m, -c, -e and their like the program is named or given, and the pipe brings only data.
_INTERPRETER = rf"(?:{_SHELL}|(?:python[\d.]{{0,4}}|node|perl|ruby|php)\b(?!\s{{1,3}}-\w*[mcenpr])|(?:pwsh|powershell)\b)"
_FETCH = r"(?:curl|wget|fetch|http|iwr|irm|invoke-webrequest|invoke-restmethod|\bnc)\b"
# A pipe; in a table of Markdown it is written with a backslash.
_PIPE = rf"\\?\|&?\s{{0,4}}(?:sudo\s(?:-\w+\s){{0,3}})?{_INTERPRETER}(?!\s?[.:=\w])"
_RUN_BY_PIPE = rf"\|&?\s{{0,4}}(?:sudo\s|{_INTERPRETER}|iex\b|invoke-expression\b)"
_INSTALL_MESSAGE = "a download is run at once, before anybody could read it."
_INSTALL_HINT = "Pin the download to a version and a digest, or put the script into the bundle."
_OBFUSCATED_MESSAGE = "an encoded command is decoded and run, so that nobody can read what it does."
_OBFUSCATED_HINT = "Write the command in plain text."
_BINARY_MESSAGE = "the reader is sent to download a program or a locked archive that no scan can look into."
_BINARY_HINT = (
    "Name a package of a registry, or a source that can be built; never an archive with a password."
)
_DESTROY_MESSAGE = "this command destroys what lies outside the skill."
_DESTROY_HINT = "Limit the command to files that the skill itself has made."


_LINE = 600
"""How far a pattern that runs along its line may reach, in characters."""


def _rule(
    code: str,
    message: str,
    hint: str,
    anchors: str,
    pattern: str,
    reach: int = 0,
    needs: str = "",
    inside: tuple[str, ...] = (),
) -> Rule:
    """A warning; anchors and needs are parted by `~`, and inside are signs before a fetch."""
    return Rule(
        code,
        "warning",
        tuple(anchors.split("~")),
        re.compile(pattern, re.IGNORECASE),
        message,
        hint,
        reach,
        needs=tuple(needs.split("~")) if needs else (),
        inside={mark: re.compile(rf"{re.escape(mark)}[\s?]?{_FETCH}") for mark in inside},
        # What may run on along its line runs on to a pipe.
        ending=re.compile(_RUN_BY_PIPE, re.IGNORECASE) if reach else None,
    )


_install = partial(_rule, "remote-code-install", _INSTALL_MESSAGE, _INSTALL_HINT)
_obfuscated = partial(_rule, "obfuscated-code", _OBFUSCATED_MESSAGE, _OBFUSCATED_HINT)
_destroy = partial(_rule, "destructive-command", _DESTROY_MESSAGE, _DESTROY_HINT)

# The host ends the first part at once, and no second scheme fits: nothing is tried twice.
_DOWNLOAD = r"https?://[\w.-]{1,100}(?=[:/])(?::\d{1,5})?[\w.~/?#\[\]@!$&'()*+,;=%-]{0,250}?"
_PROGRAM = r"\.(?:exe|msi|scr|bat|vbs|hta|pif|dmg|pkg|appimage|apk)\b"

RULES = Rules(
    (
        _install("curl~wget", rf"(?:curl|wget)\b[^\n]*?{_PIPE}", _LINE),
        _install(
            "iwr~irm~invoke-webrequest~invoke-restmethod~downloadstring",
            r"\w+[^\n]*?\|\s{0,4}(?:iex|invoke-expression)\b",
            _LINE,
            "iex~invoke-expression",
        ),
        _install(
            "iex~invoke-expression",
            r"(?:iex|invoke-expression)\b[^\n]{0,40}?(?:downloadstring|\biwr\b|\birm\b|invoke-web|invoke-rest)",
        ),
        _install(
            "exec(~eval(",
            r"(?:exec|eval)\(\s{0,3}(?:\w{1,20}[.(]){0,3}(?:urlopen|requests\.get|httpx\.get|urllib)",
        ),
        _install("mshta~regsvr32~certutil", r"(?:mshta|regsvr32|certutil)(?:\.exe)?\b[^\n]{0,60}?https?:"),
        _obfuscated("base64", rf"base64(?:\.exe)?\s{{1,3}}(?:-d|-di|--decode)\b[^\n]*?{_PIPE}", _LINE),
        _obfuscated(
            "openssl~xxd -r", rf"(?:openssl\s(?:enc\s-)?(?:base64\s)?-d|xxd\s-r)[^\n]*?{_PIPE}", _LINE
        ),
        _obfuscated(
            "eval~sh -c",
            r"(?:eval|sh\s-c)\s{1,3}['\"]?(?:\$\(|`)[^\n]{0,100}?base64\s{1,3}(?:-d|--decode)",
            needs="base64",
        ),
        _obfuscated(
            "powershell~pwsh",
            r"(?:powershell|pwsh)(?:\.exe)?\s[^\n]{0,60}?-e(?:nc|ncodedcommand|c)?\s{1,3}[A-Za-z0-9+/=]{24}",
        ),
        _obfuscated(
            "exec(~eval(",
            r"(?:exec|eval)\(\s{0,3}(?:(?:compile|bytes|str|__import__)\(?['\"]?\s{0,3}){0,2}(?:\w{1,20}['\")]{0,3}\.){0,2}"
            r"(?:b64decode|b32decode|b16decode|a85decode|unhexlify|fromhex|decompress|atob|unescape)\s{0,3}\(",
        ),
        _obfuscated(
            "eval(", r"eval\(\s{0,3}(?:buffer\.from\([^\n]{0,100}?['\"]base64|string\.fromcharcode\()"
        ),
        _obfuscated(
            "frombase64string",
            r"frombase64string[^\n]{0,200}?(?:\biex\b|invoke-expression|\.invoke\()",
            needs="base64",
        ),
        _destroy(
            "rm -",
            r"rm\s{1,3}(?=[^\n]{0,30}?-\w{0,4}r)(?:-{1,2}[\w-]{1,20}\s{1,3}){1,5}"
            r"[\"']?(?:/|~/?|\$HOME/?|\$\{HOME\}/?)\*?[\"']?(?=\s|$|[;&|`)])",
        ),
        _destroy("mkfs", r"mkfs(?:\.\w{2,6})?\s{1,3}(?:-\w{1,4}\s{1,3}){0,4}/dev/\w"),
        _destroy("dd if", r"dd\s{1,3}(?:\w{2,6}=\S{1,60}\s{1,3}){0,5}of=/dev/(?:sd|nvme|hd|disk|vd)"),
        _destroy(":(){", r":\(\)\{\s?:\|:&\s?\};:"),
        _destroy("format c:~del /", r"(?:format\s{1,3}c:|del\s{1,3}(?:/[fsq]\s{1,3}){2,3}c:\\)"),
        _install(
            "bash~sh -c~eval~source~. <(~python",
            rf"(?:{_SHELL}|eval|source|\.|python3?)\s{{1,3}}(?:-\w{{1,4}}\s{{1,3}}){{0,3}}['\"]?(?:<\(|\$\(|`)\s?{_FETCH}",
            inside=("<(", "$(", "`"),
        ),
    )
)

_DYNAMIC = Rule(
    "dynamic-shell-context",
    "warning",
    ("!`",),
    re.compile(r"(?:(?<=[\s:(\[|>*-])|(?<![\s\S]))!`[^`\n]{2,400}`"),
    "a command runs as soon as the skill is loaded, before anybody agreed to it.",
    "Tell the agent to run the command when the skill needs it.",
)
_ARCHIVE_LINK = Rule(
    "external-binary-download",
    "warning",
    ("http://", "https://"),
    re.compile(rf"{_DOWNLOAD}\.(?:zip|rar|7z|tar\.gz|tgz|tar)\b", re.IGNORECASE),
    _BINARY_MESSAGE,
    _BINARY_HINT,
    needs=("://",),
)
_PASSWORD_GIVEN = Rule(
    "external-binary-download",
    "warning",
    ("passw", "passphrase", "passcode", "парол", "密码", "密碼", "口令"),
    re.compile(
        r"(?:passw(?:or)?d|passphrase|passcode|парол[ьюея]м?|密码|密碼|口令)[^\n]{0,8}?[:=`'\"«：]",
        re.IGNORECASE,
    ),
    _BINARY_MESSAGE,
    _BINARY_HINT,
)
_NEAR = 300
"""Characters between an archive's address and its password; a few lines of instructions."""

_PROGRAM_LINK = Rule(
    "external-binary-download",
    "warning",
    ("http://", "https://"),
    re.compile(rf"{_DOWNLOAD}{_PROGRAM}(?![/\w-]|\.\w)", re.IGNORECASE),
    _BINARY_MESSAGE,
    _BINARY_HINT,
    needs=("://",),
)
_NETWORK = Rule(
    "network-command",
    "advice",
    (
        "curl ",
        "wget ",
        "requests.",
        "urllib.request",
        "httpx.",
        "fetch(",
        "invoke-webrequest",
        "socket.socket",
        "nc -",
    ),
    re.compile(
        r"(?:curl|wget)\s{1,3}[^\n]{0,160}?https?:|requests\.(?:get|post|put|delete|request|session)\(|urllib\.request"
        r"|httpx\.\w|fetch\(\s?[\"'`]https?:|invoke-webrequest\s|socket\.socket\(|nc\s-",
        re.IGNORECASE,
    ),
    "this script reaches the network.",
    "Declare the permission `network` where the skill needs it.",
)


WORDS = RULES.words | _PROGRAM_LINK.words
"""What a text is searched for before a rule is tried."""


def scan(text: Text) -> Iterator[Finding]:
    """Findings about the commands of one text; dynamic context counts in SKILL.md alone."""
    yield from RULES.findings(text)
    if _PROGRAM_LINK.may_apply(text):
        yield from _locked_archives(text)
        yield from _PROGRAM_LINK.findings(text)
    if text.name.lower() == "skill.md":
        yield from _DYNAMIC.findings(text)
    if text.path.startswith("scripts/"):
        yield from _first(_NETWORK.findings(text))


def _locked_archives(text: Text) -> Iterator[Finding]:
    """Archives whose password is told soon after their address: how malicious skills bring malware."""
    ends = sorted(match.end() for match in _ARCHIVE_LINK.matches(text))
    if not ends:
        return
    lines: set[int] = set()
    for match in _PASSWORD_GIVEN.matches(text):
        before = bisect_right(ends, match.start())
        if before and match.start() - ends[before - 1] <= _NEAR and len(lines) < MAX_PER_RULE:
            line = text.line(ends[before - 1] - 1)
            if line not in lines:
                lines.add(line)
                yield _ARCHIVE_LINK.finding(text, line)


def _first(findings: Iterator[Finding]) -> Iterator[Finding]:
    """One line is enough to tell what a whole script does."""
    for finding in findings:
        yield finding
        return
