"""Who is behind a session, and what they may: Django's own, without making SQL anew each time."""

from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import AnonymousUser, Permission, User
from django.db.models import Model

from benchmarks.prepared import Prepared

_USER = Prepared(lambda pk: User.objects.filter(pk=pk), pk=int)
_NAMES = ("content_type__app_label", "codename")
_OWN = Prepared(
    lambda user: Permission.objects.filter(user=user).order_by().values_list(*_NAMES), user=int
)
_OF_GROUPS = Prepared(
    lambda user: Permission.objects.filter(group__user=user).order_by().values_list(*_NAMES),
    user=int,
)


class PasswordBackend(ModelBackend):
    """Names and passwords."""

    def get_user(self, user_id: int) -> User | None:
        """The person of a session, unless their account is closed."""
        found = _USER.first(pk=int(user_id))
        return found if found is not None and self.user_can_authenticate(found) else None

    def get_all_permissions(
        self, user_obj: User | AnonymousUser, obj: Model | None = None
    ) -> set[str]:
        """The rights of a person and of their groups; kept with the person, as Django does."""
        person: Any = user_obj
        if not person.is_active or person.is_anonymous or person.is_superuser or obj is not None:
            return super().get_all_permissions(person, obj)
        if not hasattr(person, "_perm_cache"):
            rows = {*_OWN.all(user=person.pk), *_OF_GROUPS.all(user=person.pk)}
            person._perm_cache = {f"{app}.{name}" for app, name in rows}
        return set(person._perm_cache)
