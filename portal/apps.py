"""The portal as Django knows it, and its admin as a window of its own kind."""

from __future__ import annotations

from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig


class PortalConfig(AppConfig):
    name = "portal"
    verbose_name = "Portal"

    def ready(self) -> None:
        """Register what `manage.py check --deploy` looks at."""
        from portal import checks  # noqa: F401 (importing it registers them)


class WindowConfig(AdminConfig):
    """Django's admin with our site in place of its own."""

    default_site = "portal.window.Window"
