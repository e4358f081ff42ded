"""Label sets: files of failure labels, such as a published taxonomy, as lists and pages use them.

A file has key, title, version, source and labels. It ships with the product, comes from a plug-in
(a file ``KEY.vN.yaml`` in a folder ``planjury_label_sets``, or an entry point of that group), or
is uploaded. Adding it makes its labels rows.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F
from pydantic import Field, StrictBool, StrictInt

from annotation.errors import Refused
from annotation.models import FailureLabel, FailureWording, LabelSet
from benchmarks.core import plugins
from benchmarks.core.plugins import PlugIn, PlugInFault
from benchmarks.core.problems import FileRefused, Problems
from benchmarks.core.schemas import STRICT, Checked, Loc, RowSchema, expects
from benchmarks.core.yaml_files import place_of, read_yaml

FOLDER = Path(__file__).parent.parent / "failures"
LONGEST_FILE = 200_000
LONGEST_SET_KEY, LONGEST_LABEL_KEY = 20, 39
MOST_LABELS = 200
# Of every set: what somebody puts who read a trajectory and saw none of its failures.
NONE_KEY = "none"
NONE_TITLE = "None of these"
_FILE_NAME = re.compile(r"\A[a-z][a-z0-9_]*\.v[1-9][0-9]{0,8}\.yaml\Z")


def _words(longest: int) -> Any:
    """Return the constraint of a text that is not blank, of at most so many characters."""
    words = f"a text of 1 to {longest} characters that is not blank"
    return expects(words, strict=True, pattern=r"\S", max_length=longest)


def _key(longest: int) -> Any:
    """Return the constraint of a key of at most so many characters."""
    words = f"up to {longest} lowercase letters, digits and _, a letter first"
    return expects(words, strict=True, pattern=rf"^[a-z][a-z0-9_]{{0,{longest - 1}}}$")


class LabelRow(RowSchema):
    """A label as it is written; one that is the ``parent`` of others is a heading."""

    model_config = STRICT

    key: Annotated[str, _key(LONGEST_LABEL_KEY)]
    name: Annotated[str, _words(80)]
    definition: Annotated[str, _words(600)]
    example: Annotated[str, _words(600)] | None = None
    parent: str | None = None
    exclusive: StrictBool = False


class LabelSetFile(RowSchema):
    """A set of labels as it is written."""

    model_config = STRICT

    key: Annotated[str, _key(LONGEST_SET_KEY)]
    title: Annotated[str, _words(80)]
    version: Annotated[StrictInt, Field(ge=1, le=10**9)]
    source: Annotated[str, expects("a text of at most 200 characters", max_length=200)] = ""
    labels: Annotated[list[LabelRow], Field(min_length=1, max_length=MOST_LABELS)]

    @property
    def id(self) -> str:
        """The set with its version, as lists of files name it."""
        return f"{self.key}@{self.version}"


FILES = Checked[LabelSetFile](LabelSetFile)


def read_label_set(text: str) -> LabelSetFile:
    """Return a label set from YAML; raises `FileRefused` with the line and field of each fault."""
    document = read_yaml(text, longest=LONGEST_FILE)
    problems = Problems()

    def fault(path: Loc, expected: str, found: Any) -> None:
        problems.add(place_of(path, document.lines) or "the file", expected, found)

    file = FILES.read(document.value, fault)
    if file is not None:
        for path, expected, found in _contradictions(file):
            fault(path, expected, found)
    problems.check()
    assert file is not None
    return file


def _contradictions(file: LabelSetFile) -> Iterator[tuple[Loc, str, Any]]:
    """Yield keys and names that stand twice, and parents that cannot be one."""
    seen: dict[str, LabelRow] = {}
    names: set[str] = set()
    for number, label in enumerate(file.labels):
        at: Loc = ("labels", number)
        if label.key in seen or label.key == NONE_KEY:
            taken = "kept for “None of these”" if label.key == NONE_KEY else "each key once"
            yield (*at, "key"), taken if label.key in seen else "a key other than none", label.key
        if label.name.casefold() in {*names, NONE_TITLE.casefold()}:
            yield (*at, "name"), "a name that no other label of the set has", label.name
        if label.parent is not None:
            above = seen.get(label.parent)
            if above is None:
                yield (*at, "parent"), "the key of a label above it", label.parent
            elif above.parent is not None:
                yield (*at, "parent"), "a label that has no parent itself", label.parent
        seen[label.key] = label
        names.add(label.name.casefold())


# --- Files that can be added ----------------------------------------------------------------------

_FILES: dict[str, Path] = {}


def files_to_add() -> list[LabelSetFile]:
    """Return the sets of the product and of plug-ins that are not in the database yet."""
    there = {f"{key}@{number}" for key, number in LabelSet.objects.values_list("key", "version")}
    ids = sorted(set(_FILES) - there)
    return [read_label_set(_FILES[id].read_text(encoding="utf-8")) for id in ids]


def file_text(id: str) -> str:
    """Return the text of a file of the product or of a plug-in."""
    if id not in _FILES:
        raise Refused("invalid", "there is no such label set; choose one of the list")
    return _FILES[id].read_text(encoding="utf-8")


def find_label_set(id: str) -> LabelSetFile | None:
    """Return a version of a set, KEY@VERSION, in the database or a file; None where it is not."""
    key, _, number = id.partition("@")
    if id in _FILES:
        return read_label_set(_FILES[id].read_text(encoding="utf-8"))
    rows = LabelSet.objects.filter(key=key, version=int(number))
    text = rows.values_list("text", flat=True).first()
    return read_label_set(text) if text is not None else None


def _add_file(plug_in: PlugIn, path: object) -> None:
    """Register the label set of a plug-in."""
    if not isinstance(path, Path) or not _FILE_NAME.match(path.name):
        raise PlugInFault(
            f"{plug_in.target} is no path of a file such as my_labels.v1.yaml.",
            "Let it name the pathlib.Path of a YAML file, called by name and version.",
        )
    try:
        file = read_label_set(path.read_text(encoding="utf-8"))
    except (FileRefused, UnicodeDecodeError) as error:
        raise PlugInFault(f"{str(error).rstrip('.')}.", "Mend the file and restart.") from None
    if file.id in _FILES:
        raise PlugInFault(f"There is already a label set {file.id}.", "Give it another key.")
    _FILES[file.id] = path


# --- Sets in the database -------------------------------------------------------------------------


def newest_sets() -> list[LabelSet]:
    """Return the newest version of each set, by title."""
    newest: dict[str, LabelSet] = {}
    for row in LabelSet.objects.order_by("key", "version").select_related("made_by"):
        newest[row.key] = row
    return sorted(newest.values(), key=lambda row: (row.title.casefold(), row.key))


def labels_of(key: str) -> list[FailureLabel]:
    """Return all labels of a set, in the order of its file; those of its earlier versions last."""
    rows = FailureLabel.objects.filter(label_set__key=key).select_related("label_set", "parent")
    return list(rows.order_by("retired", "rank", "pk"))


def add_label_set(*, text: str, by: User) -> LabelSet:
    """Make the labels of a set rows, or bring them to a newer version; what was put stays.

    The same text once more changes nothing. Raises `FileRefused` for a file with faults, and
    `Refused` where its version is there with other words or is older than the one in use.
    """
    file = read_label_set(text)
    with transaction.atomic():
        LabelSet.objects.select_for_update().filter(key=file.key).first()
        versions = {row.version: row for row in LabelSet.objects.filter(key=file.key)}
        same = versions.get(file.version)
        if same is not None:
            if same.text != text:
                raise Refused(
                    "invalid",
                    f"version {file.version} of {file.key} is here with other words; "
                    f"give the file version {max(versions) + 1}",
                )
            return same
        if versions and file.version < max(versions):
            raise Refused(
                "invalid", f"version {max(versions)} of {file.key} is in use, a newer one"
            )
        row = LabelSet.objects.create(
            key=file.key, version=file.version, title=file.title.strip(),
            source=file.source.strip(), text=text, made_by=by,
        )  # fmt: skip
        _add_labels(row, file.labels, by)
    return row


def _add_labels(row: LabelSet, labels: Sequence[LabelRow], by: User) -> None:
    """Create or reword the labels of a set; those that it names no more are retired."""
    mine = FailureLabel.objects.filter(label_set__key=row.key)
    known = {label.key: label for label in mine.select_for_update(no_key=True, of=("self",))}
    none = LabelRow(
        key=NONE_KEY,
        name=NONE_TITLE,
        definition=f"The trajectory was read, and none of the failures of {row.title} is in it.",
        exclusive=True,
    )
    named: dict[str, FailureLabel] = {}
    for rank, given in enumerate((*labels, none)):
        key = f"{row.key}_{given.key}"
        if key not in known and FailureLabel.objects.filter(key=key).exists():
            raise Refused("invalid", f"there is a label {key} already; give the set another key")
        label = known.get(key) or FailureLabel(key=key, made_by=by)
        label.label_set, label.rank, label.retired = row, rank, False
        label.title, label.definition = given.name.strip(), given.definition.strip()
        label.example, label.exclusive = (given.example or "").strip(), given.exclusive
        label.source = row.source
        label.parent = named.get(given.parent or "")
        label.save()
        named[given.key] = label
        keep_wording(label, by)
    for label in mine.exclude(pk__in=[label.pk for label in named.values()]).filter(retired=False):
        label.retired = True
        label.save(update_fields=["retired"])
        keep_wording(label, by)


def retire_label_set(*, key: str, by: User, retired: bool) -> None:
    """Offer all labels of the newest version of a set no more, or again; they stay where put."""
    with transaction.atomic():
        newest = LabelSet.objects.filter(key=key).order_by("-version").first()
        if newest is None:
            raise Refused("invalid", "there is no such label set")
        rows = FailureLabel.objects.select_for_update(no_key=True, of=("self",))
        for label in rows.filter(label_set=newest).exclude(retired=retired):
            label.retired = retired
            label.save(update_fields=["retired"])
            keep_wording(label, by)


def keep_wording(label: FailureLabel, by: User) -> None:
    """Keep the words of a label as they are now, if its last wording has others."""
    last = label.wordings.order_by("version").last()
    fields = ("title", "definition", "source", "retired")
    if last is not None and all(getattr(last, name) == getattr(label, name) for name in fields):
        return
    FailureWording.objects.create(
        label=label, version=(last.version if last else 0) + 1, title=label.title,
        definition=label.definition, source=label.source, retired=label.retired, by=by,
    )  # fmt: skip


def names_of_labels(labels: Sequence[FailureLabel]) -> dict[str, FailureLabel]:
    """Return labels by all their names in lower case: name, key within the set, key."""
    names: dict[str, FailureLabel] = {}
    for label in labels:
        prefix = f"{label.label_set.key}_" if label.label_set else ""
        for name in (label.title, label.key.removeprefix(prefix), label.key):
            names.setdefault(name.casefold(), label)
    return names


def headings(labels: Sequence[FailureLabel]) -> set[int | None]:
    """Return the ids of the labels that are the parent of others: nobody puts these."""
    return {label.parent_id for label in labels} - {None}


def is_heading(label: FailureLabel) -> bool:
    """Return whether a label only heads others."""
    return FailureLabel.objects.filter(parent=label, label_set=F("parent__label_set")).exists()


_FILES.update(
    {
        read_label_set(path.read_text(encoding="utf-8")).id: path
        for path in FOLDER.glob("*.yaml")
        if not path.name.startswith("labels.")
    }
)
# The last line: a plug-in may import what stands above.
plugins.load("label_sets", _add_file)
