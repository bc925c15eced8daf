"""Who runs a command, for the journal."""

from __future__ import annotations

import getpass


def origin_of(what: str) -> str:
    """The command and the account of the machine that runs it, where that has a name."""
    try:
        account = getpass.getuser()
    except (KeyError, OSError):  # a container runs it under a number without a name
        return what
    return f"{what} of {account}"
