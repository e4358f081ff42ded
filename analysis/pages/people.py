"""The people of a study whose answers a page shows, and why there may be none."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Protocol

from analysis.filters.selection import Selection
from analysis.filters.study_kinds import asks_about_turns, asks_candidates, asks_marks, asks_scores
from analysis.pages.declaration import NothingToShow
from analysis.reports import addresses
from annotation.models import Study
from annotation.questionnaires import load_questionnaire

if TYPE_CHECKING:
    from pandas import DataFrame

Unit = Literal["trajectory", "task"]
# Of a study that is not about what a page is about: what it asks, and the page on that.
PAGE_OF = (
    (asks_marks, "violation-check"),
    (asks_candidates, "filter-check"),
    (asks_about_turns, "turn-scores"),
    (asks_scores, "ratings"),
)


@dataclass(frozen=True)
class AnswerCounts:
    """The numbers of annotators and submitted items, by whether they are simulated.

    ``judged`` counts the trajectories, or what else ``unit`` names, that these items are about.
    Of ``answers``, ``late`` were given after unblinding; both are counted before a filter on it,
    which may leave them out (``late_left_out``). ``left_out_simulated`` counts the simulated
    annotators that the filter on them leaves out.
    """

    annotators: int
    simulated: int
    items: int
    judged: int
    unit: Unit = "trajectory"
    answers: int = 0
    late: int = 0
    late_left_out: bool = False
    left_out_simulated: int = 0

    @property
    def real(self) -> int:
        """The number of annotators who are people."""
        return self.annotators - self.simulated


class PeopleData(Protocol):
    """Loaded answers of people: who gave those that count, and who answered at all."""

    @property
    def people(self) -> AnswerCounts: ...

    @property
    def everyone(self) -> AnswerCounts: ...


class PeopleResult:
    """The parts that all results on people's answers have: whose answers they are about."""

    data: PeopleData

    @property
    def people(self) -> AnswerCounts:
        """The annotators whose answers count."""
        return self.data.people

    @property
    def everyone(self) -> AnswerCounts:
        """All annotators who answered."""
        return self.data.everyone


def people_of(frame: "DataFrame", unit: Unit = "trajectory") -> AnswerCounts:
    by_annotator = frame.groupby("annotator")["simulated"].any()
    return AnswerCounts(
        annotators=len(by_annotator),
        simulated=int(by_annotator.sum()),
        items=len(frame.groupby([unit, "annotator"])),
        judged=frame[unit].nunique(),
        unit=unit,
    )


def chosen_people(
    frame: "DataFrame", selection: Selection, unit: Unit = "trajectory"
) -> tuple["DataFrame", AnswerCounts, AnswerCounts]:
    """Return the answers that count, who gave them, and who answered at all."""
    everyone = people_of(frame, unit)
    if selection.filters.simulated == "exclude":
        frame = frame[~frame["simulated"].astype(bool)]
    late = frame["unblinded"].astype(bool)
    answers, informed = len(frame), int(late.sum())
    if _without_late(selection):
        frame = frame[~late]
    people = people_of(frame, unit)
    people = replace(
        people,
        answers=answers,
        late=informed,
        late_left_out=_without_late(selection),
        left_out_simulated=everyone.simulated - people.simulated,
    )
    return frame, people, replace(everyone, answers=answers, late=informed)


def _without_late(selection: Selection) -> bool:
    return selection.filters.unblinded == "exclude"


def why_not_asked(study: Study) -> NothingToShow:
    """Say that a study does not ask what a page is about, and which page is about what it asks."""
    questionnaire = load_questionnaire(study.questionnaire)
    other = next((page for fits, page in PAGE_OF if fits(questionnaire)), "")
    url = addresses.address(f"analysis:{other}", {"study": study.pk}) if other else ""
    url = url or addresses.address("annotation:study_list")
    return NothingToShow("not asked", {"study": study, "other": other, "url": url})


def why_no_answers(everyone: AnswerCounts, selection: Selection) -> NothingToShow:
    """Say why no answer counts: none was given, or a filter leaves out all of them."""
    if everyone.late and _without_late(selection):
        url = f"?{selection.filters.query(unblinded='')}"
        return NothingToShow("none blind", {"everyone": everyone, "url": url})
    if everyone.items:
        url = f"?{selection.filters.query(simulated='include')}"
        return NothingToShow("simulated alone", {"everyone": everyone, "url": url})
    return NothingToShow("no answers")


def votes_needed(meant: Iterable[int]) -> int:
    """Return the votes that make a majority of the annotators whom each item is meant to have."""
    return max(meant, default=1) // 2 + 1
