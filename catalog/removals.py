"""What a change refers to may be removed by somebody else before the change is done."""

from __future__ import annotations

from django.db import IntegrityError

from catalog.models import Environment, Team

# What is told of it.
TOLD = "Something that this refers to was removed meanwhile, and nothing was changed; look at it again."
# PostgreSQL's code for a reference to a row that is not there.
FOREIGN_KEY_VIOLATION = "23503"


def is_removed(fault: BaseException) -> bool:
    """Whether a change failed since a team or an environment that it refers to is no longer there."""
    if isinstance(fault, Team.DoesNotExist | Environment.DoesNotExist):
        return True
    code = getattr(fault.__cause__, "sqlstate", "")
    return isinstance(fault, IntegrityError) and (
        code == FOREIGN_KEY_VIOLATION or "FOREIGN KEY" in str(fault)
    )
