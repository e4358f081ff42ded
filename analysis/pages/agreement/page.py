"""How far the judges are from people who scored the same final plans."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from analysis.figures.agreement import agreement_bars, agreement_shares
from analysis.figures.rubric import people_and_judges
from analysis.filters.selection import Selection
from analysis.filters.study_kinds import asks_dimensions, whole_scores
from analysis.frames.ratings import final_scores, rating_frame
from analysis.pages.agreement.judges import agreement_later as agreement_later
from analysis.pages.agreement.tables import (
    agreement_table,
    difference_table,
    means_table,
    questions_table,
)
from analysis.reports import common
from analysis.reports.content import (
    FigureSpec,
    Notice,
    Report,
    exclusions,
    how_interval,
)
from analysis.reports.formatting import counted, ends, number, plural
from analysis.reports.people import (
    People,
    after_unblinding,
    chosen_people,
    few_items,
    how_people,
    no_answers,
    no_study,
    other_page,
    own_table,
    simulated_banner,
    who,
)
from analysis.stats.descriptive.means import mean_by_cluster
from analysis.stats.rater_agreement.differences import (
    EXACT_RULE,
    ROUNDED_RULE,
    Agreement,
    rubric_agreement,
)
from analysis.stats.results import Estimate
from annotation.questionnaires import load_questionnaire
from benchmarks.core.published import PaperStatements
from benchmarks.core.registry import find_system
from benchmarks.core.system import Dimension

if TYPE_CHECKING:
    from pandas import DataFrame

PURPOSE = "The agreement page compares people's scores of final plans with the judges' mean."
ENOUGH = 0.6


def agreement_report(selection: Selection) -> Report:
    """Everything on the page about people and judges."""
    study = selection.study
    if study is None:
        return Report(
            onward=own_table(), empty=no_study(PURPOSE), notices=tuple(map(Notice, selection.notes))
        )
    questionnaire = load_questionnaire(study.questionnaire)
    questions = whole_scores(questionnaire)
    if not asks_dimensions(questionnaire):
        return Report(
            onward=own_table(),
            empty=other_page(PURPOSE, study),
            notices=tuple(map(Notice, selection.notes)),
        )
    frame = rating_frame(study, selection.runs)
    frame, people, everyone = chosen_people(frame, selection)
    banners = simulated_banner(people)
    if frame.empty:
        return Report(
            onward=own_table(),
            empty=no_answers(PURPOSE, everyone, selection),
            notices=tuple(common.selection_notices(selection)),
        )
    dimensions = common.dimensions_of(selection.system)
    judged = final_scores(study, selection.runs, [dimension.key for dimension in dimensions])
    results, overall, means = compare(frame, dimensions, judged)
    reference = find_system(selection.system).paper
    own = questions_table(frame, questions, reference)
    figures = []
    if results and overall is not None and overall.n:
        figures = _figures(results, means)
    tables = [agreement_table(results, overall, reference)] if overall is not None else []
    if overall is not None:
        tables += [difference_table([*results, overall]), *means_table(means)]
    return Report(
        onward=own_table(),
        sentence=sentence(results, overall, people, reference),
        figures=tuple(figures),
        tables=(*tables, *own),
        notices=(
            *common.selection_notices(selection),
            *after_unblinding(people, selection),
            *_notices(frame, people),
        ),
        banners=banners,
        methods="Each person's score is compared with the mean of the judges' scores of the same "
        "final plan: share equal, share within one point, and bias (judges minus person).",
        how=(
            *common.how_runs(selection),
            *_how(results, overall, people, everyone, selection, reference),
        ),
    )


Compared = tuple[tuple[Agreement, ...], Agreement | None, Mapping[str, tuple[Estimate, Estimate]]]


def compare(frame: "DataFrame", dimensions: Sequence[Dimension], judged: "DataFrame") -> Compared:
    """Agreement by dimension and over all, and both sides' means on the same items.

    ``judged`` holds the judges' scores by seat; its index says what is compared: trajectories, or
    their turns.
    """
    asked = frame[frame["dimension"] != ""]
    titles = {d.key: d.title for d in dimensions if d.key in set(asked["dimension"])}
    if asked.empty or judged.empty:
        return (), None, {}
    keys = [str(name) for name in judged.index.names if name != "dimension"]
    human = asked.pivot_table(
        index=[*keys, "task", "annotator"], columns="dimension", values="human"
    )
    tasks = human.index.get_level_values("task").tolist()
    places = human.reset_index().set_index(keys).index
    people: dict[str, Any] = {}
    judges: dict[str, Any] = {}
    for key, title in titles.items():
        known = judged.index.get_level_values("dimension") == key
        rows = judged[known].droplevel("dimension")
        people[title] = human[key].to_numpy(dtype="float64")
        judges[title] = rows.reindex(places).to_numpy(dtype="float64")
    results, overall = rubric_agreement(people, judges, tasks=tasks)
    means = {}
    for title in people:
        complete = judges[title].mean(axis=1) + 0 * people[title]  # missing where either side is
        kept = complete == complete
        clusters = [task for task, keep in zip(tasks, kept, strict=True) if keep]
        means[title] = (
            mean_by_cluster(people[title][kept], clusters, scale=common.RUBRIC_SCALE),
            mean_by_cluster(complete[kept], clusters, scale=common.RUBRIC_SCALE),
        )
    return results, overall, means


def sentence(
    results: Sequence[Agreement],
    overall: Agreement | None,
    people: People,
    reference: PaperStatements,
) -> str:
    """How often judges meet people, in how many dimensions, and in which direction they err."""
    people_said = who(people)
    if overall is None or overall.exact.value is None or overall.within_one.value is None:
        return f"{people_said} answered, but no final plan of theirs was scored by every judge."
    exact, near = overall.exact.value, overall.within_one.value
    enough = [r for r in results if r.exact.value is not None and r.exact.value >= ENOUGH]
    defined = [r for r in results if r.exact.value is not None]
    paper = " (paper: six of eight)" if reference.agreement else ""
    nearly = " (paper: more than 80 %)" if reference.agreement else ""
    return (
        f"The judges' mean equals the score of {people_said} on {number(exact, 'share')} of "
        f"{overall.n:,} answers{_inside(overall.exact)}, on at least 60 % in {len(enough)} of "
        f"{plural(len(defined), 'dimension')}{paper}, and lies within one point on "
        f"{number(near, 'share')}{nearly}{_direction(overall.bias)}."
    )


def _direction(bias: Estimate) -> str:
    """Whether judges score higher or lower, where that is clear."""
    if bias.value is None or bias.interval is None:
        return ""
    if bias.interval.low <= 0 <= bias.interval.high:
        return "; judges score neither clearly higher nor lower"
    word = "higher" if bias.value > 0 else "lower"
    return f"; judges score {number(abs(bias.value), 'points')} points {word}"


def _inside(estimate: Estimate) -> str:
    if estimate.interval is None:
        return ""
    return f" (95 % interval {ends(estimate.interval, 'share')})"


def _figures(
    results: Sequence[Agreement], means: Mapping[str, tuple[Estimate, Estimate]]
) -> list[FigureSpec]:
    names = [result.dimension for result in results]
    bars = agreement_bars(results)
    shares = agreement_shares(results)
    both = people_and_judges(
        names, [means[name][0] for name in names], [means[name][1] for name in names]
    )
    k = results[0].judges
    return [
        common.figure_spec(
            "differences",
            "How far the judges' mean is from the person's score",
            f"Share of answers at each absolute difference; the mean of {k} judges moves in steps "
            f"of 1/{k}.",
            bars,
        ),
        common.figure_spec(
            "shares",
            "Share equal and share within one point, by dimension",
            "With 95 % intervals by task.",
            shares,
        ),
        common.figure_spec(
            "means",
            "Mean scores of people and of judges on the same answers",
            "With 95 % intervals by task.",
            both,
        ),
    ]


def _notices(frame: "DataFrame", people: People) -> list[Notice]:
    per_item = frame.groupby("trajectory")["annotator"].nunique()
    found = []
    if len(per_item) and int(per_item.max()) == 1:
        found.append(
            Notice(
                "Each trajectory was judged by one annotator: this compares people with judges, "
                "and "
                "says nothing about how far people agree with each other.",
                "info",
            )
        )
    return [*found, *map(Notice, few_items(people))]


def _how(
    results: Sequence[Agreement],
    overall: Agreement | None,
    people: People,
    everyone: People,
    selection: Selection,
    reference: PaperStatements,
) -> list[str]:
    lines = how_people(people, everyone, selection)
    if overall is not None:
        estimates = [estimate for r in [*results, overall] for estimate in (r.exact, r.bias)]
        left = exclusions([overall.exact])
        lines += [
            f"Δ = |person − mean of {overall.judges} judges| on the final plan, counted in whole "
            f"{_part(overall.judges)}. Equal: {EXACT_RULE}; equal when rounded: {ROUNDED_RULE}; "
            "within "
            "one: Δ ≤ 1. Bias: judges − person.",
            f"95 % intervals: {how_interval(estimates) or 'none'}; they are by task, because "
            "trajectories of one task are not independent.",
            f"Left out: {counted(left)}." if left else "No answer is left out.",
        ]
    if reference.agreement:
        lines.append(reference.agreement)
    return lines


def _part(k: int) -> str:
    return {1: "points", 2: "halves", 3: "thirds", 4: "quarters"}.get(k, f"{k}ths") + (
        "" if k == 1 else " of a point"
    )
