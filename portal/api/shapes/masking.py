"""Rules of masking, built-in kinds, and samples."""

from __future__ import annotations

from portal.api.shapes.words import BOOLEAN, INTEGER, JSON, MOMENT, TEXT, TEXTS, maybe, partly, record

WRITTEN = {"kind": TEXT, "pattern": TEXT, "fields": TEXTS, "description": TEXT}
TRIED = {"sample": JSON, "without_sample": BOOLEAN}
MASKING_RULE = record(id=TEXT, **WRITTEN, is_on=BOOLEAN, created_at=MOMENT, changed_at=MOMENT)
MASKING_RULE_NEW = partly(("kind",), **WRITTEN, **TRIED)
MASKING_RULE_CHANGE = partly((), **WRITTEN, is_on=BOOLEAN, **TRIED)
MASKING_TRY = partly(("sample",), sample=JSON, rule=partly(("kind",), **WRITTEN), instead=TEXT)
MASKING_TRIED = record(now=JSON, then=JSON, found=INTEGER)
MASKING_KIND = record(
    kind=TEXT, finds=TEXT, example=TEXT, is_on=BOOLEAN, reason=maybe(TEXT), since=maybe(MOMENT)
)
MASKING_SWITCH = record(is_on=BOOLEAN, reason=TEXT)
