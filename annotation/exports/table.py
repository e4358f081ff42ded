"""A study as a tidy table: one row per rater, item, part of the item and question."""

from collections.abc import Iterator, Sequence
from typing import Any

from annotation.designs.draws import read_draws
from annotation.exports.assignments import (
    CLIENTS,
    ExportedAnswer,
    ExportedAssignment,
    Where,
    answer_of,
    iterate_assignments,
)
from annotation.exports.columns import (
    HISTORY_COLUMNS,
    RATING_COLUMNS,
    SCHEMA_VERSION,
    ExportColumn,
    columns_for,
)
from annotation.exports.scope import Scope, is_simulated
from annotation.models import Aspect, Assignment, Item, Study
from annotation.questionnaires import Question, load_questionnaire
from annotation.questionnaires.requirements import study_questions
from annotation.ratings.selectors import turn_of
from annotation.studies.design import DRAWN, study_design

Row = dict[str, Any]
# What all rows of an assignment have in common, what all of a place on a form have, and what was
# said. The first two are the same objects from row to row, as long as the rows' maker is there.
Parts = tuple[Row, Row, Row]
NOTHING: Where = ("", "")
COMMENT, FLAG, EVIDENCE = Aspect.COMMENT.value, Aspect.FLAG.value, Aspect.EVIDENCE.value
NOT_ADJUDICATED: Row = {
    "adjudicated": False,
    "adjudicated_value": None,
    "adjudicated_chosen": None,
    "adjudicated_reason": "",
    "adjudicated_saw_raters": None,
}


def rating_columns(scope: Scope) -> tuple[ExportColumn, ...]:
    """Return the columns of the table, for this export."""
    return columns_for(RATING_COLUMNS, blind=scope.blind, names=scope.names)


def history_columns(scope: Scope) -> tuple[ExportColumn, ...]:
    """Return the columns of the table of edits, for this export."""
    return columns_for(HISTORY_COLUMNS, blind=scope.blind, names=scope.names)


def rating_parts(scope: Scope) -> Iterator[Parts]:
    """Yield the rows in parts, for those who write them down."""
    tabled = AssignmentTables(scope)
    for assignment in iterate_assignments(scope):
        yield from tabled.ratings(assignment)


def history_parts(scope: Scope) -> Iterator[Parts]:
    """Yield the rows of edits in parts."""
    tabled = AssignmentTables(scope)
    for assignment in iterate_assignments(scope, clients=CLIENTS):
        yield from tabled.history(assignment)


class AssignmentTables:
    """Assignments as rows of the two tables."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.questions = {part: q.by_key for part, q in scope.questionnaires.items()}
        study = scope.study
        self.study: Row = {
            "schema_version": SCHEMA_VERSION,
            "study_key": scope.key,
            "study": study.name,
        }
        self.design: Row = {"design": design_name(study), "seed": study.seed}
        self.design_record = study_design(study).record
        self.probabilities = read_draws(self.design_record.get(DRAWN, ()))
        self.asked: dict[tuple[str, str, str], Row] = {}

    def ratings(self, assignment: ExportedAssignment) -> Iterator[Parts]:
        """Yield a row for each place where something was said; one for an item that was skipped."""
        places = assignment.places
        if assignment.state == Assignment.State.SKIPPED and NOTHING not in places:
            places[NOTHING] = ExportedAnswer()
        front = self._front(assignment) if places else {}
        for where, place in places.items():
            answer = self._answer_row(assignment, where, place)
            if not self.scope.blind:
                answer |= (
                    _adjudicated(assignment, where) if assignment.adjudicated else NOT_ADJUDICATED
                )
            yield front, self._asked(assignment, where), answer

    def history(self, assignment: ExportedAssignment) -> Iterator[Parts]:
        """Yield a row for each edit."""
        front = self._front(assignment) if assignment.edits else {}
        for edit in assignment.edits:
            question = self.questions[assignment.part].get(edit.question)
            spans = edit.aspect == EVIDENCE or bool(question and question.scale.kind == "spans")
            answers = {
                "edit": edit.number,
                "aspect": edit.aspect,
                "value": edit.value,
                "chosen": None if spans else edit.chosen,
                "spans": edit.chosen if spans else None,
                "text": edit.text,
                "undoes": edit.undoes,
                "after_unblinding": edit.unblinded,
                "client_id": str(edit.client_id),
                "client_time": edit.client_time,
                "edited_at": edit.edited_at,
            }
            yield front, self._asked(assignment, (edit.question, edit.subject)), answers

    def _probability(self, assignment: ExportedAssignment) -> float | None:
        """Return the probability of a main item of the plan; later ones were added by hand."""
        planned = int(self.design_record.get("items") or assignment.item)
        if assignment.use != Item.Use.MAIN or assignment.item > planned:
            return None
        return self.probabilities.get(assignment.trajectory or 0)

    def _front(self, assignment: ExportedAssignment) -> Row:
        """Return what all rows of an assignment have in common."""
        scope, person = self.scope, assignment.person
        row = {**self.study, "questionnaire": scope.questionnaires[assignment.part].id}
        if not scope.blind:
            row |= self.design
            row |= {
                "item": assignment.item,
                "use": assignment.use,
                "dataset": assignment.dataset
                and f"{assignment.dataset} {assignment.dataset_version}",
            }
        row |= {"task": assignment.task, "level": assignment.level}
        if not scope.blind:
            row |= {
                "condition": assignment.condition,
                "attempt": assignment.attempt,
                "model": assignment.model,
                "trajectory_id": assignment.trajectory,
                "span": assignment.span,
                "other_model": assignment.other_model,
                "other_trajectory_id": assignment.other,
                "probability": self._probability(assignment),
            }
        row["rater"] = scope.pseudonyms.rater(person.user_id)
        if scope.names:
            row["annotator"] = person.user.get_username()
        return row | {
            "simulated": is_simulated(person),
            "part": assignment.part,
            "position": assignment.position,
            "state": assignment.state,
            "skip_reason": assignment.skip_reason,
            "note": assignment.note,
            "submitted_at": assignment.submitted_at,
            "active_ms": assignment.active_ms,
            "verdicts": assignment.verdicts,
            "rotation": assignment.rotation,
            "turns_shown": "all" if assignment.revealed is None else "one_by_one",
            "swapped": assignment.swapped,
        }

    def _asked(self, assignment: ExportedAssignment, where: Where) -> Row:
        key = (assignment.part, *where)
        if key not in self.asked:
            question = self.questions[assignment.part].get(where[0])
            self.asked[key] = {
                "question": where[0],
                "subject": where[1],
                "turn": turn_of(where[1]),
                "dimension": question.dimension if question else "",
                "scale": question.scale.kind if question else "",
            }
        return self.asked[key]

    def _answer_row(
        self, assignment: ExportedAssignment, where: Where, place: ExportedAnswer
    ) -> Row:
        question = self.questions[assignment.part].get(where[0])
        return answer_row(question, place)


def answer_row(question: Question | None, place: ExportedAnswer) -> Row:
    """Return what stands in a place, in columns."""
    answer, now = answer_of(place), place.now
    edit = answer or place.last
    spans = question is not None and question.scale.kind == "spans"
    comment, flag, evidence = now.get(COMMENT), now.get(FLAG), now.get(EVIDENCE)
    return {
        "value": answer.value if answer else None,
        "label": label_of(question, answer.value if answer else None),
        "chosen": answer.chosen if answer and not spans else None,
        "marked": answer.chosen if answer and spans else None,
        "text": answer.text if answer else "",
        "comment": comment.text if comment else "",
        "flag": bool(flag and flag.value),
        "flag_reason": flag.text if flag and flag.value else "",
        "evidence": evidence.chosen if evidence else None,
        "edits": place.edits,
        "answered_at": edit.edited_at if edit else None,
        "after_unblinding": bool(edit and edit.unblinded),
    }


def label_of(question: Question | None, value: int | None) -> str:
    """Return a choice in words; empty for what is no choice."""
    if question is None or value is None or question.scale.kind != "choice":
        return ""
    return question.scale.label(value)


def _adjudicated(assignment: ExportedAssignment, where: Where) -> Row:
    adjudication = assignment.adjudicated.get(where)
    if adjudication is None:
        return NOT_ADJUDICATED
    return {
        "adjudicated": True,
        "adjudicated_value": adjudication.value,
        "adjudicated_chosen": adjudication.chosen,
        "adjudicated_reason": adjudication.reason,
        "adjudicated_saw_raters": adjudication.saw_raters,
    }


def design_name(study: Study) -> str:
    """Return how items were chosen and dealt, in a word."""
    design = study.settings.get("design", {})
    return str(design.get("method") or design.get("kind") or study.dealing)


def question_rows(study: Study) -> Iterator[Sequence[str | int]]:
    """Yield a heading, then one row per question: how many items were asked it, and why others
    not.
    """
    yield ["study", "questionnaire", "number", "question", "title", "dimension", "about", "scale",
           "needs", "items_asked", "items_not_asked", "not_asked_because"]  # fmt: skip
    for row in study_questions(study, load_questionnaire(study.questionnaire)):
        question = row.question
        yield [
            study.name,
            study.questionnaire,
            question.number,
            question.key,
            question.title,
            question.dimension,
            question.about,
            question.scale.kind,
            " ".join(sorted(question.needs)),
            row.items,
            row.left_out,
            f"these items {row.why}" if row.left_out else "",
        ]
