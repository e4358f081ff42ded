"""Find questionnaires: shipped ones, and those written on a page."""

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from annotation.models import StoredQuestionnaire
from annotation.questionnaires.reading import read_questionnaire
from annotation.questionnaires.types import Questionnaire, QuestionnaireError

FOLDER = Path(__file__).parent
_ID = re.compile(r"^(?P<name>[a-z][a-z0-9_]*)@(?P<version>[1-9][0-9]{0,8})$")


def shipped_questionnaires() -> list[str]:
    """Return the ids of all questionnaires that ship with the product."""
    parts = (path.name.split(".") for path in FOLDER.glob("*.v*.yaml"))
    return sorted(f"{name}@{version.removeprefix('v')}" for name, version, _ in parts)


def known_questionnaires() -> list[str]:
    """Return the ids of all questionnaires: the shipped ones, then those written on pages."""
    rows = StoredQuestionnaire.objects.order_by("name", "version").values_list("name", "version")
    return [*shipped_questionnaires(), *(f"{name}@{version}" for name, version in rows)]


def newest_questionnaires() -> Iterator[Questionnaire]:
    """Return the newest version of each questionnaire."""
    newest: dict[str, Questionnaire] = {}
    for questionnaire in map(load_questionnaire, known_questionnaires()):
        known = newest.get(questionnaire.name)
        if known is None or known.version < questionnaire.version:
            newest[questionnaire.name] = questionnaire
    yield from newest.values()


def questionnaires_for(system: str) -> list[Questionnaire]:
    """Return the questionnaires for items of a system, of each the newest version; the simplest
    first.
    """
    fitting = [q for q in newest_questionnaires() if q.system == system and q.unit != "person"]
    return sorted(fitting, key=lambda q: (q.unit != "trajectory", bool(q.wants), q.name))


@lru_cache(maxsize=256)
def load_questionnaire(id: str) -> Questionnaire:
    """Return the questionnaire ``NAME@VERSION``, checked. A version never changes, so it is
    kept.
    """
    return read_questionnaire(questionnaire_text(id), source=f"questionnaire {id}", id=id)


def questionnaire_text(id: str) -> str:
    """Return the questionnaire ``NAME@VERSION`` as it was written."""
    match = _ID.match(id)
    if match is not None:
        name, version = match["name"], int(match["version"])
        path = FOLDER / f"{name}.v{version}.yaml"
        if path.is_file():
            return path.read_text(encoding="utf-8")
        text = _stored(name, version)
        if text is not None:
            return text
    known = ", ".join(known_questionnaires())
    raise QuestionnaireError(f"there is no questionnaire {id!r}; known are {known}")


def _stored(name: str, version: int) -> str | None:
    rows = StoredQuestionnaire.objects.filter(name=name, version=version)
    return rows.values_list("text", flat=True).first()
