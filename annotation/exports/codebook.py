"""The codebook of an export: each column with its type, its values and what it means.

With it go the texts of the questions and of the tasks, so that the table is understood without
PlanJury and its documentation.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from annotation.exports.card import ITEM_COLUMNS
from annotation.exports.columns import ExportColumn
from annotation.exports.document import item_rows
from annotation.exports.scope import Scope
from annotation.exports.table import rating_columns
from annotation.models import Assignment, Item, Study
from annotation.questionnaires import Question
from annotation.questionnaires.decisions import DECISIONS

# How a column is written in CSV, and the type that pandas should give it.
TYPES: Mapping[str, tuple[str, str]] = {
    "text": ("text", "string"),
    "whole": ("whole number", "Int64"),
    "share": ("number from 0 to 1", "Float64"),
    "truth": ("1 for true, 0 for false", "boolean"),
    "time": ("time in UTC, ISO 8601", "datetime64[ns, UTC]"),
    "texts": ("list of texts, as JSON", "string"),
    "spans": ("list of places, as JSON", "string"),
}
VALUES: Mapping[str, Sequence[str]] = {
    "use": Item.Use.values,
    "part": Assignment.Part.values,
    "state": Assignment.State.values,
    "verdicts": [v for v in Study.Verdicts.values if v != Study.Verdicts.RANDOM],
    "scale": ("points", "choice", "marks", "text"),
    "turns_shown": ("all", "one_by_one"),
    "simulated": ("0", "1"),
    "flag": ("0", "1"),
    "after_unblinding": ("0", "1"),
    "adjudicated": ("0", "1"),
}
BY_QUESTION = {
    "value": "points: 1 to the highest point; choice: see questions.csv",
    "label": "see questions.csv",
    "question": "see questions.csv",
}
RATINGS, ITEMS, QUESTIONS, CODEBOOK = "ratings.csv", "items.csv", "questions.csv", "codebook.csv"


def codebook_rows(scope: Scope) -> Iterator[Sequence[str]]:
    """Yield a heading, then one row for each column of each table."""
    yield ["file", "column", "type", "pandas_type", "values", "meaning"]
    yield from _columns(RATINGS, rating_columns(scope))
    if not scope.blind:
        yield from _columns(ITEMS, ITEM_COLUMNS)
    for name, meaning in QUESTION_COLUMNS.items():
        kind = "whole number" if name == "number" else "text"
        yield [QUESTIONS, name, kind, "Int64" if name == "number" else "string", "", meaning]


def _columns(file: str, columns: Sequence[ExportColumn]) -> Iterator[Sequence[str]]:
    for column in columns:
        written, pandas_type = TYPES[column.kind]
        values = "; ".join(VALUES.get(column.name, ())) or BY_QUESTION.get(column.name, "")
        yield [file, column.name, written, pandas_type, values, column.says]


QUESTION_COLUMNS: Mapping[str, str] = {
    "questionnaire": "the questionnaire with its version",
    "question": "key of the question, as in ratings.csv",
    "number": "number of the question on the desk",
    "title": "the question in a few words",
    "definition": "the question in full, as raters read it",
    "dimension": "rubric dimension behind the question, where there is one",
    "about": "what it is asked of: the item, its final plan, each turn, each candidate, the rater",
    "scale": "points, choice, marks, spans or text",
    "values": "the values and what they mean, as raters read it",
    "required": "whether it had to be answered",
    "condition": "the answer to another question under which it is asked; empty: always",
    "note": "how the question relates to its source; raters did not read it",
}


def question_texts(scope: Scope) -> Iterator[Sequence[Any]]:
    """Yield a heading, then one row for each question of the study's questionnaires."""
    yield list(QUESTION_COLUMNS)
    for questionnaire in {q.id: q for q in scope.questionnaires.values()}.values():
        for question in questionnaire.questions:
            yield [
                questionnaire.id, question.key, question.number, question.title,
                question.definition, question.dimension, question.about, question.scale.kind,
                _meanings(question), "true" if question.required else "false",
                questionnaire.condition_words(question),
                question.note,
            ]  # fmt: skip


def _meanings(question: Question) -> str:
    scale = question.scale
    if scale.kind == "points":
        meanings = {**dict.fromkeys(scale.values, ""), **question.anchors}
        return "; ".join(f"{value} = {words}" if words else str(value)
                         for value, words in sorted(meanings.items()))  # fmt: skip
    if scale.kind == "choice":
        return "; ".join(f"{option.value} = {option.label}" for option in scale.options)
    if scale.each:
        kinds = scale.of or "all kinds"
        return f"one KEY:DECISION for each condition ({kinds}): {', '.join(DECISIONS)}"
    if scale.kind == "marks":
        return f"keys of the conditions that were marked ({scale.of or 'all kinds'})"
    if scale.kind == "spans":
        return "; ".join(f"{key} = {name}" for key, name in scale.labels.items())
    return ""


def item_texts(scope: Scope) -> Iterator[Sequence[Any]]:
    """Yield a heading, then one row for each item, with the text of its task."""
    names = [column.name for column in ITEM_COLUMNS]
    yield names
    for row in item_rows(scope):
        yield [row.get(name) for name in names]


READ_ME = """# {name}

What {people} people answered about {items} items, exported from PlanJury.

| file | content |
|---|---|
| `ratings.csv` | one row for each rater, item, part of the item and question |
| `items.csv` | what was judged, with the texts of the tasks |
| `questions.csv` | the questions as raters read them, with the meaning of each value |
| `codebook.csv` | each column of the three tables: type, values, meaning |
| `study.json` | the whole study: design, texts, people, every edit |
| `sources.jsonl` | the datasets and trajectories that the study is about |

Open it with pandas:

```python
import pandas as pd

codebook = pd.read_csv("codebook.csv").query("file == 'ratings.csv'")
times = codebook.loc[codebook["pandas_type"].str.startswith("datetime"), "column"].tolist()
types = codebook.set_index("column")["pandas_type"].drop(times).to_dict()
ratings = pd.read_csv("ratings.csv", dtype=types, parse_dates=times)
counted = ratings.query("state == 'submitted' and use == 'main'")
counted.groupby(["model", "question"])["value"].mean()
```

Import it into another PlanJury, which needs nothing else: `manage.py import_study FILE.zip`.

Left out: {withdrawn} people who withdrew and {erased} who were erased. Rows of every state are
here, {voided} voided submissions among them: analyses take rows with `state == "submitted"` and
`use == "main"`.{simulated}
"""


def read_me(scope: Scope, *, items: int, voided: int, simulated: int) -> str:
    """Return the text that says what is in the archive and how to open it."""
    return READ_ME.format(
        name=" ".join(scope.study.name.split()),
        people=len(scope.people),
        items=items,
        voided=voided,
        simulated=f" Of the raters {simulated} are programs (`simulated`)." if simulated else "",
        **scope.left_out,
    )
