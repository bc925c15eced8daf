"""Log lines without personal data: every message and every traceback passes the masker."""

from __future__ import annotations

import logging

from governance.masks import masker


class Masked(logging.Filter):
    """Masks what a record says; its arguments and its traceback are folded into the text first."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Always lets the record through."""
        text = record.getMessage()
        if record.exc_info:
            text = f"{text}\n{logging.Formatter().formatException(record.exc_info)}"
        record.msg, record.args = masker().mask_text(text).value, None
        record.exc_info = record.exc_text = None
        return True
