from django.apps import AppConfig
from django.db.models.signals import post_migrate


class GovernanceConfig(AppConfig):
    name = "governance"
    verbose_name = "Governance"

    def ready(self) -> None:
        from governance import waking  # noqa: F401 (from now on it is called after each entry)
        from governance.notices import make_cursor

        post_migrate.connect(make_cursor, sender=self)
