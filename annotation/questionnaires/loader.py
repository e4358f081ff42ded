"""Find questionnaires: those in files, ours and of plug-ins, and those written on a page."""

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from annotation.models import StoredQuestionnaire
from annotation.questionnaires.reading import read_questionnaire
from annotation.questionnaires.types import ANY, PLAYING, Questionnaire, QuestionnaireError
from benchmarks.core import plugins
from benchmarks.core.plugins import PlugIn, PlugInFault

FOLDER = Path(__file__).parent
_ID = re.compile(r"^(?P<name>[a-z][a-z0-9_]*)@(?P<version>[1-9][0-9]{0,8})$")
_FILE_NAME = re.compile(r"\A(?P<name>[a-z][a-z0-9_]*)\.v(?P<version>[1-9][0-9]{0,8})\.yaml")
# The files by the ids of their questionnaires, and the plug-ins among them.
_FILES: dict[str, Path] = {}
_PLUG_INS: dict[str, PlugIn] = {}


def shipped_questionnaires() -> list[str]:
    """Return the ids of all questionnaires in files, which no page changes."""
    return sorted(_FILES)


def plug_in_of(id: str) -> PlugIn | None:
    """Return the plug-in that brings a questionnaire; None for all others."""
    return _PLUG_INS.get(id)


def known_questionnaires() -> list[str]:
    """Return the ids of all questionnaires: those in files, then those that are stored alone."""
    rows = StoredQuestionnaire.objects.order_by("name", "version").values_list("name", "version")
    stored = (f"{name}@{version}" for name, version in rows)
    return list(dict.fromkeys([*shipped_questionnaires(), *stored]))


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


def questionnaires_for_players(system: str) -> list[Questionnaire]:
    """Return the questionnaires about playing a system, of each the newest version."""
    return [
        questionnaire
        for questionnaire in newest_questionnaires()
        if questionnaire.kind == PLAYING
        and questionnaire.unit == "trajectory"
        and questionnaire.system in (ANY, system)
    ]


@lru_cache(maxsize=256)
def load_questionnaire(id: str) -> Questionnaire:
    """Return the questionnaire ``NAME@VERSION``, checked. A version never changes, so it is
    kept.
    """
    text = questionnaire_text(id)
    return read_questionnaire(text, source=f"questionnaire {id}", id=id, stored=id not in _FILES)


def questionnaire_text(id: str) -> str:
    """Return the questionnaire ``NAME@VERSION`` as it was written.

    Of a plug-in's questionnaire that a study has used it is the text of that time.
    """
    match = _ID.match(id)
    if match is not None:
        if id in _FILES and id not in _PLUG_INS:
            return _FILES[id].read_text(encoding="utf-8")
        text = _stored(match["name"], int(match["version"]))
        if text is not None:
            return text
        if id in _FILES:
            return _FILES[id].read_text(encoding="utf-8")
    known = ", ".join(known_questionnaires())
    raise QuestionnaireError(f"there is no questionnaire {id!r}; known are {known}")


def _stored(name: str, version: int) -> str | None:
    rows = StoredQuestionnaire.objects.filter(name=name, version=version)
    return rows.values_list("text", flat=True).first()


def _id_of(path: Path) -> str:
    match = _FILE_NAME.fullmatch(path.name)
    if match is None:
        raise PlugInFault(
            f"Its file is called {path.name}.", "Call it by name and version: my_questions.v1.yaml."
        )
    return f"{match['name']}@{match['version']}"


def _add(plug_in: PlugIn, path: object) -> None:
    """Register the questionnaire of a plug-in."""
    if not isinstance(path, Path):
        raise PlugInFault(
            f"{plug_in.target} is of type {type(path).__name__}, not a path.",
            "Let it name the pathlib.Path of a YAML file.",
        )
    id = _id_of(path)
    name = id.partition("@")[0]
    if id in _FILES or any(known.partition("@")[0] == name for known in _FILES.keys() - _PLUG_INS):
        raise PlugInFault(f"There is already a questionnaire {id}.", "Give it another name.")
    try:
        read_questionnaire(path.read_text(encoding="utf-8"), source=path.name, id=id)
    except QuestionnaireError as error:
        raise PlugInFault(f"{str(error).rstrip('.')}.", "Mend the file and restart.") from None
    _FILES[id], _PLUG_INS[id] = path, plug_in


_FILES.update({_id_of(path): path for path in FOLDER.glob("*.v*.yaml")})
# The last line: a plug-in may import what stands above.
plugins.load("questionnaires", _add)
