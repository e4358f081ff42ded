"""Sessions in the database, as Django has them, read at every request without making SQL anew."""

from typing import Any

from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.utils import timezone

from benchmarks.prepared import Prepared

_SESSION = Prepared(lambda key: Session.objects.filter(session_key=key), key=str)


class SessionStore(db.SessionStore):
    """Django's own, but for how a session is looked up."""

    def _get_session_from_db(self) -> Any:
        found = _SESSION.first(key=self.session_key) if self.session_key else None
        if found is None or found.expire_date <= timezone.now():
            self._session_key = None
            return None
        return found
