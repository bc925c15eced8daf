"""How many tokens a text costs, estimated without any model's tokenizer."""

from __future__ import annotations

import math
import re

CHARS_PER_TOKEN = 4
"""Of Latin, Cyrillic and other alphabets; published tokenizers take 3 to 5."""

# Han, kana, hangul and full-width forms: about one token each.
_WIDE = re.compile("[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")


def estimated_tokens(text: str) -> int:
    """One token for each CJK character and one for every four others, rounded up."""
    wide = len(_WIDE.findall(text))
    return wide + math.ceil((len(text) - wide) / CHARS_PER_TOKEN)
