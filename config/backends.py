"""Who is behind a session: Django's own, looked up at every request without making SQL anew."""

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import User

from benchmarks.prepared import Prepared

_USER = Prepared(lambda pk: User.objects.filter(pk=pk), pk=int)


class PasswordBackend(ModelBackend):
    """Names and passwords."""

    def get_user(self, user_id: int) -> User | None:
        """The person of a session, unless their account is closed."""
        found = _USER.first(pk=int(user_id))
        return found if found is not None and self.user_can_authenticate(found) else None
