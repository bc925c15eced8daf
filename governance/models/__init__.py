"""What happened, as rows."""

from governance.models.notices import Notice, NoticeCursor
from governance.models.traces import Call, CallDetail, SubjectTag, TaskOutcome
from governance.models.usage import ReadCount

__all__ = ["Call", "CallDetail", "Notice", "NoticeCursor", "ReadCount", "SubjectTag", "TaskOutcome"]
