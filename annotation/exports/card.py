"""The dataset card of a study for Hugging Face."""

from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from annotation.exports.columns import SCHEMA_VERSION, SPAN, ExportColumn
from annotation.exports.scope import Scope
from annotation.exports.table import design_name

_DTYPES = {
    "text": "string",
    "whole": "int64",
    "share": "float64",
    "truth": "bool",
    "time": "string",
}
_SIZES = (("n<1K", 1_000), ("1K<n<10K", 10_000), ("10K<n<100K", 100_000), ("100K<n<1M", 10**6))
ITEM_COLUMNS = (
    ExportColumn("item", "whole", "number of the item"),
    ExportColumn(
        "use", "text", "main, gold, training, or played (a session, asked of its players)"
    ),
    ExportColumn("system", "text", "benchmark system"),
    ExportColumn("dataset", "text", "dataset of the task, with its version"),
    ExportColumn("task", "text", "the task's id in its dataset"),
    ExportColumn("prompt", "text", "what the agent was asked"),
    ExportColumn("level", "text", "level of the hidden conditions"),
    ExportColumn("attempt", "whole", "number of the attempt at the task"),
    ExportColumn("model", "text", "name of the agent that made the trajectory"),
    ExportColumn("ending", "text", "how the trajectory ended"),
    ExportColumn("other_model", "text", "of two trajectories side by side: agent of the second"),
    ExportColumn("fingerprint", "text", "digest of the texts that were judged"),
)
_TEXT = """
# {name}

What people said about {what}, exported from PlanJury (schema {schema}). One row of
`ratings` is what one rater said in answer to one question about one item or a part of it; `items`
says what was judged, `study.json` holds the whole design, the questionnaire with its scales and
anchors, and the texts that raters were shown.

## How it was judged

* Questionnaire: {title} (`{questionnaire}`), {questions} questions.
* Design: {design}, seed {seed}; {blinding}.
* Raters: {raters} ({simulated} of them programs, `simulated` is true for their rows). They stand
  under pseudonyms that belong to this study alone.
* Rows: {rows}, of {items} items. Rows of every `state` and `use` are here: an analysis of what was
  judged for good takes `state == "submitted"` and `use == "main"`.
* Left out: {withdrawn} who withdrew, {erased} whose data were erased, and what raters said about
  themselves before the first item.
* Agreement between raters is not computed here; it depends on what is compared and belongs to
  analyses.

## Columns

{columns}

## Licences

{licences}
"""


def study_card(
    scope: Scope, columns: Sequence[ExportColumn], *, counts: Mapping[str, int], licence: str
) -> str:
    """Return the text of ``README.md``. ``counts``: rows, items, raters and simulated raters
    written.
    """
    study, questionnaire = scope.study, scope.questionnaires["main"]
    head: dict[str, Any] = {
        "pretty_name": study.name,
        "license": licence,
        "doi": "",
        "tags": ["human-judgements", "planning-agents", "planjury"],
        "size_categories": [_size(counts["rows"])],
        "configs": [
            {"config_name": "ratings", "data_files": "ratings.jsonl", "default": True},
            {"config_name": "items", "data_files": "items.jsonl"},
        ],
        "dataset_info": [
            {"config_name": "ratings", "features": _features(columns)},
            {"config_name": "items", "features": _features(ITEM_COLUMNS)},
        ],
    }
    front = yaml.safe_dump(head, sort_keys=False, allow_unicode=True)
    unit = "tasks" if questionnaire.unit == "task" else "trajectories of planning agents"
    text = _TEXT.format(
        name=_line(study.name),
        what=unit,
        schema=SCHEMA_VERSION,
        title=_line(questionnaire.title),
        questionnaire=questionnaire.id,
        questions=len(questionnaire.questions),
        design=design_name(study),
        seed=study.seed,
        blinding="raters did not learn which agent made an item" if study.blinded else "not blind",
        columns="\n".join(f"* `{column.name}`: {column.says}" for column in columns),
        licences=_licences(scope),
        withdrawn=scope.left_out["withdrawn"],
        erased=scope.left_out["erased"],
        **counts,
    )
    return f"---\n{front}---\n{text}"


def _features(columns: Sequence[ExportColumn]) -> list[dict[str, Any]]:
    features: list[dict[str, Any]] = []
    for column in columns:
        if column.kind == "texts":
            features.append({"name": column.name, "sequence": "string"})
        elif column.kind == "spans":
            parts = [{"name": name, "dtype": _DTYPES[kind]} for name, kind in SPAN]
            features.append({"name": column.name, "list": parts})
        else:
            features.append({"name": column.name, "dtype": _DTYPES[column.kind]})
    return features


def _size(rows: int) -> str:
    return next((name for name, most in _SIZES if rows < most), "n>1M")


def _line(text: str) -> str:
    """Return a text that stays on its line, whatever was typed."""
    return " ".join(text.split())


def _licences(scope: Scope) -> str:
    rows = scope.study.items.filter(task__isnull=False).order_by()
    names = ("task__dataset__name", "task__dataset__version", "task__dataset__licence")
    sentences = [
        f"* The tasks of {name} {version}: {_line(licence) or 'not stated'}."
        for name, version, licence in sorted(rows.values_list(*names).distinct())
    ]
    own = "* The ratings: as `license` above says."
    return "\n".join([own, *sentences])
