"""The safety scan: what in a bundle's files could harm a reader, an agent or its user (spec 1.9)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from catalog.bundles import commands, hidden_markup, hidden_text, phrases, secrets
from catalog.bundles.anchors import Anchors
from catalog.bundles.bundle import Risk, is_riskier
from catalog.bundles.files import File, Tree
from catalog.bundles.findings import Finding, error, in_order, warning
from catalog.bundles.texts import Text, decode

# The harmless string by which virus scanners are tried (eicar.org), in halves: a whole one would
# set them on this file.
_EICAR = b"X5O!P%@AP[4\\PZX54(P^)7CC)7}" + b"$EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*"

_DOTENV = re.compile(r"\.env(?:\.[\w-]+)?|[\w-]+\.env", re.IGNORECASE)
_DOTENV_SAMPLE = re.compile(r"example|sample|template|dist|default|schema", re.IGNORECASE)
_DOTENV_VALUE = re.compile(
    r"^[ \t]*(?:export[ \t]+)?[A-Za-z_]\w*[ \t]*=[ \t]*[\"']?([^\s\"'#]{3,})", re.MULTILINE
)

_TEXT = re.compile(
    r"\.(?:md|markdown|mdx|txt|rst|adoc|csv|tsv|jsonl?|ya?ml|toml|ini|cfg|conf|xml|html?|css|[mc]?js|jsx|tsx?|py|rb|pl"
    r"|php|sh|bash|zsh|fish|ps1|bat|cmd|go|rs|java|kt|c|h|cpp|cs|swift|lua|r|sql|tex|svg|env)"
)
# Their readers say more about them than that they are not UTF-8.
_READ_ELSEWHERE = frozenset(("skill.md", "manifest.yaml", "manifest.yml"))

_HIGH = frozenset(
    {
        "shell",
        "secrets",
        "native-executable",
        "remote-code-install",
        "external-binary-download",
        "obfuscated-code",
        "prompt-injection-phrase",
    }
)
_MEDIUM = frozenset(
    {"filesystem.write", "send", "broad-permission", "active-content", "dynamic-shell-context"}
)

UNDERSTATED = "risk-level-understated"
_ANCHORS = Anchors(secrets.WORDS | commands.WORDS | phrases.RULES.words)


def scan(tree: Tree) -> tuple[Finding, ...]:
    """Everything that the scan finds in the files of a bundle, worst first; never raises.

    No finding repeats what it found. The work grows with the size of the text alone.
    """
    return in_order(finding for file in tree.files for finding in scan_file(file, decode(file)))


def suggested_risk(permissions: Iterable[str], findings: Iterable[Finding]) -> Risk:
    """The risk level that permissions and findings call for; the highest wins (`docs/findings.md`)."""
    causes = {*permissions, *(finding.code for finding in findings)}
    if causes & _HIGH:
        return "high"
    return "medium" if causes & _MEDIUM else "low"


def is_understated(declared: Risk, suggested: Risk) -> bool:
    """Whether a declared risk level lies below the suggested one."""
    return is_riskier(suggested, declared)


def understated(declared: Risk | None, suggested: Risk) -> list[Finding]:
    """The warning for a risk that a publisher named below the suggested one; none where none was named."""
    if declared is None or not is_understated(declared, suggested):
        return []
    return [
        warning(
            UNDERSTATED,
            f"The bundle is declared as {declared} risk; permissions and contents suggest {suggested}.",
            f"It is treated as {suggested} risk until what calls for that is gone.",
        )
    ]


def scan_file(file: File, text: Text) -> Iterator[Finding]:
    """The findings of one file, given its text too."""
    if _EICAR in file.content:
        message = f"{file.path} holds the signature of a virus (the EICAR test string)."
        yield error("malware-signature", message, "Remove the file.", path=file.path)
    _ANCHORS.look(text)
    found = list(secrets.scan(text))
    yield from found
    if text.binary:
        return
    if not text.utf8:
        yield from _not_utf8(text)
    if not any(finding.severity == "error" for finding in found):
        yield from _dotenv(text)
    yield from hidden_text.scan(text)
    yield from commands.scan(text)
    yield from phrases.RULES.findings(text)
    yield from hidden_markup.scan(text)
    if text.given_up:
        rules = ", ".join(sorted(text.given_up))
        message = f"{text.path} was not scanned to its end for {rules}: too much in it looks alike."
        hint = "Leave generated data out of the bundle, or split the file."
        yield warning("scan-incomplete", message, hint, path=text.path)


def _not_utf8(text: Text) -> Iterator[Finding]:
    if text.name.lower() in _READ_ELSEWHERE or not _TEXT.fullmatch(text.suffix):
        return
    message = f"{text.path} is text in another encoding than UTF-8."
    yield warning(
        "text-file-not-utf8", message, "Save it as UTF-8; some agents cannot read it.", path=text.path
    )


def _dotenv(text: Text) -> Iterator[Finding]:
    """A file of settings with values, none of them a certain secret."""
    name = text.name
    if not _DOTENV.fullmatch(name) or _DOTENV_SAMPLE.search(name):
        return
    for match in _DOTENV_VALUE.finditer(text.text):
        if not secrets.is_placeholder(match[1]):
            line = text.line(match.start(1))
            message = f"{text.path}, line {line}: a file of environment settings holds values."
            hint = "Leave it out, or keep the names alone in .env.example."
            yield warning("dotenv-file", message, hint, path=text.path, line=line)
            return
