"""Who answered in a study, as the pages on people say it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.reports import common
from analysis.reports.parts import Banner, Empty
from analysis.reports.words import plural
from analysis.selection import Selection

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True)
class People:
    """Who answered: annotators and submitted items, by whether they are simulated."""

    annotators: int
    simulated: int
    items: int
    trajectories: int


def people_of(frame: "DataFrame") -> People:
    by_annotator = frame.groupby("annotator")["simulated"].any()
    return People(
        annotators=len(by_annotator),
        simulated=int(by_annotator.sum()),
        items=len(frame.groupby(["trajectory", "annotator"])),
        trajectories=frame["trajectory"].nunique(),
    )


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
        f"{plural(people.trajectories, 'trajectory', 'trajectories')} by "
        f"{plural(people.annotators, 'annotator')}, {people.simulated} of them simulated.",
    ]
    gone = everyone.simulated - people.simulated
    if gone:
        lines.append(f"{plural(gone, 'simulated annotator')} left out by the filter.")
    return lines


def no_study(purpose: str) -> Empty:
    url = common.address("annotation:study_list")
    text = f"{purpose} It needs a study with submitted items that you may read; there is none."
    return Empty("No study yet", text, "Look at the studies" if url else "", url)


def no_answers(purpose: str, everyone: People, selection: Selection) -> Empty:
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
