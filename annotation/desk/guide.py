"""The desk's help dialog: guidelines, definitions and keys of a questionnaire."""

from collections.abc import Iterable
from dataclasses import astuple, dataclass

from annotation.desk.form import FormRow
from annotation.questionnaires import Questionnaire
from benchmarks.core.digests import digest


@dataclass(frozen=True)
class Guide:
    """All that the dialog shows, so that equal guides are shown alike.

    ``turns``: turns of what kind there are: with plans, of a dialogue, or none. ``judged``: the
    judges' findings are shown. ``keys``: which keys answer which kind of question.
    """

    instructions: tuple[str, ...]
    of_person: bool
    turns: str
    judged: bool
    by_turn: bool
    examples: bool
    skips: bool
    keys: tuple[tuple[tuple[str, ...], str], ...]

    @property
    def digest(self) -> str:
        """Differs between guides that differ, whoever reads them: the key of the kept fragment."""
        return digest(astuple(self))


def build_guide(
    questionnaire: Questionnaire,
    rows: Iterable[FormRow],
    *,
    turns: str,
    judged: bool,
    by_turn: bool,
    skips: bool,
) -> Guide:
    """The guide to a form with these rows."""
    rows = list(rows)
    return Guide(
        instructions=tuple(questionnaire.instructions),
        of_person=questionnaire.unit == "person",
        turns=turns,
        judged=judged,
        by_turn=by_turn,
        examples=any(row.question.examples for row in rows),
        skips=skips,
        keys=_scale_keys(rows),
    )


def _scale_keys(rows: Iterable[FormRow]) -> tuple[tuple[tuple[str, ...], str], ...]:
    """Which keys answer which kind of question, of the kinds that are asked here."""
    found: dict[str, tuple[tuple[str, ...], str]] = {}
    for row in rows:
        scale = row.question.scale
        if scale.kind == "points":
            keys: tuple[str, ...] = ("1", "–", str(scale.most))
            found.setdefault(f"points {scale.most}", (keys, "score, and go on to the next"))
        elif scale.kind == "choice":
            words = ", ".join(option.label for option in scale.options)
            keys = tuple(option.key for option in scale.options)
            found.setdefault(row.question.key, (keys, f"{words}; and go on to the next"))
        elif scale.kind == "marks":
            found["marks"] = (("1", "–", "9"), "mark a condition, or take the mark away")
            found["none"] = (("0",), "mark that none applies, and go on to the next")
    return tuple(found.values())
