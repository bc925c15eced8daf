"""Settings of Quartermaster; README.md lists the environment variables that change them."""

from __future__ import annotations

import sys
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured
from django.utils.translation import gettext_lazy as _
from redis.backoff import NoBackoff
from redis.retry import Retry

from catalog.bundles.files import MIB, Limits
from portal import __version__
from portal.api.shapes import SHAPES
from portal.environment import (
    env,
    read_database,
    read_former,
    read_mail,
    read_number,
    read_portal_url,
    read_secret,
    read_storage,
    read_switch,
)

BASE_DIR = Path(__file__).resolve().parent.parent
if (BASE_DIR / ".env").exists():
    env.read_env(BASE_DIR / ".env")

VERSION = __version__
VAR_DIR = Path(env.str("VAR_DIR", default=str(BASE_DIR / "var"))).absolute()

DEBUG = read_switch("DEBUG", False)
SECRET_KEY = read_secret("SECRET_KEY", var_dir=VAR_DIR)
MASKING_KEY = read_secret("MASKING_KEY", var_dir=VAR_DIR)
# Keys of before, newest first: what they masked can still be looked up and erased.
MASKING_KEYS_BEFORE = read_former("MASKING_KEYS_BEFORE")
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
# Cookies go over HTTPS alone as soon as the instance has a public name; on the loopback
# addresses of a first try there is no certificate.
HTTPS = read_switch("HTTPS", any(host not in {"localhost", "127.0.0.1", "[::1]"} for host in ALLOWED_HOSTS))

LIMITS = Limits(
    max_bundle_bytes=read_number("MAX_BUNDLE_BYTES", 50 * MIB, least=1),
    max_file_bytes=read_number("MAX_FILE_BYTES", 10 * MIB, least=1),
    max_files=read_number("MAX_FILES", 1000, least=1),
    max_ratio=read_number("MAX_RATIO", 100, least=1),
    # The columns that hold a version number have 255 characters.
    max_version_chars=read_number("MAX_VERSION_CHARS", 64, least=5, most=255),
    max_depth=read_number("MAX_DEPTH", 8, least=1),
)
RATE_LIMIT = read_number("RATE_LIMIT", 600)
MAX_TRACE_BYTES = 5 * MIB
# What a body may hold beside the bundle: the fields of a form, or base64 in the JSON form.
MAX_BODY_BYTES = LIMITS.max_bundle_bytes * 4 // 3 + MIB
MAX_OTHER_BYTES = MIB

INSTALLED_APPS = [
    "portal.apps.PortalConfig",
    "governance",
    "catalog",
    "portal.apps.WindowConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django_celery_beat",
    "django_htmx",
    "template_partials",
    "rest_framework",
    "drf_spectacular",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "portal.api.polling.Polls",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "portal.middleware.PrivateAnswers",
    "portal.middleware.CleanAddress",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "portal.middleware.FreshSignIn",
    "portal.middleware.Refusals",
]

ROOT_URLCONF = "portal.urls"
WSGI_APPLICATION = "portal.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "portal.shell.shell",
            ],
        },
    },
]

DATABASES = {"default": read_database(var_dir=VAR_DIR)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_USER_MODEL = "catalog.User"

STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.InMemoryStorage"},
    "blobs": read_storage(var_dir=VAR_DIR),
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
# How long the link of an invitation works.
PASSWORD_RESET_TIMEOUT = 7 * 24 * 60 * 60
LOGIN_URL = "sign-in"
LOGIN_REDIRECT_URL = "skill-list"
LOGOUT_REDIRECT_URL = "sign-in"

LANGUAGE_CODE = "en"
# Every text goes through gettext; a language is offered as soon as there is a catalog of it.
LANGUAGES = [("en", _("English"))]
TIME_ZONE = "UTC"
USE_TZ = True

STATIC_URL = "/static/"
STATIC_ROOT = VAR_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]

# portal/wsgi.py bounds whole bodies. Of a form, what is no upload stays in memory: at most a file
# that is edited in the browser, and the fields beside it. Uploads over 1 MiB go to a file in VAR_DIR.
DATA_UPLOAD_MAX_MEMORY_SIZE = LIMITS.max_file_bytes + MIB
FILE_UPLOAD_TEMP_DIR = VAR_DIR / "tmp"
FILE_UPLOAD_TEMP_DIR.mkdir(parents=True, exist_ok=True)
FILE_UPLOAD_MAX_MEMORY_SIZE = MIB

# Security. The public name and its proxy decide about HTTPS; the rest is always on.
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_AGE = 12 * 60 * 60
SECURE_SSL_REDIRECT = HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_HSTS_SECONDS = 365 * 24 * 60 * 60 if HTTPS else 0
# Both speak for names that are not ours, and browsers keep to them for a year: the owner of the domain decides.
SECURE_HSTS_INCLUDE_SUBDOMAINS = read_switch("HSTS_INCLUDE_SUBDOMAINS", False)
SECURE_HSTS_PRELOAD = read_switch("HSTS_PRELOAD", False)
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "font-src": ["'self'"],
        "connect-src": ["'self'"],
        "form-action": ["'self'"],
        "base-uri": ["'none'"],
        "frame-ancestors": ["'none'"],
    },
}
CSRF_FAILURE_VIEW = "portal.views.errors.csrf_failure"

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["portal.api.authentication.TokenAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": [
        "portal.api.throttling.WithinLimit",
        "portal.api.authentication.HasScope",
    ],
    "DEFAULT_RENDERER_CLASSES": ["portal.api.rendering.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["portal.api.rendering.JSONParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "portal.api.errors.answer_problem",
    "UNAUTHENTICATED_USER": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Quartermaster",
    "DESCRIPTION": "The catalog of record for the skills of AI agents.",
    "VERSION": VERSION,
    "SERVE_INCLUDE_SCHEMA": False,
    "OAS_VERSION": "3.1.0",
    "APPEND_COMPONENTS": {"schemas": SHAPES},
    # The shapes are ours and have their names; no serializer is guessed at.
    "POSTPROCESSING_HOOKS": [],
}

REDIS_URL = env.str("REDIS_URL", default="")
if REDIS_URL and not REDIS_URL.startswith(("redis://", "rediss://", "unix://")):
    raise ImproperlyConfigured("REDIS_URL is not an address of Redis; give redis://host:port/0.")
REDIS_SECONDS = 1
COUNTERS_DIR = VAR_DIR / "counters"
CACHES = {
    "default": (
        {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": REDIS_URL,
            # A Redis that says nothing is given up as one that is gone: a request waits for it this once.
            "OPTIONS": {
                "socket_connect_timeout": REDIS_SECONDS,
                "socket_timeout": REDIS_SECONDS,
                "retry": Retry(NoBackoff(), 0),
            },
        }
        if REDIS_URL
        else {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
    ),
}

PORTAL_URL = read_portal_url(ALLOWED_HOSTS, https=HTTPS)
# Whether that is somebody's word; else a link that is shown begins with the host that was asked for.
PORTAL_IS_NAMED = bool(env.str("PORTAL_URL", default="").strip())
# Without the address of a server no mail is sent.
MAIL = read_mail(PORTAL_URL)
MAIL_IS_ON = MAIL.host != ""
EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
EMAIL_HOST, EMAIL_PORT = MAIL.host, MAIL.port
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = MAIL.user, MAIL.password
EMAIL_USE_TLS, EMAIL_USE_SSL = MAIL.starttls, MAIL.tls
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = SERVER_EMAIL = MAIL.sender

CELERY_BROKER_URL = REDIS_URL or "spool://localhost"
SPOOL_DIR = VAR_DIR / "broker"
# The worker waits on Redis by itself; each command is answered soon, or the connection is made anew.
CELERY_BROKER_TRANSPORT_OPTIONS = {"socket_connect_timeout": 5, "socket_timeout": 10} if REDIS_URL else {}
CELERY_TIMEZONE = "UTC"
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 4
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BEAT_SCHEDULER = "django_celery_beat.schedulers:DatabaseScheduler"
CELERY_BEAT_SCHEDULE = {
    "sweep": {"task": "governance.tasks.sweep", "schedule": 24 * 60 * 60.0},
    "forget": {"task": "governance.tasks.forget", "schedule": 60 * 60.0},
    "rescan": {"task": "governance.tasks.rescan", "schedule": 60 * 60.0},
    "expire": {"task": "governance.tasks.expire", "schedule": 60 * 60.0},
    "erase": {"task": "governance.tasks.erase", "schedule": 60.0},
    "remask": {"task": "governance.tasks.remask", "schedule": 60.0},
    "steps": {"task": "governance.tasks.steps", "schedule": 60.0},
    "tell": {"task": "governance.tasks.tell", "schedule": 60.0},
    "post": {"task": "governance.tasks.post", "schedule": 60.0},
}

LOG_LEVEL = env.str("LOG_LEVEL", default="INFO").upper()
if LOG_LEVEL not in {"DEBUG", "INFO", "WARNING", "ERROR"}:
    raise ImproperlyConfigured(f"LOG_LEVEL is {LOG_LEVEL!r}; give DEBUG, INFO, WARNING or ERROR.")
QUIET = LOG_LEVEL if LOG_LEVEL in {"DEBUG", "ERROR"} else "WARNING"
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"masked": {"()": "portal.logs.Masked"}},
    "formatters": {"line": {"format": "{asctime} {levelname} {name} {message}", "style": "{"}},
    "handlers": {
        "console": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["masked"]},
    },
    "root": {"handlers": ["console"], "level": LOG_LEVEL},
    "loggers": {
        # Paths may hold tokens; a 404 is no event of ours.
        "django.request": {"level": "ERROR"},
        "django.server": {"level": "ERROR"},
        # Statements with their values, of sessions and passwords too.
        "django.db.backends": {"level": "INFO"},
        # What they say when all is well is for their own authors.
        **{name: {"level": QUIET} for name in ("celery.beat", "celery.worker", "kombu")},
        # Celery puts the logger of its scheduler below its own.
        "django_celery_beat.schedulers": {"level": QUIET},
    },
}

TESTING = "pytest" in sys.modules
COUNT_IN_BACKGROUND = not TESTING
if TESTING:
    PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
