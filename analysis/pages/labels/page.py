"""Which failures do people see? Shares of the labels of a set, and how far people agree on them."""

from collections.abc import Hashable, Sequence
from statistics import fmean
from typing import NamedTuple

from analysis.figures.forest import ForestRows, forest
from analysis.figures.layout.theme import ACCENT
from analysis.figures.shares import Shares, share_dots
from analysis.filters.selection import ChosenRun
from analysis.frames.labels import LabelledTrajectory, labelled_trajectories
from analysis.kit import columns
from analysis.kit.links import Link
from analysis.kit.page import Content, Page
from analysis.reports import addresses
from analysis.reports.formatting import ends, number, plural
from analysis.stats.descriptive.means import mean_by_cluster
from analysis.stats.rater_agreement.answers import answers_of_rows
from analysis.stats.rater_agreement.kappas import fleiss_kappa
from analysis.stats.rater_agreement.reliability import category_agreement, set_agreement
from analysis.stats.results import Estimate
from annotation.models import FailureLabel
from annotation.remarks.label_sets import NONE_KEY, headings, labels_of

PURPOSE = "This page counts the labels of a set that people put on trajectories."
SEED = 20261128
MOST_IDS = 200
NOBODY = "nobody labelled a trajectory of it"


class LabelStatistics(NamedTuple):
    """A label: its share among trajectories, and people's agreement on it.

    ``share`` is the mean over labelled trajectories of the share of people who put it there;
    ``ids`` are those on which anybody did.
    """

    label: FailureLabel
    heading: bool
    share: Estimate
    alpha: Estimate
    kappa: Estimate
    equal: Estimate
    ids: tuple[int, ...]


class AgentLabel(NamedTuple):
    """The share of a label among the labelled trajectories of one agent."""

    run: ChosenRun
    label: FailureLabel
    share: Estimate


def content(page: Page) -> Content:
    """Estimate how frequent each label is, and whether people agree on it."""
    key = page.selection.filters.label_set
    if not key:
        page.nothing(
            "No label set yet",
            f"{PURPOSE} Add a set first, such as MAST.",
            "Choose a label set",
            addresses.address("analysis:label_sets"),
        )
        return
    labels = [label for label in labels_of(key) if not label.retired]
    rows = labelled_trajectories(page.runs, key)
    if not rows or not labels:
        page.nothing(
            "Nobody has labelled these trajectories",
            f"{PURPOSE} Nobody put a label of this set on a trajectory of these runs. Open "
            "trajectories and put labels, or import them.",
            "Open the label set",
            addresses.address("analysis:label_set", set_key=key),
        )
        return
    title = labels[0].label_set.title if labels[0].label_set else ""
    statistics = [_statistics(label, labels, rows) for label in labels if _counts(label)]
    agreement = set_agreement(
        ((row.person, row.trajectory, row.labels) for row in rows),
        clusters={row.trajectory: row.task for row in rows},
        unit="task",
        seed=SEED,
    )
    people = len({row.person for row in rows})
    trajectories = len({row.trajectory for row in rows})
    page.answer(_answer(title, statistics, agreement.jaccard, people, trajectories))
    if agreement.items < 1:
        page.info(
            "No trajectory was labelled by two people, so nothing is known of their agreement."
        )
    shown = sorted(
        (one for one in statistics if not one.heading and one.ids),
        key=lambda one: (-(one.share.value or 0), one.label.rank),
    )

    def link(one: LabelStatistics) -> Link:
        """Return the trajectories on which anybody put a label; all of the page where none has it,
        or too many for an address.
        """
        if 0 < len(one.ids) <= MOST_IDS:
            return Link(more={"ids": ",".join(map(str, one.ids))})
        return Link()

    def url(one: LabelStatistics) -> str:
        return page.links.url(link(one))

    page.figure(
        "shares",
        f"How frequent the labels of {title} are",
        (
            lambda: share_dots(
                [one.label.title for one in shown],
                [
                    Shares(
                        "people",
                        [one.share for one in shown],
                        "circle",
                        ACCENT,
                        urls=[url(one) for one in shown],
                    )
                ],
                title="Share of labelled trajectories",
            )
        )
        if shown
        else None,
        subtitle=f"Of {plural(trajectories, 'labelled trajectory', 'labelled trajectories')}, "
        "with 95 % intervals by task. Labels that nobody put are left out.",
        table="labels",
    )
    page.table(
        "labels",
        f"Labels of {title}",
        statistics,
        [
            columns.text(
                "Label",
                lambda one: one.label.title,
                sub=lambda one: "any of its labels" if one.heading else _heading_of(one.label),
            ),
            columns.estimate(
                "Share",
                lambda one: one.share,
                "share",
                help="Mean over labelled trajectories of the share of people who put it",
            ),
            columns.estimate(
                "α",
                lambda one: one.alpha,
                "points",
                part="alpha",
                help="Krippendorff’s alpha, nominal: put or not, by trajectory",
            ),
            columns.estimate(
                "κ", lambda one: one.kappa, "points", part="kappa", help="Fleiss’ kappa"
            ),
            columns.estimate(
                "Equal pairs",
                lambda one: one.equal,
                "share",
                part="equal",
                help="Share of pairs of people who both put it or both did not",
            ),
            columns.count("Trajectories", lambda one: len(one.ids), help="On which anybody put it"),
        ],
        link=link,
        note="A label on a turn counts for its trajectory. A person has labelled a trajectory with "
        f"the set who put any of its labels there, “{labels[-1].title}” among them. Intervals take "
        "tasks as clusters.",
    )
    yield

    page.figure(
        "agreement",
        "How far people agree on each label",
        (
            lambda: forest(
                [ForestRows("α", [(one.label.title, one.alpha) for one in shown])],
                title="Krippendorff’s α",
                least=-1.0,
            )
        )
        if agreement.items
        else None,
        subtitle="1: always; 0: as by chance. With 95 % intervals by task",
        table="labels",
    )
    page.table(
        "sets",
        "Agreement on whole sets",
        [("Jaccard index", agreement.jaccard), ("Equal sets", agreement.equal)],
        [
            columns.text("Measure", lambda row: row[0]),
            columns.estimate("Mean over trajectories", lambda row: row[1], "share", show_n=True),
        ],
        note="Of two people’s labels on one trajectory: those that both put, divided by those that "
        "either put; two empty sets are equal. Not corrected for chance.",
    )
    page.table(
        "agents",
        "Labels by agent",
        [
            AgentLabel(run, one.label, _share_of(one.label.key, labels, rows, run.pk))
            for run in page.runs
            for one in statistics
            if any(row.run == run.pk for row in rows)
        ],
        [
            columns.agent(lambda row: row.run),
            columns.text("Label", lambda row: row.label.title),
            columns.estimate("Share", lambda row: row.share, "share", show_n=True),
        ],
        note="Shares of the agent’s labelled trajectories. If labelled trajectories were not "
        "drawn at random, the shares hold for these only.",
    )
    page.how(
        "Whoever chose which trajectories to label chose what is counted: a share holds for the "
        "labelled trajectories, and for others only if these were drawn at random. Who labels on "
        "the page of a trajectory sees the labels of others there; labels that were given apart "
        "come from a file.",
        "Agreement uses trajectories that two people or more labelled: "
        f"{agreement.items:,}; {agreement.single:,} were labelled by one. α: Krippendorff’s alpha "
        "for “put” and “not put”; κ: Fleiss’ kappa. Undefined where everybody says the same of all "
        "trajectories. Headings count where any of their labels was put.",
        f"Intervals by task; seed {SEED}.",
    )
    page.methods(
        f"{plural(people, 'person', 'people')} labelled "
        f"{plural(trajectories, 'trajectory', 'trajectories')} with the labels of {title}; "
        "agreement is Krippendorff’s alpha per label (nominal) and the mean Jaccard index of "
        "label sets, with 95 % intervals that take tasks as clusters."
    )


def _counts(label: FailureLabel) -> bool:
    """Return whether a label is about a failure, and not that there is none."""
    return not label.key.endswith(f"_{NONE_KEY}") or not label.exclusive


def _heading_of(label: FailureLabel) -> str:
    return label.parent.title if label.parent else ""


def _keys(label: str, labels: Sequence[FailureLabel]) -> frozenset[str]:
    """Return the key of a label with those of the labels below it."""
    below = {one.key for one in labels if one.parent is not None and one.parent.key == label}
    return frozenset({label, *below})


def _statistics(
    label: FailureLabel, labels: Sequence[FailureLabel], rows: Sequence[LabelledTrajectory]
) -> LabelStatistics:
    keys = _keys(label.key, labels)
    put = [(row.person, row.trajectory, bool(row.labels & keys)) for row in rows]
    tasks: dict[Hashable, Hashable] = {row.trajectory: row.task for row in rows}
    agreement = category_agreement(put, clusters=tasks, seed=SEED)
    answers, items = answers_of_rows(
        [pk for _, pk, _ in put], [float(is_on) for _, _, is_on in put], scale=(0, 1)
    )
    clusters = [tasks[pk] for pk in items]
    return LabelStatistics(
        label,
        label.pk in headings(labels),
        _share_of(label.key, labels, rows),
        agreement.alpha,
        fleiss_kappa(answers, clusters=clusters, seed=SEED),
        agreement.equal,
        tuple(sorted({pk for _, pk, is_on in put if is_on})),
    )


def _share_of(
    key: str,
    labels: Sequence[FailureLabel],
    rows: Sequence[LabelledTrajectory],
    run: int | None = None,
) -> Estimate:
    """Estimate the mean over trajectories of the share of their labellers who put a label."""
    keys = _keys(key, labels)
    said: dict[tuple[int, int], list[bool]] = {}
    for row in rows:
        if run in (None, row.run):
            said.setdefault((row.trajectory, row.task), []).append(bool(row.labels & keys))
    if not said:
        return Estimate.without_value(NOBODY)
    means = [fmean(answers) for answers in said.values()]
    return mean_by_cluster(means, [task for _, task in said], scale=(0, 1))


def _answer(
    title: str,
    statistics: Sequence[LabelStatistics],
    jaccard: Estimate,
    people: int,
    trajectories: int,
) -> str:
    """Say how much was labelled, what is most frequent, and how far people agree."""
    answer = (
        f"{plural(people, 'person', 'people')} labelled "
        f"{plural(trajectories, 'trajectory', 'trajectories')} with {title}."
    )
    most = max((one for one in statistics if not one.heading), key=lambda one: one.share.value or 0)
    if most.share.value:
        answer += (
            f" The highest share has “{most.label.title}”: {number(most.share.value, 'share')}"
            f"{_interval(most.share)}, not tested against others."
        )
    else:
        answer += " None of its failures was seen."
    if jaccard.value is not None:
        answer += (
            f" Where two people or more labelled, they share {number(jaccard.value, 'share')} of "
            f"their labels{_interval(jaccard)}."
        )
    return answer


def _interval(estimate: Estimate) -> str:
    if estimate.interval is None:
        return ""
    return f" (95 % interval {ends(estimate.interval, 'share')})"
