"""Masked payloads in three languages for calls that are made up: drawn once, and shared by many calls.

Each passes the masker as a reported one does. The people in them are a few dozen addresses and numbers that
nobody has; some of them come again and again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random
from typing import Any

from governance.calls import read_call
from governance.masks import masker

SUBJECTS = 60
VARIANTS = 16
AT = datetime(2026, 1, 1, tzinfo=UTC)
# What a skill is about: its word in names, and what people ask for, in English, Russian and Chinese.
TOPICS: Mapping[str, tuple[str, str, str]] = {
    "order": ("Find the last order", "Найди последний заказ", "查找最近的订单"),
    "refund": ("Check whether a refund is due", "Проверь, положен ли возврат", "检查是否可以退款"),
    "invoice": ("Send the invoice once more", "Пришли счёт ещё раз", "请重新发送发票"),
    "ticket": ("Summarise the open ticket", "Кратко опиши обращение", "总结未解决的工单"),
    "stock": ("See how many are in stock", "Посмотри остаток на складе", "查询库存数量"),
    "report": ("Draft the report of the week", "Составь отчёт за неделю", "撰写本周报告"),
    "contract": ("Compare the two contracts", "Сравни два договора", "比较两份合同"),
    "travel": ("Book the train to Leipzig", "Закажи поезд до Лейпцига", "预订去莱比锡的火车"),
    "meeting": ("Move the meeting to Thursday", "Перенеси встречу на четверг", "把会议改到星期四"),
    "search": ("Look up the opening hours", "Узнай часы работы", "查询营业时间"),
}


@dataclass(frozen=True, slots=True)
class Payload:
    """What a call carries: `raw` as an agent would report it, and what is stored of it.

    `detail` are the columns of `CallDetail` behind the first, `tags` the hash and the kind of each masked value.
    """

    raw: Mapping[str, Any]
    detail: tuple[Any, ...]
    tags: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Attributes:
    """What a span of context carries: its name, its attributes as JSON, and the tags of masked values."""

    name: str
    text: str
    tags: tuple[tuple[str, str], ...]


def subjects() -> Sequence[tuple[str, str]]:
    """The people who come up: an address and a telephone number each."""
    return [
        (
            f"kunde{n:02d}@example.org",
            (f"+49 30 9018 {2000 + n}", f"+7 495 123-45-{n:02d}", f"138001380{n:02d}")[n % 3],
        )
        for n in range(SUBJECTS)
    ]


def draw_payloads(random: Random, topic: str) -> Sequence[Payload]:
    """The payloads of calls about a topic, half of them with somebody's address or number."""
    return [_payload(random, topic, n) for n in range(VARIANTS)]


def draw_attributes(random: Random, model: str) -> Sequence[Attributes]:
    """What stands around calls: the model's turns, and tools that are no skill."""
    people = subjects()
    found = []
    for n in range(VARIANTS):
        mail, _ = people[_often_the_first(random)]
        said = {"gen_ai.prompt": f"The customer is {mail}."} if n % 4 == 0 else {}
        used = {"gen_ai.usage.input_tokens": random.randint(200, 4000)}
        operation = {"gen_ai.operation.name": "chat", "gen_ai.request.model": model}
        masked = masker().mask(
            {"row": {"name": f"chat {model}"}, "attributes": {**operation, **used, **said}}
        )
        name, told = masked.value["row"]["name"], masked.value["attributes"]
        found.append(Attributes(name, _json(told), _tags(masked.tags)))
    return found


def _payload(random: Random, topic: str, n: int) -> Payload:
    mail, phone = subjects()[_often_the_first(random)]
    language = n % 3
    asked = TOPICS[topic][language]
    number = random.randint(10_000, 99_999)
    raw: dict[str, Any] = {
        "user_intent": f"{asked}, {number}",
        "candidates": [{"name": f"{topic}-check", "score": 0.91}, {"name": "search-find", "score": 0.42}],
        "selection_reason": ("Fits the question best.", "Подходит лучше всего.", "最符合问题。")[language],
        "parameters": {"number": number, "lines": random.randint(1, 20)},
        "output": {
            "found": True,
            "total": random.randint(5, 900),
            "state": ("open", "закрыт", "已完成")[language],
        },
        "spans": _spans() if n % 4 == 0 else [],
    }
    if n % 2:
        raw["user_intent"] += (f" for {mail}", f" для {mail}", f"，客户电话 {phone}")[language]
        raw["parameters"]["customer"] = {"email": mail, "phone": phone}
    if n % 8 == 7:
        raw["output"]["log"] = f'{{"sent_to": "{mail}", "status": 202}}'
    call = {"call_id": "x", "skill": "x", "outcome": "ok", "started_at": AT.isoformat(), "duration_ms": 0}
    detail = read_call({**call, **raw}, now=AT).detail
    masked = masker().mask({"row": {}, "detail": detail})
    values = (masked.value["detail"][name] for name in DETAIL)
    stored = tuple(
        value if name in TEXTS else _json(value) for name, value in zip(DETAIL, values, strict=True)
    )
    return Payload(raw, stored, _tags(masked.tags))


DETAIL = ("user_intent", "candidates", "selection_reason", "parameters", "output", "spans")
TEXTS = ("user_intent", "selection_reason")


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _spans() -> list[dict[str, Any]]:
    return [
        {"span_id": "s1", "name": "fetch", "start_ms": 4, "duration_ms": 40},
        {"span_id": "s2", "parent_id": "s1", "name": "query", "start_ms": 10, "duration_ms": 20},
    ]


def _often_the_first(random: Random) -> int:
    return min(SUBJECTS - 1, int(random.expovariate(0.12)))


def _tags(tags: Any) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((tag.hash, tag.kind) for tag in tags))
