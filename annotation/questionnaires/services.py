"""Store questionnaires written on a page. A stored version never changes."""

import json
import re

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max

from annotation.models import StoredQuestionnaire
from annotation.questionnaires import (
    Questionnaire,
    QuestionnaireError,
    plug_in_of,
    questionnaire_text,
    read_questionnaire,
    shipped_questionnaires,
)
from annotation.remarks.label_sets import find_label_set
from benchmarks.core.problems import FileRefused
from benchmarks.core.yaml_files import read_yaml
from benchmarks.locks import named_lock

LONGEST = 60_000
_NAME = re.compile(r"[a-z][a-z0-9_]{0,59}")
# What the page says itself: name and version, each on a line of its own.
_HEAD = re.compile(r"^(?:id|version):.*\n?", re.MULTILINE)


def check_name(name: str) -> None:
    """Refuse a name that cannot be used for a questionnaire of one's own."""
    if not _NAME.fullmatch(name):
        raise QuestionnaireError("a name has small letters, digits and _, and begins with a letter")
    if name in {id.partition("@")[0] for id in shipped_questionnaires()}:
        raise QuestionnaireError(
            f"{name} ships with the product or a plug-in; give yours another name"
        )


def next_version(name: str) -> int:
    """Return the version that the next questionnaire of this name gets."""
    rows = StoredQuestionnaire.objects.filter(name=name)
    return (rows.aggregate(last=Max("version"))["last"] or 0) + 1


def check_questionnaire(*, name: str, text: str) -> Questionnaire:
    """Return what a text would be, with nothing stored; QuestionnaireError with every problem."""
    check_name(name)
    return _read(name, next_version(name), text)[0]


def store_questionnaire(*, name: str, text: str, by: User | None) -> Questionnaire:
    """Store a text as the next version of a questionnaire."""
    check_name(name)
    with transaction.atomic(), named_lock("questionnaire"):
        version = next_version(name)
        questionnaire, whole = _read(name, version, text)
        StoredQuestionnaire.objects.create(name=name, version=version, text=whole, by=by)
    return questionnaire


def keep_questionnaire(id: str) -> None:
    """Store the questionnaire of a plug-in that a study is to use, once.

    So the study keeps its questions when the plug-in is changed or uninstalled.
    """
    if plug_in_of(id) is not None:
        name, _, version = id.partition("@")
        StoredQuestionnaire.objects.get_or_create(
            name=name, version=int(version), defaults={"text": questionnaire_text(id)}
        )


def own_text(text: str) -> str:
    """Return the text without name and version, which the page says apart."""
    return _HEAD.sub("", text).lstrip("\n")


_SET = re.compile(r"(\bspans:[ \t]*)([a-z][a-z0-9_]{0,19}@[1-9][0-9]{0,8})\b")


def with_labels(text: str) -> str:
    """Return a text with the labels of each set that it names, so that it stands by itself."""

    def labels(match: re.Match[str]) -> str:
        file = find_label_set(match[2])
        if file is None:
            return match[0]
        rows = [row.model_dump(exclude_defaults=True) for row in file.labels]
        return match[1] + json.dumps(rows, ensure_ascii=False)

    return _SET.sub(labels, text)


def _read(name: str, version: int, text: str) -> tuple[Questionnaire, str]:
    if len(text) > LONGEST:
        raise QuestionnaireError(f"a questionnaire has at most {LONGEST:,} characters")
    try:
        document = read_yaml(text)
    except FileRefused as refused:
        faults = [str(fault) for fault in refused.problems]
        raise QuestionnaireError("; ".join(faults), faults) from None
    text = with_labels(own_text(text.replace("\r\n", "\n")))
    whole = f"id: {name}\nversion: {version}\n{text}"
    id = f"{name}@{version}"
    return read_questionnaire(whole, source=id, id=id, lines=document.lines), whole
