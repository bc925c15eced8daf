"""Values that their names give away in running text: `password: …`, `api_key=…`, `"token": "…"`, 密码:…"""

from __future__ import annotations

import re
from collections.abc import Iterator

from governance.masking import names, values
from governance.masking.spans import Span
from governance.masking.words import DIGIT, PARTING, WORD, WORD_CHARACTERS, words

# Full width is narrowed before; a dash joins name and value in Russian.
_SIGN = re.compile("[=:\u2014\u2013]")
_AFTER = re.compile("(?:=>|:=|={1,3}|::?|[\u2014\u2013](?=[ ]))[ \\t\u00a0]{0,8}")
_ASCII_NAME = WORD_CHARACTERS + ".-$"
_ANY_NAME = _ASCII_NAME + "".join(map(chr, (*range(0xC0, 0x180), *range(0x400, 0x500))))
_AFTER_NAME = " \t\u00a0\"'`\\]"
_LONGEST_NAME = 80
# In a query a number sign ends the value.
_QUERY = re.compile(r"[?&][A-Za-z0-9_.~-]{1,60}\Z")
_GUESSED = frozenset((names.WEAK, names.CODE))
_BEFORE = re.compile(r"(?:[A-Za-z\u0400-\u04ff]{1,20}[ _-]){1,2}\Z")
# Names that tell something only with the word before them: `API key`, «код подтверждения».
_SPACED = words("key keys ключ ключи code код pin доступа подтверждения api phrase passe")
_OPTION = re.compile(r"-(?P<name>[A-Za-z][A-Za-z0-9-]{1,40})[ ]+(?=[^\s-])")
_SAID = re.compile(
    r"(?<![A-Za-z\u0400-\u04ff])(?P<name>password|passwd|passphrase|secret|пароль"
    r"|(?P<key>(?:api|access|secret|private|signing|encryption)[ ]key|(?:(?:api|access|auth|refresh|bearer)[ ])?token"
    r"|api-key|ключ(?:[ ](?:api|доступа))?|токен)"
    r"|(?P<code>passcode|pin(?:[ -]code)?|otp|пин-?код|код[ ](?:подтверждения|доступа|из[ ]смс)|(?:your|ваш)[ ](?:code|код)(?![ ](?!is[ ]|was[ ]|это[ ])[^\W\d])"
    r"|(?:verification|security|confirmation|access|login|one-time|sms|authentication|auth|backup|recovery)[ ]code))"
    r"(?:(?:[ ](?:for|of|to|от|для|к)(?:[ ][^\s:=]{1,40}){1,3}?)?(?P<sign>[ ](?:(?:is|was)(?:[ ]now)?|(?:(?:is|was)[ ])?(?:set|changed|reset|rotated|updated)[ ]to|это|изменён[ ]на):?[ ]|[ ]?[是为][ ]?|[ ]?[:=][ ]?|[ ]-[ ])|[ ])"
    r"(?=[^\s])",
    re.IGNORECASE,
)
_WORD_START = re.compile(r"(?<![A-Za-z\u0400-\u04ff])[A-Za-z\u0400-\u04ff]")
_LONGEST_SAYING = 24
SAID_SIGNS = (
    "assw", "assp", "asscod", "ecret ", " key ", "oken ", "pin ", "pin:", "otp ", "on code", "ty code", "ss code", "in code",
    "me code", "ms code", "th code", "up code", "ry code", "ur code", "арол", "код", "окен ", "люч ",
)  # fmt: skip
_CHINESE = re.compile(
    r"(?P<name>パスワード|暗証番号|비밀번호|암호|密码|密碼|口令|密钥|密鑰|秘钥|令牌|私钥|验证码|驗證碼|授权码)"
    r"(?:(?P<about>[^\x00-\x7f是为為]{0,6}?)(?P<sign>[ \t]?[:=][ \t]?|[是为為]:?[ ]?)|[はが는은]?[ ]?)"
    "(?=[\"'\u201c\u2018\u300c\u300e]?[!-~])"
)
_COUNTERS = frozenset("位个個字文天次种年月日分秒小자")
_CHINESE_SIGNS = (
    "パスワード",
    "暗",
    "비밀",
    "암호",
    "密",
    "令",
    "钥",
    "鑰",
    "助记词",
    "验证码",
    "驗證碼",
    "授权码",
)
_USERINFO = re.compile(r"://(?P<user>[^\s/?#@:\"'<>]{0,128}):(?P<value>[^\s/?#\"'<>]{1,256})@")
_CURL_USER = re.compile(r"-u(?:ser)?[ =][\"']?[^\s:\"']{1,128}:(?P<value>[^\s\"']{1,256})")
_COMMAND = re.compile(
    r"(?:sshpass[ ]+-p[ ]?|(?:mysql|mysqldump|mysqladmin|mariadb)(?:[ ][^\s|;&]{1,60}){0,6}?[ ]-p"
    r"|redis-cli(?:[ ][^\s|;&]{1,60}){0,6}?[ ]-a[ ])[\"']?(?P<value>[^\s\"'|;&]{3,256})"
)
_COMMAND_SIGNS = ("sshpass", "mysql", "mariadb", "redis-cli")
# `482913 is your verification code`, 482913(验证码), «482913 — ваш код»
_CODE_BEFORE = re.compile(
    r"(?<![0-9A-Za-z.,/_-])(?P<value>[0-9]{4,8})(?:[ ](?:is|as)[ ](?:your|the)(?:[ ][A-Za-z-]{1,20}){0,4}[ ](?:code|otp|pin|passcode)(?![A-Za-z])"
    r"|[ ](?:-|\u2014|это)?[ ]?(?:ваш|твой)[ ](?:[а-яё]{1,20}[ ])?(?:код|пин)|[ ]?[(\uff08]?(?:是|为)?(?:您的|你的|本次)?(?:登录|短信|动态)?验证码)",
    re.IGNORECASE,
)
CODE_SIGNS = (" your ", " the ", "ваш ", "твой ", "验证码")
_TYPES = words("str string String bytes SecretStr None")
_TYPED = re.compile(
    r"([A-Za-z_][A-Za-z0-9_]{1,60})[ ]?:[ ]{0,2}(?:Optional\[)?[A-Za-z.]{1,20}(?:\])?(?:[ ]?\|[ ]?None)?\Z"
)
_COLONS = (":", "=", "-")
_SHORTEST_KEY = 6
_ELEMENT = re.compile(
    r"<(?P<name>[A-Za-z][A-Za-z0-9_.:-]{1,63})(?:[ ][^<>\x1e]{0,200})?>(?:<!\[CDATA\[)?(?P<value>[^<>\x1e]{1,8192}?)(?:\]\]>)?</"
)
_INPUT = re.compile(
    r"(?:name|key|id)=[\"'](?P<name>[^\"'\r\n<>]{1,64})[\"'][^<>\x1e]{0,200}?[ ]value=[\"'](?P<value>[^\"'\r\n<>]{1,8192})[\"']"
)
_FORM = re.compile(
    r"name=\"(?P<name>[^\"\r\n]{1,64})\"(?:\r?\n[^\r\n\x1e]+){0,3}\r?\n\r?\n(?P<value>[^\r\n\x1e]{1,8192})"
)
# A line of names alone, one of which tells of a secret.
_HEADING_CELL = r"[ ]?[\"']?[^\W\d][\w.-]{0,40}+(?:[ ][\w.-]{1,30}+)?[\"']?[ ]?"
_HEADING = re.compile(
    rf"[|]?{_HEADING_CELL}(?P<mark>[,;\t|])(?:{_HEADING_CELL}(?P=mark)){{0,40}}(?:{_HEADING_CELL})?"
)
_LONGEST_HEADING = 400
_CELLS = {
    mark: re.compile(rf'(?:"[^"]*+"|[^{mark}"]|"){{1,8192}}+|(?<={mark})(?={mark})|^(?={mark})|(?<={mark})$')
    for mark in ",;\t|"
}
_AROUND_CELLS = " \"'"
# Places where a secret stands without a name, by what the text must have.
_PLACES = (
    (("://",), _USERINFO),
    (("-u",), _CURL_USER),
    (_COMMAND_SIGNS, _COMMAND),
    (CODE_SIGNS, _CODE_BEFORE),
)
_PLACE_SIGNS = tuple(sign for signs, _ in _PLACES for sign in signs)
TELLING = (*names.STEMS, *_CHINESE_SIGNS)
_FIELDS = (("</", _ELEMENT), ("name=", _FORM), ("value=", _INPUT))


def find(text: str) -> Iterator[Span]:
    """Values that stand behind a tell-tale name; the normal form is the value itself."""
    lower = text.lower()
    if any(map(lower.__contains__, TELLING)):
        yield from _named(text)
        if " -" in text or text.startswith("-"):
            yield from _options(text)
        for sign, shape in _FIELDS:
            if sign in text:
                yield from _in_fields(text, shape)
        # Lines that do not part texts.
        if text.count("\n") > 2 * text.count(PARTING[1]):
            yield from _columns(text)
        if not text.isascii() and any(map(text.__contains__, _CHINESE_SIGNS)):
            yield from _chinese(text)
    if any(map(lower.__contains__, SAID_SIGNS)):
        yield from _said(text)
    if any(map(text.__contains__, _PLACE_SIGNS)):
        for signs, shape in _PLACES:
            if any(map(text.__contains__, signs)):
                for match in shape.finditer(text):
                    yield from values.hidden(text, *match.span("value"), names.SECRET)


def _named(text: str) -> Iterator[Span]:
    """A name, a sign such as `=` or a colon, and a value."""
    taken = 0
    for sign in _SIGN.finditer(text):
        at = sign.start()
        if at < taken:
            continue
        # The time of day and the scheme of a URL are what most colons are about.
        if (text[at - 1 : at] in DIGIT and text[at] == ":") or text.startswith("//", at + 1):
            continue
        name = _name_before(text, at)
        if name in _TYPES:
            # `password: str = "…"`
            typed = _TYPED.search(text[max(0, at - _LONGEST_NAME) : at].rstrip())
            name = typed[1] if typed else name
        role = names.role_of(name) if len(name) > 1 else names.PLAIN
        after = _AFTER.match(text, at) if role in names.HIDDEN else None
        place = values.value_at(text, after.end(), name) if after else None
        # A colon stands in sentences too: “Unexpected token: identifier”.
        if place and (role not in _GUESSED or text[at] == "=" or values.looks_drawn(text[slice(*place)])):
            taken = place[1]
            start, end = place
            if _QUERY.search(text[max(0, at - _LONGEST_NAME) : at]):
                fragment = text.find("#", start, end)
                end = fragment if fragment > start else end
            yield from values.hidden(text, start, end, role)


def _name_before(text: str, at: int) -> str:
    """The name that ends here, quoted or not; with the words before it where it needs them."""
    before = text[max(0, at - _LONGEST_NAME) : at].rstrip(_AFTER_NAME)
    start = len(before.rstrip(_ASCII_NAME if before.isascii() else _ANY_NAME))
    name = before[start:].strip("-.$")
    if name.lower() in _SPACED:
        owner = _BEFORE.search(before[:start])
        return f"{owner.group()}{name}" if owner else name
    return name


def _in_fields(text: str, shape: re.Pattern[str]) -> Iterator[Span]:
    for match in shape.finditer(text):
        role = names.role_of(match["name"])
        if role in names.HIDDEN:
            yield from values.hidden(text, *match.span("value"), role)


def _columns(text: str) -> Iterator[Span]:
    """The columns of a table, with commas or other marks, whose headings are tell-tale names."""
    if not any(map(_heading, text.splitlines())):
        return
    roles: list[str] = []
    mark, at = "", 0
    for line in text.splitlines(keepends=True):
        cells = list(_cells(line, at, mark)) if roles else []
        if len(cells) == len(roles) > 0:
            for (start, end), role in zip(cells, roles, strict=True):
                if role in names.HIDDEN and (role not in _GUESSED or values.looks_drawn(text[start:end])):
                    yield from values.hidden(text, start, end, role)
        else:
            heading = _heading(line.rstrip("\r\n"))
            mark = heading["mark"] if heading else ""
            roles = (
                [names.role_of(line[start:end]) for start, end in _cells(line, 0, mark)] if heading else []
            )
        at += len(line)


def _heading(line: str) -> re.Match[str] | None:
    """A line of names between marks, if one of them may tell of a secret."""
    if len(line) > _LONGEST_HEADING or not ("," in line or "|" in line or "\t" in line or ";" in line):
        return None
    heading = _HEADING.fullmatch(line) if any(map(line.lower().__contains__, TELLING)) else None
    if not heading:
        return None
    roles = [names.role_of(line[start:end]) for start, end in _cells(line, 0, heading["mark"])]
    return heading if not names.HIDDEN.isdisjoint(roles) else None


def _cells(line: str, at: int, mark: str) -> Iterator[tuple[int, int]]:
    """Where the cells of a line are that begins at `at`, without quotes and blanks; marks in quotes part none."""
    for cell in re.finditer(_CELLS[mark], line.rstrip("\r\n")):
        start, end = cell.span()
        while start < end and line[start] in _AROUND_CELLS:
            start += 1
        while end > start and line[end - 1] in _AROUND_CELLS:
            end -= 1
        yield at + start, at + end


def _options(text: str) -> Iterator[Span]:
    """`--password …`"""
    for match, place in _values_behind(text, _OPTION.finditer(text)):
        role = names.role_of(match["name"])
        if role in names.HIDDEN and text[match.start() - 1 : match.start()] not in WORD:
            yield from values.hidden(text, *place, role)


def _chinese(text: str) -> Iterator[Span]:
    """Chinese joins name and value by 是, 为, a colon or nothing; without a sign the value must not read as a word."""
    for match, place in _values_behind(text, _CHINESE.finditer(text)):
        role = names.role_of(f"{match['name']}{match['about'] or ''}")
        value = text[slice(*place)]
        # “密码是12位”
        if value.isdigit() and text[place[1] : place[1] + 1] in _COUNTERS:
            continue
        if role in names.HIDDEN and (match["sign"] or (len(value) >= 4 and values.looks_drawn(value))):
            yield from values.hidden(text, *place, names.WEAK if match["name"] == "令牌" else role)


def _said(text: str) -> Iterator[Span]:
    """`the password for the archive is …`: only what does not read as a word, without a sign only codes and the like."""
    for match, place in _values_behind(text, _sayings(text)):
        value = text[slice(*place)]
        if match["key"]:
            # With a colon it is a name as others are.
            told = (
                (match["sign"] or ":").strip() not in _COLONS
                and len(value) >= _SHORTEST_KEY
                and values.looks_drawn(value)
            )
        elif match["sign"]:
            told = values.looks_drawn(value)
        elif match["code"]:
            told = value.isdigit() and 4 <= len(value) <= 8
        else:
            told = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
        if told:
            yield from values.hidden(text, *place, names.SECRET)


def _sayings(text: str) -> Iterator[re.Match[str]]:
    """Where a secret is spoken of: around the signs, which are found faster than what they are part of."""
    lower = text.lower()
    if len(lower) != len(text):
        yield from _SAID.finditer(text)
        return
    starts: set[int] = set()
    for sign in SAID_SIGNS:
        at = lower.find(sign)
        while at >= 0:
            starts.update(
                word.start() for word in _WORD_START.finditer(text, max(0, at - _LONGEST_SAYING), at + 3)
            )
            at = lower.find(sign, at + 1)
    for start in sorted(starts):
        match = _SAID.match(text, start)
        if match:
            yield match


def _values_behind(
    text: str, matches: Iterator[re.Match[str]]
) -> Iterator[tuple[re.Match[str], tuple[int, int]]]:
    """Names, and where their values are; what is part of a value is no name."""
    taken = 0
    for match in matches:
        place = values.value_at(text, match.end(), match["name"]) if match.start() >= taken else None
        if place:
            taken = place[1]
            yield match, place
