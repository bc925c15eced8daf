"""What happened, as rows."""

from governance.models.intake import Intake
from governance.models.masking import Erasure, MaskingRule, MaskingSwitch
from governance.models.notices import Notice, NoticeCursor
from governance.models.traces import Call, CallDetail, ContextSpan, SubjectTag, TaskOutcome
from governance.models.usage import ReadCount

__all__ = [
    "Call",
    "CallDetail",
    "ContextSpan",
    "Erasure",
    "Intake",
    "MaskingRule",
    "MaskingSwitch",
    "Notice",
    "NoticeCursor",
    "ReadCount",
    "SubjectTag",
    "TaskOutcome",
]
