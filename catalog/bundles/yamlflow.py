"""Where a YAML text uses brackets for lists and mappings, which strict YAML does not allow."""

from __future__ import annotations

import yaml

from catalog.bundles.yamltext import LOADER


def flow_line(text: str) -> int | None:
    """The line (from 1) of the first list or mapping in brackets, or None.

    The text must be one that `read_yaml` takes without errors.
    """
    for event in yaml.parse(text, Loader=LOADER):
        if isinstance(event, yaml.CollectionStartEvent) and event.flow_style:
            return event.start_mark.line + 1 if event.start_mark else 1
    return None
