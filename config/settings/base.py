"""Settings that hold everywhere. Each environment variable is explained in docs/settings.md."""

import os
from pathlib import Path
from typing import Any

from csp.constants import NONE, SELF, UNSAFE_INLINE

from benchmarks.core import plugins
from config.settings import env, services

BASE_DIR = Path(__file__).resolve().parent.parent.parent
# Everything the app writes lies in this one folder: back it up and nothing is lost.
DATA_DIR = env.data_folder(BASE_DIR)

# Studies are exported here before they, or their answers, are deleted.
ARCHIVE_DIR = env.folder("PLANJURY_ARCHIVE_DIR", default=DATA_DIR / "archive")

VERSION = env.product_version(BASE_DIR / "pyproject.toml")

# Folders of plug-ins, besides packages that are installed in the environment.
PLUGIN_DIRS = env.folders("PLANJURY_PLUGIN_DIRS")
plugins.add_folders(PLUGIN_DIRS)
# Loads the systems of plug-ins, so it comes after their folders.
from benchmarks.core.registry import system_folders  # noqa: E402

DEBUG = False
ALLOWED_HOSTS = env.words("PLANJURY_ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.words("PLANJURY_TRUSTED_ORIGINS")
# How many proxies stand in front, each adding to X-Forwarded-For. Where that is not said, one on
# this machine is noticed by itself.
_proxies = env.optional_integer("PLANJURY_PROXIES", most=10)
PROXIES_GIVEN = _proxies is not None
PROXIES = _proxies or 0

INSTALLED_APPS = [
    "config",
    "benchmarks",
    "annotation",
    "analysis",
    "devtools",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.messages",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    # Its tables are always there, so that a backup fits every installation.
    "allauth.socialaccount",
    "csp",
    "django_htmx",
]

MIDDLEWARE = [
    "config.operations.requests.follow_requests",
    "config.middleware.client_address",
    "config.operations.health.answer_probes",  # asked by IP address, so before host names count
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",  # its files are compressed when collected
    "config.middleware.CompressText",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    # Also sets Content-Length, without which small answers would go out in chunks.
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "config.middleware.same_person",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "benchmarks.api.errors.ErrorShape",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"

TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        # A system brings the templates of its own pages in its folder.
        "DIRS": [
            BASE_DIR / "templates",
            *(folder / "templates" for folder in system_folders().values()),
        ],
        "APP_DIRS": True,
        "OPTIONS": {
            "builtins": ["benchmarks.templatetags.planjury"],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "config.context.navigation",
                "config.context.single_sign_on",
                "config.context.seen",
            ],
        },
    },
]

# --- Data -----------------------------------------------------------------------------------------

_database_url = env.text("DATABASE_URL", default="")
DATABASES: dict[str, dict[str, Any]] = {
    "default": services.database_from_url(_database_url, name="DATABASE_URL")
    if _database_url
    else services.sqlite_database(DATA_DIR / "planjury.sqlite3"),
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- People ---------------------------------------------------------------------------------------

AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
    "annotation.access.StudyMakers",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/"
ACCOUNT_LOGOUT_REDIRECT_URL = "/"
# Nobody signs up by themselves: accounts are made by an administrator or by an invitation.
ACCOUNT_ADAPTER = "config.accounts.AccountAdapter"
ACCOUNT_FORMS = {"login": "config.account_forms.SignInForm"}
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
# Counted in the cache. A right password is not counted among the failures, a wrong one is, for the
# address that it came from, and for name and address together (the key): after 5 of those the name
# has to wait at this address. From other addresses it can still sign in, so that nobody can lock
# somebody else out. After 20 wrong ones from anywhere, one attempt on the name is let through every
# 10 seconds.
ACCOUNT_RATE_LIMITS = {
    "login": "30/m/ip",
    "login_failed": "10/m/ip,5/5m/key",
    "login_failed_anywhere": "20/10m/key",
    "login_slowed": "1/10s/key",
    "reauthenticate": "10/m/user",
    "change_password": "5/m/user",
    "join": "30/m/ip",
}
# No "remember me": every session lasts SESSION_COOKIE_AGE.
ACCOUNT_SESSION_REMEMBER = True
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes"]
MFA_TOTP_ISSUER = "PlanJury"
# Mail goes to the log until an operator names a server for it.
EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
_smtp_url = env.text("PLANJURY_SMTP_URL", default="")
SENDS_MAIL = bool(_smtp_url)
if SENDS_MAIL:
    globals().update(services.mail_settings(_smtp_url, name="PLANJURY_SMTP_URL"))
DEFAULT_FROM_EMAIL = SERVER_EMAIL = env.text(
    "PLANJURY_MAIL_FROM", default="PlanJury <planjury@localhost>"
)

# Signing in through an OpenID Connect server; its secret is in the environment and nowhere else.
_oidc_secret = env.text("PLANJURY_OIDC_CLIENT_SECRET", default="")
OIDC = services.OidcServer(
    url=env.text("PLANJURY_OIDC_SERVER", default=""),
    client_id=env.text("PLANJURY_OIDC_CLIENT_ID", default=""),
    name=env.text("PLANJURY_OIDC_NAME", default="single sign-on"),
    new_accounts=tuple(name.lower() for name in env.words("PLANJURY_OIDC_NEW_ACCOUNTS")),
    has_secret=bool(_oidc_secret),
)
SOCIALACCOUNT_ADAPTER = "config.sso.IdentityAdapter"
# Whoever links an identity to an account, or unlinks it, proves again that it is theirs.
SOCIALACCOUNT_REAUTHENTICATION_REQUIRED = True
SOCIALACCOUNT_PROVIDERS: dict[str, Any] = {}
if OIDC.complete:
    INSTALLED_APPS.append(services.OIDC_APP)
    SOCIALACCOUNT_PROVIDERS = services.provider_settings(OIDC, secret=_oidc_secret)

# A session is a row, so that signing out, a new password and a withdrawal end it on the server.
SESSION_ENGINE = "django.contrib.sessions.backends.db"
SESSION_COOKIE_AGE = 12 * 60 * 60
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = env.flag("PLANJURY_SECURE_COOKIES", default=False)
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SECURE = SESSION_COOKIE_SECURE

# --- What a browser may do ------------------------------------------------------------------------

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF],
        # The figures' library sets styles on its elements.
        "style-src": [SELF, UNSAFE_INLINE],
        "img-src": [SELF, "data:", "blob:"],
        "object-src": [NONE],
        "base-uri": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    },
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SECURE_HSTS_SECONDS = env.integer("PLANJURY_HSTS_SECONDS", default=0)

# --- Static files ---------------------------------------------------------------------------------

STATIC_URL = "/static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "config.static_files.UsedFilesFinder",
]
STORAGES: dict[str, dict[str, Any]] = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "config.static_files.StaticFiles"},
}
# Pages ask for files by the names that hold their digest, so no others are kept or compressed.
WHITENOISE_KEEP_ONLY_HASHED_FILES = True
# Only our own pages use our files.
WHITENOISE_ALLOW_ALL_ORIGINS = False

# The documentation, where `make docs` or the wheel has put it.
DOCS_SITE = BASE_DIR / "site"

# --- Background work ------------------------------------------------------------------------------

BROKER_DIR = DATA_DIR / "broker"
CELERY_BROKER_URL = services.checked_broker(
    env.text("PLANJURY_BROKER_URL", default="fsq://"), name="PLANJURY_BROKER_URL"
)
CELERY_BROKER_TRANSPORT_OPTIONS = services.transport_options(CELERY_BROKER_URL, folder=BROKER_DIR)
# In Redis, if that is the broker, so that machines share them.
CACHES = services.caches(CELERY_BROKER_URL, folder=DATA_DIR)
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
# The truth about background work is a Job row; a message only says "look".
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_WORKER_SEND_TASK_EVENTS = False
CELERY_WORKER_POOL = "threads"
# How many workers may share the trajectories of one run.
WORKERS_PER_RUN = env.integer("PLANJURY_WORKERS_PER_RUN", default=4, least=1, most=256)
# How many trajectories a process carries at once.
RUN_THREADS = env.integer("PLANJURY_WORKER_THREADS", default=4, least=1, most=256)
# How many trajectories on endpoints, beside those. They mostly wait, and the endpoints' own limits
# decide how many are carried at once; this only bounds what a process needs for it.
ENDPOINT_THREADS = env.integer("PLANJURY_ENDPOINT_THREADS", default=256, least=1, most=1000)
# How many trajectories of live sessions, beside those of runs: people wait for them.
LIVE_THREADS = env.integer("PLANJURY_LIVE_THREADS", default=32, least=1, most=256)
# Two more, so that imports and trials of endpoints need not wait for a run to end.
CELERY_WORKER_CONCURRENCY = RUN_THREADS + 2
CELERY_TIMEZONE = "UTC"
# How long a worker that is told to end finishes calls; None: the longest timeout of an endpoint
# that an unfinished run uses, and ten seconds more.
DRAIN_SECONDS = env.optional_integer("PLANJURY_DRAIN_SECONDS", most=3_700)
# How long a web server that is told to end finishes requests.
WEB_DRAIN_SECONDS = 25

# --- Model endpoints ------------------------------------------------------------------------------

# The hosts an administrator may point an endpoint at.
PLANJURY_ENDPOINT_HOSTS = env.words(
    "PLANJURY_ENDPOINT_HOSTS", default=["localhost", "127.0.0.1", "::1"]
)

# --- What comes in ------------------------------------------------------------------------------

# The largest file of trajectories that pages and the API take.
UPLOAD_BYTES = env.integer("PLANJURY_UPLOAD_MB", default=200, least=1, most=10_000) << 20
# The largest table of ratings.
TABLE_BYTES = env.integer("PLANJURY_TABLE_MB", default=20, least=1, most=1000) << 20
# What checking an upload may take before it is stopped: CPU seconds, to which 2 are added for each
# MB of the file, and MB of memory.
READING_SECONDS = env.integer("PLANJURY_READING_SECONDS", default=60, least=1, most=86_400)
READING_MB = env.integer("PLANJURY_READING_MB", default=1024, least=256, most=1_000_000)
# The API imports files up to this size while their sender waits, larger ones in the background.
IMPORT_AT_ONCE_BYTES = 1 << 20
# Requests with a wrong token that the API answers, for each address and minute.
API_WRONG_TOKENS = 30
# Requests that programs of one user may send in a minute.
API_REQUESTS_PER_MINUTE = env.integer("PLANJURY_API_PER_MINUTE", default=600, least=1, most=10**6)

# --- Figures as PDF -------------------------------------------------------------------------------

# The browser that prints them: given, switched off, or else looked for under these names.
CHROMIUM = env.program("PLANJURY_CHROMIUM")
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

# --- The server command ---------------------------------------------------------------------------

SERVE_HOST = env.text("PLANJURY_HOST", default="127.0.0.1")
SERVE_PORT = env.integer("PORT", default=8000, least=1, most=65535)
# More than one share caches and messages in Redis, and the database's writers in PostgreSQL.
WEB_PROCESSES = env.integer("PLANJURY_WEB_PROCESSES", default=1, least=1, most=64)
if WEB_PROCESSES > 1:
    # Before prometheus_client is imported: it then counts in files that all processes read.
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(DATA_DIR / "metrics")
WEB_THREADS = env.integer("PLANJURY_WEB_THREADS", default=16, least=1, most=256)
# How many pages of live sessions may watch a model write at once, in each web process. Each takes a
# thread that mostly sleeps.
STREAM_THREADS = env.integer("PLANJURY_STREAM_THREADS", default=64, least=1, most=512)
# Fill an empty database with the demo.
DEMO = env.flag("PLANJURY_DEMO", default=False)

# --- Health and metrics ---------------------------------------------------------------------------

# Addresses and networks that are told why the server is not ready.
HEALTH_IPS = env.networks("PLANJURY_HEALTH_IPS", default=["127.0.0.1", "::1"])
# Whoever sends it as a bearer token reads /metrics; without one there is no such page.
METRICS_TOKEN = env.text("PLANJURY_METRICS_TOKEN", default="")
# With less room in the data folder the server is not ready.
MIN_FREE_MB = env.integer("PLANJURY_MIN_FREE_MB", default=100, least=1, most=10_000_000)

# --- Backups --------------------------------------------------------------------------------------

# How many of a backup's rows `check_backup` restores, in percent.
BACKUP_SAMPLE = env.integer("PLANJURY_BACKUP_SAMPLE", default=10, least=1, most=100)

# --- Language, time, log --------------------------------------------------------------------------

LANGUAGE_CODE = "en-gb"
USE_I18N = True
TIME_ZONE = "UTC"
USE_TZ = True

LOG_LEVEL = env.choice(
    "PLANJURY_LOG_LEVEL", default="INFO", among={"DEBUG", "INFO", "WARNING", "ERROR"}
)
LOG_FORMAT = env.choice("PLANJURY_LOG_FORMAT", default="line", among={"line", "json"})
# One line in the log for each request.
ACCESS_LOG = env.flag("PLANJURY_ACCESS_LOG", default=False)
LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {
        "request": {"()": "config.operations.logs.AddRequestId"},
        "outages": {"()": "config.operations.logs.OutagesOnce"},
        # A page that somebody may not see is no fault: one line, and no stack trace.
        "refused": {"()": "config.operations.logs.FaultsOfUsersInOneLine"},
    },
    "formatters": {
        "line": {
            "()": "config.operations.logs.LineFormatter",
            "format": "%(asctime)s %(levelname)s %(name)s: %(message)s",
        },
        "json": {"()": "config.operations.logs.JsonFormatter"},
    },
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "formatter": LOG_FORMAT,
            "filters": ["request", "refused", "outages"],
        }
    },
    "root": {"handlers": ["stderr"], "level": LOG_LEVEL},
    "loggers": {
        "django": {"handlers": [], "level": LOG_LEVEL, "propagate": True},
        # It is switched on by a setting of its own.
        "planjury.access": {"level": "INFO"},
        # One line for each message received and each task done says nothing a Job does not.
        "celery": {"level": "WARNING"},
        "kombu": {"level": "WARNING"},
    },
}
# Where unexpected errors are reported, besides the log; needs the extra "errors".
SENTRY_DSN = env.text("PLANJURY_SENTRY_DSN", default="")
