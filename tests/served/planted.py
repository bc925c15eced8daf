"""Invented personal data and secrets that a test sends, and the spellings in which they could come to rest.

Every value has a core that is the same wherever it is sent and a part that tells the place: a dump is searched for
the cores, and what stands around a find names the leak.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import quote, quote_plus

WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)


@dataclass(frozen=True)
class Plant:
    """A value of a kind: what is looked for, and the text in which it is sent from place `n` (0 to 999)."""

    name: str
    core: str
    text: str

    def at(self, n: int) -> str:
        """The text as it is sent from there."""
        return _filled(self.text, n)


def plants() -> tuple[Plant, ...]:
    """All values; `{n}` in a text is the place, `{card}` and the like are numbers made for it."""
    return (
        Plant("e-mail", "zelmira.kovats", "write to zelmira.kovats{n}@post.example.org"),
        Plant("e-mail in Chinese text", "wangxiulan1987", "邮箱是wangxiulan1987{n}@youxiang.example.cn，请回复"),
        Plant("e-mail in Russian text", "tamara.lisitsyna", "Почта: tamara.lisitsyna{n}@pochta.example.ru, спасибо"),
        Plant("e-mail percent-encoded", "oskar.thalberg", "https://h.example.org/u?m=oskar.thalberg{n}%40post.example.org"),
        Plant("e-mail with escapes", "brunhild.quast", '{"m": "brunhild.quast{n}\\u0040post.example.org"}'),
        Plant("e-mail in an address", "ludmila.vrba", "see https://h.example.org/people/ludmila.vrba{n}@post.example.org/edit"),
        Plant("German telephone", "+49 30 5557391", "call +49 30 5557391{n} today"),
        Plant("American telephone", "+1 415 555 2671", "call +1 415 555 2671 x{n}"),
        Plant("Russian telephone", "+7 916 482-37", "тел. +7 916 482-37-{nn}"),
        Plant("Chinese mobile", "1391847", "手机13918470{n}，谢谢"),
        Plant("Chinese identity", "11010119870423", "身份证号{identity}"),
        Plant("bank card", "453275839102", "card {card} of May"),
        Plant("bank card in groups", "5425 2334 3010", "paid with {grouped}"),
        Plant("IBAN", "500105175407324931", "IBAN {iban}"),
        Plant("IPv4", "45.83.217.", "from 45.83.217.{byte} at noon"),
        Plant("IPv6", "2a02:8109:9c3f:7", "from 2a02:8109:9c3f:7::{byte} at noon"),
        Plant("key of a cloud", "AKIAQ7XK2VNBWJ4", "with AKIAQ7XK2VNBWJ4{upper}"),
        Plant("key of a forge", "gh" + "p_7Rk2WqZx91LmNv83TbYc64HsDf0PgJ5a", "gh" + "p_7Rk2WqZx91LmNv83TbYc64HsDf0PgJ5a{n} works"),
        Plant("key of a model", "sk-proj-Vb83kLq0ZtW6xYn2", "sk-proj-Vb83kLq0ZtW6xYn2RmC5dHs9JfGa{n}TpQeUo4i"),
        Plant("token of ours", "qm_Zk81vQw3LxNp60TyRb25", "qm_Zk81vQw3LxNp60TyRb25HcMd94FsJg7a{n}KtUe"),
        Plant("JWT", "eyJzdWIiOiJ6ZWxtaXJhIn0", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ6ZWxtaXJhIn0.Qm9vT3lXc0xkVnRhY2hBcGZlbEJpcm5l{n}"),
        Plant("bearer token", "Wq81Zx30VnKd92LmTb", "Authorization: Bearer Wq81Zx30VnKd92LmTb64{n}"),
        Plant("password", "Kirschbaum-7", "password: Kirschbaum-7{n}!x"),
        Plant("password in Russian", "Ryabina-84", "пароль: Ryabina-84{n}!x"),
        Plant("password in Chinese", "Meihua-52", "密码：Meihua-52{n}!x"),
        Plant("password in JSON", "Ahornblatt-3", '{"db": {"password": "Ahornblatt-3{n}!x"}}'),
        Plant("password in an address", "Fliederduft-6", "postgres://app:Fliederduft-6{n}@db.example.org/shop"),
        Plant("key under its name", "b7d41f0a96c35e28", "api_key=b7d41f0a96c35e28{n}aa17"),
        Plant("cookie", "h83kd0wq61zx", "Cookie: sessionid=h83kd0wq61zx{n}vbnm"),
        Plant("basic authorisation", "emVsbWlyYTpLaXJzY2g", "Authorization: Basic emVsbWlyYTpLaXJzY2g{n}YmF1bQ=="),
    )  # fmt: skip


def paragraph(n: int) -> str:
    """All values in one text; a mark before them tells whether it arrived."""
    return "\n".join([mark(n), *(plant.at(n) for plant in plants())])


def mark(n: int) -> str:
    """A word that is kept as it is."""
    return f"Ort-{n:03d}-erreicht"


def spellings(core: str) -> Iterator[bytes]:
    """How a dump could hold it: as it is, escaped, percent-encoded, without separators, in base64 at any offset."""
    told = {core, json.dumps(core)[1:-1], quote(core, safe=""), quote_plus(core), core.lower()}
    told.add("".join(f"\\u{ord(letter):04x}" for letter in core))
    compact = re.sub(r"[ ().:-]", "", core)
    told |= {compact} if len(compact) >= 7 else set()
    yield from (one.encode() for one in sorted(told))
    raw = core.encode()
    for before in range(3):
        whole = base64.b64encode(b"\0" * before + raw)
        # The letters at the ends depend on the neighbours too.
        yield whole[-(-before * 8 // 6) + (before > 0) : len(whole) - 4]


def found_in(content: bytes) -> list[str]:
    """Which values are in there, each with what stands around it."""
    found = []
    for plant in plants():
        for spelling in spellings(plant.core):
            place = content.find(spelling)
            if place >= 0:
                around = content[max(0, place - 120) : place + 80]
                found.append(f"{plant.name}: {around!r}")
                break
    return found


def _filled(text: str, n: int) -> str:
    numbers = {
        "n": f"{n:03d}",
        "nn": f"{n % 100:02d}",
        "byte": str(n % 250 + 1),
        "upper": _letters(n),
        "identity": _identity(f"11010119870423{n:03d}"),
        "card": _card(f"453275839102{n:03d}"),
        "iban": _iban(f"500105175407324931{n:03d}"[:18]),
    }
    card = _card(f"542523343010{n:03d}")
    numbers["grouped"] = " ".join(card[at : at + 4] for at in range(0, 16, 4))
    for name, value in numbers.items():
        text = text.replace("{" + name + "}", value)
    return text


def _letters(n: int) -> str:
    """Five letters and digits for a place."""
    return f"X{n:03d}Z"


def _identity(digits: str) -> str:
    """With the check digit of GB 11643."""
    total = sum(int(digit) * weight for digit, weight in zip(digits, WEIGHTS, strict=True))
    return digits + "10X98765432"[total % 11]


def _card(digits: str) -> str:
    """With the check digit of Luhn."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (2 if place % 2 == 0 else 1)
        total += value - 9 if value > 9 else value
    return digits + str(-total % 10)


def _iban(account: str) -> str:
    """A German one, with its check digits."""
    rest = int(account + "131400") % 97
    return f"DE{98 - rest:02d}{account}"
