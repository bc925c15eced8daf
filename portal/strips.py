"""The six stages of a call as a strip: one pure function, so that every page draws the same."""

from __future__ import annotations

from dataclasses import dataclass

from governance.models.traces import Kind, Outcome, Stage


@dataclass(frozen=True, slots=True)
class Step:
    """A stage and how it went: passed, fail, denied, or skip where it was not reached or nobody said.

    `whole` stands for all six: the call was reported as a success, and nothing of its stages.
    """

    stage: str
    title: str
    state: str

    @property
    def tone(self) -> str:
        """The tone of its colour."""
        return {"fail": "bad", "denied": "warn"}.get(self.state, "mute")


def strip_of(kind: str, outcome: str, failed_stage: str) -> tuple[Step, ...]:
    """What is known of the stages of a call, in their order.

    Those before a failed one were passed. A success is one step for all six, a failure without a
    stage leaves all of them open, and reads that report no stage have none.
    """
    if kind != Kind.CALLED and not failed_stage:
        return ()
    if outcome == Outcome.OK:
        return (Step("", "", "whole"),)
    steps = []
    failed = list(Stage).index(Stage(failed_stage)) if failed_stage in Stage.values else None
    for place, stage in enumerate(Stage):
        if failed is not None and place < failed:
            state = "passed"
        elif place == failed:
            state = "denied" if stage == Stage.PERMISSION else "fail"
        else:
            state = "skip"
        steps.append(Step(stage.value, str(stage.label), state))
    return tuple(steps)
