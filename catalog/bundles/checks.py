"""Guidance on a bundle (spec 1.5): what loads, but could serve an agent better."""

from __future__ import annotations

import re
from collections.abc import Iterator

from catalog.bundles.active_markdown import check_markup
from catalog.bundles.bundle import Manifest
from catalog.bundles.files import File, Tree
from catalog.bundles.findings import Finding, advice, warning
from catalog.bundles.names import folder_name
from catalog.bundles.references import check_references, references_of
from catalog.bundles.skillmd import SkillMd
from catalog.bundles.texts import Text, decode
from catalog.bundles.tokens import estimated_tokens

MAX_LINES = 500
MAX_BODY_TOKENS = 5000
MAX_ADVERTISEMENT_TOKENS = 100
MAX_MARKDOWN_BYTES = 1024 * 1024

_SCRIPTS = (".sh", ".bash", ".zsh", ".py", ".rb", ".pl", ".js", ".mjs", ".ts", ".php", ".lua", "")
_LICENCE_FILE = re.compile(
    r"(?<![\w/.-])((?:[\w-]{1,40}/){0,3}(?:LICEN[CS]E|COPYING|NOTICE)[\w-]{0,40}(?:\.[A-Za-z]{2,4})?)(?!\w)"
)

_STEP = re.compile(
    r"^[ ]{0,3}(?:#{2,4}[ ]+)?(?:step[ ]*)?\d{1,2}[.):、][ ]*\S.*", re.MULTILINE | re.IGNORECASE
)
_SIDE_EFFECT = re.compile(
    r"\b(send|post|publish|delete|remove|pay|charge|transfer|order|book|deploy|submit|create|upload|merge|push|email)\b"
    r"|发送|發送|发布|删除|支付|转账|下单|提交|上传|部署|отправ\w+|опубликова\w+|удали\w+|оплат\w+|перевед\w+|закаж\w+",
    re.IGNORECASE,
)
_ONCE = re.compile(r"idempoten|dry[- ]run|幂等|идемпотент", re.IGNORECASE)


def check_skill_md(skill: SkillMd, file: File, tree: Tree) -> tuple[Finding, ...]:
    """Guidance on the length of a SKILL.md, its licence and the files it names."""
    findings = [*_length(skill, file.path), *_licence(skill, file.path, tree)]
    if file.size > MAX_MARKDOWN_BYTES:
        return (*findings, _unread(file))
    text = with_line_feeds(decode(file))
    return (*findings, *check_references(text, references_of(text), tree, names_files=True))


def check_files(tree: Tree) -> tuple[Finding, ...]:
    """Guidance on all files: interpreter lines, and the HTML and links of Markdown."""
    return tuple(finding for file in tree.files for finding in check_file(file, decode(file), tree))


def check_file(file: File, text: Text, tree: Tree) -> Iterator[Finding]:
    """The same on one file, given its text too."""
    if text.markdown and file.size <= MAX_MARKDOWN_BYTES:
        text = with_line_feeds(text)
        references = tuple(references_of(text))
        yield from check_markup(text, references)
        if not is_skill_md(file.path):
            yield from check_references(text, references, tree, names_files=False)
    if file.path.startswith("scripts/") and text.suffix in _SCRIPTS and _wants_interpreter(file):
        message = f"{file.path} does not name its interpreter, so an agent cannot run it directly."
        hint = "Begin it with a line such as #!/usr/bin/env python3."
        yield advice("script-no-interpreter", message, hint, path=file.path, line=1)


def is_skill_md(path: str) -> bool:
    """Whether the path is that of the bundle's SKILL.md, in either spelling that is read."""
    return path in ("SKILL.md", "skill.md")


def check_advertisement(name: str, description: str, *, path: str, line: int | None) -> tuple[Finding, ...]:
    """Advice where name and description cost every conversation more than about 100 tokens."""
    tokens = estimated_tokens(f"{name} {description}")
    if tokens <= MAX_ADVERTISEMENT_TOKENS:
        return ()
    message = f"Name and description cost about {tokens} tokens in every conversation, more than {MAX_ADVERTISEMENT_TOKENS}."
    hint = "Say what it does and when to use it; move the rest into the body."
    return (advice("advertisement-tokens", message, hint, path=path, line=line),)


def check_folder(name: str, tree: Tree, *, path: str, line: int | None) -> tuple[Finding, ...]:
    """A warning where the skill came in a folder of another name, at which some agents drop it."""
    if not name or not tree.folder or tree.folder in (name, folder_name(name)):
        return ()
    shown = name if name.isprintable() else ascii(name)[1:-1]
    message = (
        f'The folder is called "{tree.folder}" and the skill "{shown[:80]}"; some agents then drop the skill.'
    )
    hint = "Give both the same name."
    return (warning("name-dir-mismatch", message, hint, path=path, line=line),)


def check_workflow(body: str, manifest: Manifest | None, *, path: str, body_line: int) -> tuple[Finding, ...]:
    """Advice where several steps have side effects and a repeated run would repeat them."""
    if (manifest is not None and manifest.idempotent) or _ONCE.search(body):
        return ()
    steps = [step for step in _STEP.finditer(body) if _SIDE_EFFECT.search(step[0][:200])]
    if len(steps) < 3:
        return ()
    line = body_line + body.count("\n", 0, steps[0].start())
    message = f"{len(steps)} steps from line {line} on have side effects that a repeated run would repeat."
    hint = "Prefer a workflow that remembers which steps are done, or say how to repeat the steps safely."
    return (advice("prefer-workflow", message, hint, path=path, line=line),)


def _length(skill: SkillMd, path: str) -> list[Finding]:
    findings: list[Finding] = []
    hint = "Move details into files under references/ and name them where they are needed."
    lines = skill.text.count("\n") + (not skill.text.endswith("\n"))
    if lines > MAX_LINES:
        message = f"{path} has {lines} lines, more than {MAX_LINES}."
        findings.append(warning("skill-md-long", message, hint, path=path, line=MAX_LINES + 1))
    tokens = estimated_tokens(skill.body)
    if tokens > MAX_BODY_TOKENS:
        message = f"The body of {path} costs about {tokens:,} tokens, more than {MAX_BODY_TOKENS:,}."
        findings.append(advice("body-tokens", message, hint, path=path, line=skill.body_line))
    return findings


def _licence(skill: SkillMd, path: str, tree: Tree) -> list[Finding]:
    licence = skill.frontmatter.license if skill.frontmatter else None
    missing = [name for name in _LICENCE_FILE.findall((licence or "")[:2000]) if tree.get(name) is None]
    if not missing:
        return []
    message = f"The licence names {missing[0]}, which is not in the bundle."
    line = skill.lines.get("license")
    return [
        advice("license-file-missing", message, "Add the file or name the licence.", path=path, line=line)
    ]


def _unread(file: File) -> Finding:
    message = f"{file.path} is longer than {MAX_MARKDOWN_BYTES:,} bytes, so that its links were not checked."
    hint = "Move details into files under references/."
    return warning("scan-incomplete", message, hint, path=file.path)


def _wants_interpreter(file: File) -> bool:
    return not file.executable and file.size > 0 and not file.path.endswith("/__init__.py")


def with_line_feeds(text: Text) -> Text:
    """The text with LF line ends, so that lines count as an editor counts them."""
    if not text.holds("\r"):
        return text
    return Text(text.path, text.text.replace("\r\n", "\n").replace("\r", "\n"), text.utf8, text.binary)
