"""Requests that may be sent twice: the same Idempotency-Key gets the same answer, and no more."""

import hashlib
import json
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.http import HttpRequest
from django.utils import timezone
from ninja import Status

from benchmarks.api.errors import ApiError
from benchmarks.models import StoredAnswer

HEADER = "Idempotency-Key"
KEPT = timedelta(days=7)
_FORM = re.compile(r"[\x21-\x7e]{1,200}")
Answer = tuple[int, dict[str, Any]]
DESCRIPTION = {
    "parameters": [
        {
            "in": "header",
            "name": HEADER,
            "required": False,
            "schema": {"type": "string", "pattern": r"^[\x21-\x7e]+$", "maxLength": 200},
            "description": "A text of your own, such as a UUID. The same request sent again with "
            "it within seven days gets the same answer and begins nothing new.",
        }
    ]
}


def once(request: HttpRequest, act: Callable[[], Answer], *, content: str) -> Status[Any]:
    """Do what is asked, or give the answer that this key got before.

    ``content`` stands for what is asked. Key, work and answer are committed together: after a
    failure nothing is stored, and the request can be repeated. Of two at the same time the second
    waits for the first.
    """
    key = request.headers.get(HEADER)
    if key is None:
        return Status(*act())
    if not _FORM.fullmatch(key):
        raise ApiError(422, "Expected 1 to 200 visible ASCII characters.", HEADER)
    assert isinstance(request.user, User)
    asked = json.dumps([request.method, request.path, content])
    fingerprint = hashlib.sha256(asked.encode()).hexdigest()
    mine = StoredAnswer.objects.filter(user=request.user)
    mine.filter(created_at__lt=timezone.now() - KEPT).delete()
    if stored := mine.filter(key=key).first():
        return _again(stored, fingerprint)
    try:
        with transaction.atomic():
            row = StoredAnswer.objects.create(
                user=request.user, key=key, fingerprint=fingerprint, status=0, body={}
            )
            row.status, row.body = act()
            row.save(update_fields=["status", "body"])
    except IntegrityError:
        stored = mine.filter(key=key).first()
        if stored is None:
            raise
        return _again(stored, fingerprint)
    return Status(row.status, row.body)


def _again(stored: StoredAnswer, fingerprint: str) -> Status[Any]:
    if stored.fingerprint != fingerprint:
        raise ApiError(
            409, "This key was used for another request; take a new one.", HEADER, "key_reused"
        )
    return Status(stored.status, stored.body)
