"""A server for others: HTTPS in front, the secret key and the host names given by the operator."""

from config.settings import env

# Settings modules of Django build on one another in this way; base.py defines every name.
from config.settings.base import *  # noqa: F403

# Several machines must share one key, so none is made up here; a system check asks for it.
SECRET_KEY = env.text("PLANJURY_SECRET_KEY", default="")
ALLOWED_HOSTS = env.words("PLANJURY_ALLOWED_HOSTS")

SESSION_COOKIE_SECURE = env.flag("PLANJURY_SECURE_COOKIES", default=True)
CSRF_COOKIE_SECURE = SESSION_COOKIE_SECURE
ACCOUNT_DEFAULT_HTTP_PROTOCOL = "https"
SECURE_SSL_REDIRECT = env.flag("PLANJURY_SSL_REDIRECT", default=True)
# Only where the proxy in front sets or removes this header itself may it be believed.
SECURE_PROXY_SSL_HEADER = (
    ("HTTP_X_FORWARDED_PROTO", "https") if env.flag("PLANJURY_TRUST_PROXY", default=False) else None
)
ACCESS_LOG = env.flag("PLANJURY_ACCESS_LOG", default=True)
