"""The JSON schemas of all files that people write or publish, each with its version."""

from collections.abc import Mapping, Sequence
from typing import Any

from annotation.exports.card import ITEM_COLUMNS
from annotation.exports.codebook import VALUES
from annotation.exports.columns import RATING_COLUMNS, SCHEMA_VERSION, SPAN, ExportColumn
from annotation.exports.study_schema import StudyDocument
from annotation.plans.plan_files import PLANS
from annotation.questionnaires.reading import FILES
from benchmarks.core.schemas import Checked
from benchmarks.experiments.design import DESIGNS
from benchmarks.exports.publishing import TRAJECTORY_RATING, TRAJECTORY_ROW, schema_document

Json = dict[str, Any]
_TYPES: Mapping[str, Json] = {
    "text": {"type": "string"},
    "whole": {"type": "integer"},
    "share": {"type": "number", "minimum": 0, "maximum": 1},
    "truth": {"type": "boolean"},
    "time": {"type": "string", "format": "date-time"},
    "texts": {"type": "array", "items": {"type": "string"}},
}
_NOTHING = {"type": "null"}


def _table(title: str, columns: Sequence[ExportColumn]) -> Json:
    """Return the schema of a row of a table, from the list of its columns."""
    required = [column.name for column in columns if column.name != "annotator"]
    properties = {column.name: _field(column) for column in columns}
    return {
        "title": title,
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _field(column: ExportColumn) -> Json:
    if column.kind == "spans":
        parts = {name: {"anyOf": [_TYPES[kind], _NOTHING]} for name, kind in SPAN}
        kind: Json = {"type": "array", "items": {"type": "object", "properties": parts}}
    else:
        kind = _TYPES[column.kind]
    if column.kind == "text" and column.name in VALUES:
        kind = {"enum": [*VALUES[column.name], ""]}
    return {"anyOf": [kind, _NOTHING], "description": column.says}


STUDY_RATING = schema_document(
    "study-rating", SCHEMA_VERSION, _table("An answer of a rater", RATING_COLUMNS)
)
STUDY_ITEM = schema_document("study-item", SCHEMA_VERSION, _table("What was judged", ITEM_COLUMNS))
DATASET_SCHEMAS: Mapping[str, Json] = {"ratings.jsonl": STUDY_RATING, "items.jsonl": STUDY_ITEM}
# In the order of the docs.
SCHEMAS: Sequence[Json] = (
    TRAJECTORY_ROW,
    TRAJECTORY_RATING,
    schema_document("study", SCHEMA_VERSION, Checked[StudyDocument](StudyDocument).schema),
    STUDY_RATING,
    STUDY_ITEM,
    schema_document("study-plan", 1, PLANS.schema),
    schema_document("questionnaire", 1, FILES.schema),
    schema_document("experiment", 1, DESIGNS.schema),
)
