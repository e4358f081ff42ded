"""The people of a study whose answers a page shows, in words, and why there may be none."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from analysis.filters.selection import Selection
from analysis.filters.studies import Fits
from analysis.filters.study_kinds import (
    asks_about_turns,
    asks_candidates,
    asks_marks,
    asks_pairs,
    asks_scores,
)
from analysis.frames.people_scores import PeopleScores
from analysis.kit.page import Page
from analysis.reports import addresses
from analysis.reports.formatting import plural
from annotation.models import Study
from annotation.questionnaires import load_questionnaire

if TYPE_CHECKING:
    from pandas import DataFrame

Unit = Literal["trajectory", "task", "pair"]
# With fewer items than these, intervals are rough.
FEW_ITEMS = 30
# What a study asks, and the button that leads to the page about it.
ASKED_ELSEWHERE = {
    "violation-check": ("which constraints plans violate", "See the violation check"),
    "filter-check": ("which candidates to keep", "See the filter check"),
    "turn-scores": ("for a score of every turn", "See the scores by turn"),
    "ratings": ("for scores of whole items", "See the ratings"),
    "preferences": ("which of two trajectories is better", "See the preferences"),
}
# Of a study that is not about what a page is about: what it asks, and the page on that.
PAGE_OF = (
    (asks_marks, "violation-check"),
    (asks_candidates, "filter-check"),
    (asks_about_turns, "turn-scores"),
    (asks_scores, "ratings"),
    (asks_pairs, "preferences"),
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


def votes_needed(meant: Iterable[int]) -> int:
    """Return the votes that make a majority of the annotators whom each item is meant to have."""
    return max(meant, default=1) // 2 + 1


def asked_study(
    page: Page, purpose: str, asks: Fits, *, title: str = "", remedy: str = ""
) -> Study | None:
    """Return the study that the page is about; without one, say what is missing.

    ``asks`` tells whether a questionnaire asks what the page is about. Where it does not, the
    reader is led to the page about what it asks.
    """
    study = page.selection.study
    if study is None:
        text = "It needs a study with submitted items that you may read; there is none."
        url = addresses.address("annotation:study_list")
        page.nothing("No study yet", f"{purpose} {text}", "Look at the studies", url)
        return None
    questionnaire = load_questionnaire(study.questionnaire)
    if asks(questionnaire):
        return study
    other = next((key for fits, key in PAGE_OF if fits(questionnaire)), "")
    about, action = ASKED_ELSEWHERE.get(other, ("", "Look at the studies"))
    elsewhere = f"{about}, which is another page" if about else "for nothing of that kind"
    url = addresses.address(f"analysis:{other}", {"study": study.pk}) if other else ""
    page.nothing(
        title or "Not what this study asks",
        f"{purpose} “{study}” asks {elsewhere}. {remedy}".strip(),
        action,
        url or addresses.address("annotation:study_list"),
    )
    return None


def no_answers(page: Page, everyone: AnswerCounts, purpose: str) -> None:
    """Say why no answer counts: none was given, or a filter leaves out all of them."""
    filters = page.selection.filters
    if everyone.late and _without_late(page.selection):
        page.nothing(
            "No blind answers",
            f"{purpose} All {plural(everyone.late, 'answer')} were given after the blinding was "
            "lifted, and the filter leaves these out.",
            "Count them",
            f"?{filters.query(unblinded='')}",
        )
    elif everyone.items:
        page.nothing(
            "No answers by people yet",
            f"{purpose} All {plural(everyone.items, 'submitted item')} are by simulated "
            "annotators, and the filter leaves these out.",
            "Count them",
            f"?{filters.query(simulated='include')}",
        )
    else:
        page.nothing(
            "No answers yet",
            f"{purpose} Nobody has submitted an item of this study that fits the filters.",
            "Look at the studies",
            addresses.address("annotation:study_list"),
        )


def who_answered(people: AnswerCounts) -> str:
    """Return such as: 2 people and 1 simulated annotator."""
    scripts = plural(people.simulated, "simulated annotator")
    if people.simulated == people.annotators:
        return scripts
    real = plural(people.real, "person", "people")
    return f"{real} and {scripts}" if people.simulated else real


def people_notices(page: Page, people: AnswerCounts) -> None:
    """Mark simulated annotators and answers after unblinding."""
    if people.simulated:
        are = "is a script" if people.simulated == 1 else "are scripts"
        page.banner(
            "Simulated annotators",
            f"{people.simulated} of {plural(people.annotators, 'annotator')} {are}, not people; "
            "the filter “Simulated annotators” leaves them out.",
        )
    late = f"{people.late:,} of {plural(people.answers, 'answer')}"
    informed = "given after the blinding was lifted, when annotators could know which agent made"
    if people.late and people.late_left_out:
        page.info(f"Left out: {late}, {informed} what.")
    elif people.late:
        were = "was" if people.late == 1 else "were"
        page.warning(
            f"{late} {were} {informed} what. The filter “Answers after unblinding” leaves them out."
        )


def note_single_votes(page: Page, minimum: int, unit: Unit) -> None:
    """Say where one annotator decides for the majority."""
    if minimum == 1:
        page.info(
            f"Each {unit} is judged by one annotator, who counts as the majority: this says "
            "nothing about how far people agree with each other."
        )


def few_items(page: Page, people: AnswerCounts) -> None:
    """Warn that intervals are rough."""
    if people.items < FEW_ITEMS:
        page.warning(f"Only {plural(people.items, 'item')}: intervals are wide and rough.")


def people_details(page: Page, people: AnswerCounts, everyone: AnswerCounts) -> None:
    """Say how many answers of whom count."""
    judged = plural(
        people.judged, people.unit, "trajectories" if people.unit == "trajectory" else ""
    )
    page.how(
        f"Study {page.selection.study}: {plural(people.items, 'submitted item')} on {judged} by "
        f"{plural(people.annotators, 'annotator')}, {people.simulated} of them simulated."
    )
    if everyone.simulated > people.simulated:
        gone = plural(people.left_out_simulated, "simulated annotator")
        page.how(f"{gone} left out by the filter.")
    if people.late:
        counts = "left out by the filter" if people.late_left_out else "counted"
        page.how(
            f"Given after the blinding was lifted: {people.late:,} of "
            f"{plural(people.answers, 'answer')}, {counts}."
        )


def compared_people(page: Page, people: PeopleScores) -> None:
    """Say whose scores judges are compared with, and mark simulated annotators among them."""
    annotators = plural(people.annotators, "annotator")
    if people.simulated:
        are = "is a script" if people.simulated == 1 else "are scripts"
        page.banner(
            "Simulated annotators",
            f"{people.simulated:,} of {annotators} whose scores judges are compared with {are}: "
            "that bias says nothing about people.",
        )
    if not people.means:
        page.how("People: nobody scored these plans in a study that you may read.")
        return
    studies = ", ".join(f"“{name}”" for name in people.studies)
    page.how(
        f"People: {annotators}, {people.simulated:,} of them simulated, in {studies}; their scores "
        "of a plan are averaged."
    )


def how_turns_were_seen(turn_by_turn: Collection[bool]) -> str:
    """Say whether annotators knew the later turns while they scored one, in one study or several.

    ``turn_by_turn``: of each study, whether it showed the turns one after the other.
    """
    if all(turn_by_turn):
        return (
            "Annotators saw the turns one after the other: each was scored before the next was "
            "shown."
        )
    where = "In some of the studies annotators" if any(turn_by_turn) else "Annotators"
    return f"{where} saw all turns while they scored each, so a score may know what came later."
