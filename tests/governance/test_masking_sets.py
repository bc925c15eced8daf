"""How well masking finds what is personal or secret, on labelled sets of records.

`own` was written beside the rules; `unseen` by somebody who had not seen them, from what issuers and standards say.
At first sight of `unseen` the rules found 0.975 of its 364 values and changed 2.4 % of its 382 negatives (CARD 0.939,
SECRET 0.889, no other kind under 0.969); what is asserted here is what came of mending whole kinds afterwards.
"""

from __future__ import annotations

import pytest

from governance.masking import KINDS, Masker
from tests.governance.masking_sets import Case, Score, is_in, read_set, score, written

MASKER = Masker(b"a key of thirty-two bytes, or so", "k1")
OWN = read_set("own")


def scored(cases: list[Case]) -> Score:
    """What the masker does with the records of a set."""
    return score(cases, lambda record: MASKER.mask(record).value)


def test_the_own_set_is_large_and_has_every_kind_and_language() -> None:
    positives = [case for case in OWN if case.secrets]
    assert len(positives) >= 400
    assert len(OWN) - len(positives) >= 400
    assert {kind for case in OWN for kind, _ in case.secrets} == set(KINDS)
    assert {case.lang for case in positives} == {case.lang for case in OWN} == {"en", "ru", "zh"}
    assert len({case.id for case in OWN}) == len(OWN)


@pytest.mark.parametrize("name", ["own", "unseen"])
def test_labels_can_be_read_in_their_records(name: str) -> None:
    wrong = [
        (case.id, label)
        for case in read_set(name)
        for label in (*(value for _, value in case.secrets), *case.keeps)
        if not is_in(label, written(case.record))
    ]
    assert not wrong


def test_the_own_set_is_masked() -> None:
    found = scored(OWN)
    report = f"{found.table()}\n{found.faults()}"
    assert found.recall >= 0.98, report
    assert found.precision >= 0.98, report
    assert min(tally.found / tally.values for tally in found.kinds.values()) >= 0.95, report
    assert min(tally.told / tally.found for tally in found.kinds.values()) >= 0.95, report


def test_the_unseen_set_is_masked() -> None:
    found = scored(read_set("unseen"))
    report = f"{found.table()}\n{found.faults()}"
    assert found.recall >= 0.95, report
    assert found.false_positives <= 0.01, report
    assert min(tally.found / tally.values for tally in found.kinds.values()) >= 0.95, report


def test_a_score_sees_what_is_left() -> None:
    cases = [
        Case("1", "en", "x", {"a": "+49 30 23125 148"}, (("PHONE", "+49 30 23125 148"),), ()),
        Case("2", "en", "x", {"a": "q=jane%40example.com"}, (("EMAIL", "jane@example.com"),), ("q=",)),
        Case("3", "en", "x", {"a": "order 17"}, (), ()),
    ]
    whole = score(cases, lambda record: record)
    assert (whole.found, whole.changed, whole.kept_not) == (0, [], [])
    tail = score(cases, lambda record: {"a": record["a"].replace("+49 30 23125", "[PHONE·0000]")})
    assert [case for case, _, _ in tail.missed] == ["1", "2"]
    blank = score(cases, lambda record: {"a": "[PHONE·0000]"})
    assert (blank.recall, blank.changed, blank.kept_not) == (1, ["3"], [("2", "q=")])
    assert [kind for _, kind, _ in blank.untold] == ["EMAIL"]
