"""Personal data and credentials are replaced by masks before anything is written.

A mask reads `[EMAIL·7f3a]`: the kind, a middle dot, four hex digits of a keyed hash of the value. The same value
has the same mask under one key, however it was spelled, so traces can be correlated; nothing leads back from a
mask to a value. What was masked is also told as tags, the full hashes, by which an erasure request finds it.

Each detector looks for a cheap character that its kind cannot do without and verifies around it.
"""

from governance.masking.custom import BadRule, Rule, check_rule, spelled_out
from governance.masking.custom_rules import Custom, compile_rules
from governance.masking.masker import Masker
from governance.masking.masks import KINDS, Masked, SubjectTag

__all__ = [
    "KINDS",
    "BadRule",
    "Custom",
    "Masked",
    "Masker",
    "Rule",
    "SubjectTag",
    "check_rule",
    "compile_rules",
    "spelled_out",
]
