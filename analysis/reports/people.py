"""Who answered in a study, as the pages on people say it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from analysis.filters.selection import Selection
from analysis.filters.study_kinds import asks_about_turns, asks_candidates, asks_marks, asks_scores
from analysis.reports import common
from analysis.reports.content import Banner, Empty, Notice, Onward
from analysis.reports.formatting import plural
from annotation.models import Study
from annotation.questionnaires import load_questionnaire

if TYPE_CHECKING:
    from pandas import DataFrame

Unit = Literal["trajectory", "task"]
UNITS: Mapping[Unit, tuple[str, str]] = {
    "trajectory": ("trajectory", "trajectories"),
    "task": ("task", "tasks"),
}
# Of a study that is not about what a page is about: what it asks, and the page on that.
PAGE_OF = (
    (asks_marks, "which constraints plans violate", "violation-check", "See the violation check"),
    (asks_candidates, "which candidates to keep", "filter-check", "See the filter check"),
    (asks_about_turns, "for a score of every turn", "turn-scores", "See the scores by turn"),
    (asks_scores, "for scores of whole items", "ratings", "See the ratings"),
)


@dataclass(frozen=True)
class People:
    """Who answered: annotators and submitted items, by whether they are simulated.

    ``judged`` counts the trajectories, or what else ``unit`` names, that these items are about.
    Of ``answers``, ``late`` were given after unblinding; both are counted before a filter on it.
    """

    annotators: int
    simulated: int
    items: int
    judged: int
    unit: Unit = "trajectory"
    answers: int = 0
    late: int = 0


def people_of(frame: "DataFrame", unit: Unit = "trajectory") -> People:
    by_annotator = frame.groupby("annotator")["simulated"].any()
    return People(
        annotators=len(by_annotator),
        simulated=int(by_annotator.sum()),
        items=len(frame.groupby([unit, "annotator"])),
        judged=frame[unit].nunique(),
        unit=unit,
    )


def chosen_people(
    frame: "DataFrame", selection: Selection, unit: Unit = "trajectory"
) -> tuple["DataFrame", People, People]:
    """The answers that count, who gave them, and who answered at all."""
    everyone = people_of(frame, unit)
    if selection.filters.simulated == "exclude":
        frame = frame[~frame["simulated"].astype(bool)]
    late = frame["unblinded"].astype(bool)
    answers, told = len(frame), int(late.sum())
    if _without_late(selection):
        frame = frame[~late]
    people = replace(people_of(frame, unit), answers=answers, late=told)
    return frame, people, replace(everyone, answers=answers, late=told)


def _without_late(selection: Selection) -> bool:
    return selection.filters.unblinded == "exclude"


def after_unblinding(people: People, selection: Selection) -> tuple[Notice, ...]:
    """How many answers were given by people who could know who made what, and whether they count.

    Somebody who was told may be swayed by names and by what was published: these answers are no
    longer blind, and whoever reads a result has to know how many of them are in it.
    """
    if not people.late:
        return ()
    of = f"{people.late:,} of {plural(people.answers, 'answer')}"
    why = "after the blinding was lifted, when annotators could know which agent made what"
    if _without_late(selection):
        return (Notice(f"Left out: {of}, given {why}.", "info"),)
    were = "was" if people.late == 1 else "were"
    filters = "The filter “Answers after unblinding” leaves them out."
    return (Notice(f"{of} {were} given {why}. {filters}"),)


def who(people: People) -> str:
    """Such as ``2 people and 1 simulated annotator``."""
    if people.simulated == people.annotators:
        return plural(people.simulated, "simulated annotator")
    if people.simulated:
        real = people.annotators - people.simulated
        return (
            f"{plural(real, 'person', 'people')} and "
            f"{plural(people.simulated, 'simulated annotator')}"
        )
    return plural(people.annotators, "person", "people")


def simulated_banner(people: People) -> tuple[Banner, ...]:
    if not people.simulated:
        return ()
    text = (
        f"{people.simulated} of {plural(people.annotators, 'annotator')} here "
        f"{'is a script' if people.simulated == 1 else 'are scripts'}. Their scores say nothing "
        "about people; the filter “Simulated annotators” leaves them out."
    )
    return (Banner("Simulated annotators", text),)


def how_people(people: People, everyone: People, selection: Selection) -> list[str]:
    """The study, and who counted."""
    lines = [
        f"Study {selection.study}: {plural(people.items, 'submitted item')} on "
        f"{plural(people.judged, *UNITS[people.unit])} by "
        f"{plural(people.annotators, 'annotator')}, {people.simulated} of them simulated.",
    ]
    gone = everyone.simulated - people.simulated
    if gone:
        lines.append(f"{plural(gone, 'simulated annotator')} left out by the filter.")
    if people.late:
        done = "left out by the filter" if _without_late(selection) else "counted"
        of = f"{people.late:,} of {plural(people.answers, 'answer')}"
        lines.append(f"Given after the blinding was lifted: {of}, {done}.")
    return lines


def no_study(purpose: str) -> Empty:
    url = common.address("annotation:study_list")
    text = f"{purpose} It needs a study with submitted items that you may read; there is none."
    return Empty("No study yet", text, "Look at the studies" if url else "", url)


def own_table() -> tuple[Onward, ...]:
    """The same questions of ratings that are not here."""
    words = "The same of a table of ratings made elsewhere: your own table"
    return (Onward(words, common.address("analysis:table_list")),)


def votes_needed(wanted: Iterable[int]) -> int:
    """The votes that make a majority of the annotators whom each item is meant to have."""
    return max(wanted, default=1) // 2 + 1


def other_page(
    purpose: str, study: Study, title: str = "Not what this study asks", how: str = ""
) -> Empty:
    """Why a page has nothing on a study, the page that has, and ``how`` to come by what lacks."""
    questionnaire = load_questionnaire(study.questionnaire)
    for fits, asks, name, action in PAGE_OF:
        if fits(questionnaire):
            text = f"{purpose} “{study}” asks {asks}, which is another page. {how}".rstrip()
            url = common.address(f"analysis:{name}", {"study": study.pk})
            return Empty(title, text, action, url)
    url = common.address("annotation:study_list")
    text = f"{purpose} “{study}” asks for nothing of that kind. {how}".rstrip()
    return Empty(title, text, "Look at the studies", url)


def no_answers(purpose: str, everyone: People, selection: Selection) -> Empty:
    if everyone.late and _without_late(selection):
        text = (
            f"All {plural(everyone.late, 'answer')} were given after the blinding was lifted, and "
            "the filter leaves these out."
        )
        query = selection.filters.query(unblinded="")
        return Empty("No blind answers", f"{purpose} {text}", "Count them", f"?{query}")
    if everyone.items:
        text = (
            f"All {plural(everyone.items, 'submitted item')} are by simulated annotators, and the "
            "filter leaves these out."
        )
        query = selection.filters.query(simulated="include")
        return Empty("No answers by people yet", f"{purpose} {text}", "Count them", f"?{query}")
    url = common.address("annotation:study_list")
    text = f"{purpose} Nobody has submitted an item of this study that fits the filters."
    return Empty("No answers yet", text, "Look at the studies" if url else "", url)


def few_items(people: People) -> Sequence[str]:
    """What to say where intervals are rough."""
    if people.items >= 30:
        return ()
    return (f"Only {plural(people.items, 'item')}: intervals are wide and rough.",)
