"""What failed in a span, and at which of the six stages (docs/traces.md has this table)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from governance.otlp.records import Sent
from governance.otlp.values import first_of, shortened, text_of

STAGE, CODE = "quartermaster.failed_stage", "quartermaster.error_code"
LONGEST_CODE = 200
# The first that fits the last part of the code's name; everything else failed while it ran.
STAGES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (stage, re.compile(words, re.IGNORECASE))
    for stage, words in (
        ("output", r"output.*(valid|pars|schema)|(result|response)validation|invalid_?output"),
        ("permission", r"permission|forbidden|unauthori[sz]ed|access_?denied|not_?allowed|approval|^40[13]$"),
        ("parameters", r"validation|invalid_?(argument|param|input|request)|bad_?request|argument_?error|schema|^4(00|22)$|^-32602$"),
        ("selection", r"(tool|skill|function)_?not_?found|unknown_?(tool|skill|function)|^-32601$"),
    )
)  # fmt: skip


def code_of(span: Sent) -> str:
    """`quartermaster.error_code`, `error.type`, or the type of the last exception; "" where nothing is told."""
    code = text_of(first_of(span.attributes, CODE, "error.type"))
    for event in reversed(span.events):
        if code:
            break
        code = text_of(event.attributes.get("exception.type"))
    return shortened(code, LONGEST_CODE)


def has_failed(span: Sent) -> bool:
    """Whether the span says so: by its status, by `error.type`, or by naming the stage."""
    return span.failed or first_of(span.attributes, "error.type", CODE, STAGE) is not None


def stage_of(attributes: Mapping[str, Any], code: str) -> Any:
    """The stage that the agent names, else the one that the code tells of."""
    told = first_of(attributes, STAGE)
    if told is not None:
        return told
    short = code.rsplit(".", 1)[-1]
    return next((stage for stage, words in STAGES if words.search(short)), "execution")
