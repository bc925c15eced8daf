"""The language of a short text, from its script alone."""

from __future__ import annotations


def language_of(text: str) -> str:
    """`ja`, `zh`, `ru` or `en`: by kana, else by which script has most letters.

    A Chinese character weighs as much as three letters, about what one says.
    """
    if any("\u3040" <= c <= "\u30ff" for c in text):
        return "ja"
    han = 3 * sum("\u4e00" <= c <= "\u9fff" or "\u3400" <= c <= "\u4dbf" for c in text)
    cyrillic = sum("\u0400" <= c <= "\u04ff" for c in text)
    latin = sum("a" <= c <= "z" or "A" <= c <= "Z" for c in text)
    return max((latin, "en"), (cyrillic, "ru"), (han, "zh"), key=lambda pair: pair[0])[1]
