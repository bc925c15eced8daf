"""The portal: settings, every HTTP surface, and what runs them."""

from portal.celery import app as celery_app

__all__ = ["__version__", "celery_app"]

# As in pyproject.toml.
__version__ = "0.1.0"
