"""The benchmark systems that can be run."""

from typing import Any

from django.http import Http404, HttpRequest
from ninja import Router

from benchmarks.access import VIEW, allow
from benchmarks.api.errors import refusals
from benchmarks.api.schemas.catalogue import SystemOut
from benchmarks.core.registry import SYSTEMS, get_system

router = Router(tags=["Systems"])


@router.get("/systems", response={200: list[SystemOut], **refusals()})
def list_systems(request: HttpRequest) -> list[dict[str, Any]]:
    """All systems with their roles, settings and dimensions."""
    allow(request, VIEW)
    return [_system(key) for key in SYSTEMS]


@router.get("/systems/{key}", response={200: SystemOut, **refusals(404)})
def get_one_system(request: HttpRequest, key: str) -> dict[str, Any]:
    """One system."""
    allow(request, VIEW)
    if key not in SYSTEMS:
        raise Http404
    return _system(key)


def _system(key: str) -> dict[str, Any]:
    system = get_system(key)
    scripts = system.scripted.values()
    return {
        "key": system.key,
        "title": system.title,
        "protocol_version": system.protocol_version,
        "roles": [
            {
                "name": role.name,
                "title": role.title,
                "judges": role.judges,
                "seats": role.seats,
                "scripts": [p.name for p in scripts if p.role == role.name],
            }
            for role in system.roles
        ],
        "settings": [
            {
                "name": setting.name,
                "kind": setting.kind,
                "default": setting.default,
                "help": setting.help,
                "choices": list(setting.choices),
                "minimum": setting.minimum,
                "maximum": setting.maximum,
            }
            for setting in system.settings
        ],
        "dimensions": [
            {"key": d.key, "title": d.title, "definition": d.definition} for d in system.dimensions
        ],
    }
