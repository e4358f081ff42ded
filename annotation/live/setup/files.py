"""Read a study of sessions from a YAML file into the fields of the form.

docs/live-sessions.md describes the format. `annotation.live.setup.forms` defines and validates the
fields.
"""

from collections.abc import Mapping
from typing import Any

from django.forms import Form

from annotation.live.setup.forms import NAMED, POOL, LiveStudyForm
from annotation.live.setup.sessions import mode_of
from benchmarks.core.problems import FileRefused
from benchmarks.core.yaml_files import read_yaml
from benchmarks.models import Dataset
from benchmarks.visibility import EVERYTHING, Visibility

# What stands in a file of its own accord, or under another name than in the form.
OWN = {"dataset", "mode", "players", "roles", "settings"}


class LiveFileRefused(Exception):
    """A file that says nothing that can be made; ``problems`` say where and why."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        super().__init__("; ".join(problems))


def read_live_file(text: str) -> LiveStudyForm:
    """Return the valid form of a study of sessions. Raises ``LiveFileRefused`` with all problems at
    once.

    A field that is left out is as the page shows it at first.
    """
    try:
        read = read_yaml(text)
    except FileRefused as refused:
        raise LiveFileRefused([str(fault) for fault in refused.problems]) from None
    try:
        return read_live_document(read.value)
    except LiveFileRefused as refused:
        lines = {f"{path[0]}": line for path, line in read.lines.items() if len(path) == 1}
        raise LiveFileRefused(
            [_with_line(problem, lines) for problem in refused.problems]
        ) from None


def read_live_document(given: Any, *, seen: Visibility = EVERYTHING) -> LiveStudyForm:
    """Read the same from the fields of a file, as far as the reader may see datasets and agents."""
    if not isinstance(given, Mapping):
        raise LiveFileRefused(["a file holds fields and their values"])
    dataset = _dataset(str(given.get("dataset", "")), seen)
    mode = mode_of(dataset.system, str(given.get("mode", "")))
    blank = LiveStudyForm(None, dataset=dataset, mode=mode, seen=seen)
    data, problems = _data(blank, given)
    form = LiveStudyForm(data, dataset=dataset, mode=mode, seen=seen)
    form.is_valid()
    problems += [
        f"{name}: {' '.join(map(str, messages))}" for name, messages in form.errors.items()
    ]
    if problems:
        raise LiveFileRefused(problems)
    return form


def _with_line(problem: str, lines: Mapping[str, int]) -> str:
    """Return a problem with the line of the field that it begins with, where the file has that
    field.
    """
    line = lines.get(problem.partition(":")[0])
    return problem if line is None else f"line {line}, {problem}"


def _dataset(name: str, seen: Visibility) -> Dataset:
    visible = seen.of(Dataset.objects.all())
    rows = list(visible.filter(name=name).order_by("-pk")[:2])
    if name.isdecimal() and not rows:
        rows = list(visible.filter(pk=int(name[:18])))
    if not rows:
        known = ", ".join(visible.order_by("name").values_list("name", flat=True)[:20])
        raise LiveFileRefused([f"dataset: there is no {name!r}; known are {known or 'none'}"])
    if len(rows) > 1:
        raise LiveFileRefused([f"dataset: several are named {name!r}; give its number"])
    return rows[0]


def _data(blank: Form, given: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return what the form is sent, and what it has no field for."""
    data = {
        name: _sent(field.initial)
        for name, field in blank.fields.items()
        if field.initial not in (None, False)
    }
    own = {name: value for name, value in given.items() if name not in OWN}
    problems = []
    players = given.get("players")
    if isinstance(players, list):
        own |= {"players": NAMED, "names": "\n".join(map(str, players))}
    elif type(players) is int:
        own |= {"players": POOL, "seats": players}
    else:
        problems.append("players: a list of user names, or how many can join by a link")
    for name, value in _mapping(given, "settings", problems).items():
        own[f"set_{name}"] = value
    for name, value in _mapping(given, "roles", problems).items():
        seats = value if isinstance(value, list) else [value]
        places = [field for field in blank.fields if field.startswith(f"role_{name}_")]
        if not places or not seats:
            problems.append(f"roles: nobody has to be named for {name!r}")
        own |= {place: seats[n % len(seats)] for n, place in enumerate(places) if seats}
    for name, value in own.items():
        if name not in blank.fields:
            problems.append(f"{name}: there is no such field in this mode")
        elif value is False or value is None:
            data.pop(name, None)
        else:
            data[name] = _agents(value) if name == "agents" else _sent(value)
    return data, problems


def _agents(value: Any) -> list[str]:
    return list(map(str, value if isinstance(value, list) else [value]))


def _mapping(given: Mapping[str, Any], name: str, problems: list[str]) -> Mapping[str, Any]:
    mapping = given.get(name) or {}
    if isinstance(mapping, Mapping):
        return mapping
    problems.append(f"{name}: names and their values")
    return {}


def _sent(value: Any) -> Any:
    """Return a value as a browser sends it; a list is one entry a line."""
    if isinstance(value, list):
        return "\n".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)
