"""Personal data and credentials never pass the masker; what is neither passes unchanged."""

import pytest

from governance.masking import Masker

MASKER = Masker(b"k" * 32, "k1")


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("mail jane.doe@example.com now", "mail [EMAIL·14a6] now"),
        ("电话13812345678,", "电话[PHONE·f6d0],"),
    ],
)
def test_masks(text: str, masked: str) -> None:
    assert MASKER.mask_text(text).value == masked
