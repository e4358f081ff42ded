"""People's scores of every turn beside the judges': do both see plans get worse?"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from analysis.figures.decline import decline_figure
from analysis.figures.theme import ACCENT, NEUTRAL, PEOPLE_SYMBOL, Style
from analysis.filters.selection import Selection
from analysis.filters.study_kinds import turn_questions
from analysis.frames.ratings import every_turn_scores, rating_frame
from analysis.pages.agreement.page import (
    DimensionAgreement,
    agreement_columns,
    compare,
    difference_columns,
)
from analysis.pages.declaration import TableOf, WrittenPage
from analysis.pages.links import Links
from analysis.pages.people import (
    People,
    after_unblinding,
    chosen_people,
    how_people,
    no_answers,
    no_study,
    other_page,
    simulated_banner,
    who,
)
from analysis.pages.prose import read_prose
from analysis.pages.turn_scores.sides import ALL, JUDGES, PEOPLE, sides_of
from analysis.pages.turn_scores.slopes import turn_scores_later
from analysis.reports import common
from analysis.reports.content import (
    Cell,
    FigureSpec,
    Notice,
    Report,
    Table,
    count_cell,
    estimate_cell,
    estimate_column,
    number_column,
    text_cell,
    text_column,
)
from analysis.reports.formatting import ends, number, plural
from analysis.stats.rater_agreement.differences import Agreement
from analysis.stats.rater_agreement.reliability import score_agreement
from analysis.stats.results import Estimate
from analysis.stats.trends.decline import Alignment, Curve, Slope, score_by_turn, within_slope
from annotation.questionnaires import Question, load_questionnaire
from benchmarks.core.system import Dimension

if TYPE_CHECKING:
    from pandas import DataFrame

PURPOSE = "The page on turn scores compares people's scores of every turn with the judges'."
HOW = (
    "To have every turn scored, make a study of the same trajectories and choose a questionnaire "
    f"that asks about turns, such as “{load_questionnaire('turn_scores@1').title}”."
)
SEED = 20251207
LOOKS = {
    PEOPLE: Style(ACCENT, PEOPLE_SYMBOL, "solid"),
    JUDGES: Style(NEUTRAL, "circle", "dash"),
}
MOST_ROWS = 100


def turn_scores_report(selection: Selection) -> Report:
    """Everything on the page about scores of turns."""
    study = selection.study
    notices = tuple(map(Notice, selection.notes))
    if study is None:
        return Report(empty=no_study(PURPOSE), notices=notices)
    questions = turn_questions(load_questionnaire(study.questionnaire))
    if not questions:
        return Report(
            empty=other_page(PURPOSE, study, "No scores of single turns", HOW), notices=notices
        )
    frame, people, everyone = chosen_people(
        rating_frame(study, selection.runs, turns=True), selection
    )
    if frame.empty:
        return Report(
            empty=no_answers(PURPOSE, everyone, selection),
            notices=tuple(common.selection_notices(selection)),
        )
    dimensions = common.dimensions_of(selection.system)
    judged = every_turn_scores(study, selection.runs, [d.key for d in dimensions])
    sides = sides_of(study, questions, frame, judged)
    align: Alignment = "from_end" if selection.filters.align == "end" else "turn"
    curves, slopes = (
        score_by_turn(*sides.columns, align=align, scale=common.RUBRIC_SCALE),
        within_slope(*sides.columns),
    )
    rows, overall = compare(frame, dimensions, judged)
    tables = [_slope_table(slopes)]
    if overall is not None:
        tables += [
            *_agreement_tables([*rows, DimensionAgreement("", overall)], selection),
            _turn_table(frame, dimensions, judged),
        ]
    return Report(
        sentence=sentence(slopes, overall, people),
        figures=(_figure(curves, questions, align),),
        tables=(*tables, _people_table(frame, questions), _point_table(curves, align)),
        notices=(
            *common.selection_notices(selection),
            *after_unblinding(people, selection),
            *_survivors(curves),
        ),
        banners=simulated_banner(people),
        methods="Scores of turns are means over a turn's annotators and over its judges; the "
        "change per turn is a least-squares slope with one intercept per trajectory.",
        how=(
            *common.how_runs(selection),
            *how_people(people, everyone, selection),
            *_how(align, overall),
        ),
    )


def sentence(slopes: Sequence[Slope], overall: Agreement | None, people: People) -> str:
    """How both sides' scores move from turn to turn, and how far apart they are."""
    found = {slope.agent: slope.slope for slope in slopes if slope.dimension == ALL}
    subject = who(people)
    if PEOPLE not in found:
        return f"{subject} scored the turns of {plural(people.items, 'item')}."
    moved = (
        f"From turn to turn the scores of {subject} change by "
        f"{_moved(found[PEOPLE])} and the judges' by {_moved(found[JUDGES])}"
    )
    if overall is None or overall.exact.value is None or overall.within_one.value is None:
        return f"{moved}; no turn was scored by every judge, so there is nothing to compare."
    return (
        f"{moved}; the judges' mean equals the person's score on "
        f"{number(overall.exact.value, 'share')} of {overall.n:,} answers and lies within one "
        f"point on {number(overall.within_one.value, 'share')}."
    )


def _moved(slope: Estimate) -> str:
    """Such as ``−0.20 points (95 % interval −0.34 to −0.06)``."""
    if slope.value is None:
        return f"an unknown amount ({slope.undefined})"
    points = f"{number(slope.value, 'points', signed=True)} points"
    if slope.interval is None:
        return points
    return f"{points} (95 % interval {ends(slope.interval, 'points', signed=True)})"


def _figure(curves: Sequence[Curve], questions: Sequence[Question], align: Alignment) -> FigureSpec:
    words = "turn" if align == "turn" else "distance from the last turn"
    drawn = {curve.dimension for curve in curves}
    titles = [question.title for question in questions if question.title in drawn]
    most = max(question.scale.most for question in questions)
    return common.figure_spec(
        "curves",
        f"Mean score by {words}: people and judges, with 95 % intervals",
        "The same trajectories on both sides. Below: how many trajectories each point stands for.",
        decline_figure(curves, titles, scale=(1, most), styles=LOOKS),
    )


def _slope_table(slopes: Sequence[Slope]) -> Table:
    by_title: dict[str, dict[str, Slope]] = {}
    for slope in slopes:
        by_title.setdefault(slope.dimension, {})[slope.agent] = slope
    nothing = Cell(data=(None, None, None, 0, "no judges"), reason="judges are not asked this")
    rows = tuple(
        (
            text_cell(title),
            *(
                estimate_cell(found[side].slope, "points", signed=True, show_n=True)
                if side in found
                else nothing
                for side in LOOKS
            ),
        )
        for title, found in by_title.items()
    )
    return Table(
        "slopes",
        "Change per turn within trajectories",
        (text_column("Dimension"), *(estimate_column(side) for side in LOOKS)),
        rows,
        note="Each trajectory compared with itself; points of the scale per turn, with 95 % "
        "intervals and n trajectories. Where the last score decides when a trajectory ends, these "
        "slopes are biased: read the mixed models below.",
    )


def _agreement_tables(rows: Sequence[DimensionAgreement], selection: Selection) -> list[Table]:
    """Agreement of people with the judges over all turns, as on the agreement page."""
    declared: list[TableOf[Sequence[DimensionAgreement], DimensionAgreement]] = [
        TableOf(
            "agreement",
            "Agreement by dimension",
            rows=lambda rows: rows,
            columns=agreement_columns,
            link=lambda row: row.link,
        ),
        TableOf(
            "differences",
            "Answers at each absolute difference",
            rows=lambda rows: rows,
            columns=difference_columns,
            link=lambda row: row.link,
            folded=True,
        ),
    ]
    links, prose = Links(selection), read_prose("pages/turn_scores/answer.html", {})
    found = (one.build(rows, links, prose) for one in declared)
    return [table for table in found if table is not None]


def _turn_table(frame: "DataFrame", dimensions: Sequence[Dimension], judged: "DataFrame") -> Table:
    """Agreement turn by turn: early turns may be easier to agree on than late ones."""
    rows = []
    for turn in sorted(set(frame["turn"].tolist())):
        here = frame[frame["turn"] == turn]
        found, overall = compare(here, dimensions, judged)
        results = [row.agreement for row in found]
        rows += [
            (
                Cell(f"{turn:g}", (int(turn),)),
                text_cell(result.dimension[:1].upper() + result.dimension[1:]),
                count_cell(here["trajectory"].nunique()),
                count_cell(result.n),
                estimate_cell(result.exact, "share"),
                estimate_cell(result.within_one, "share"),
                estimate_cell(result.bias, "points", signed=True),
            )
            for result in ([overall] if overall is not None else []) + list(results)
        ]
    return Table(
        "turns",
        f"Agreement by turn ({plural(len(rows), 'row')})",
        (
            number_column("Turn"),
            text_column("Dimension"),
            number_column("Trajectories", help="Scored by people at this turn"),
            number_column("n"),
            estimate_column("Equal"),
            estimate_column("Within one"),
            estimate_column("Bias", help="Judges' mean minus the person's score"),
        ),
        tuple(rows),
        note="Later turns are those of trajectories that still ran. 95 % intervals are by task.",
        open=len(rows) <= MOST_ROWS // 4,
        most=MOST_ROWS,
    )


def _people_table(frame: "DataFrame", questions: Sequence[Question]) -> Table:
    rows = []
    for question in questions:
        own = frame[frame["question"] == question.key]
        places = list(zip(own["trajectory"].tolist(), own["turn"].tolist(), strict=True))
        found = score_agreement(
            zip(own["annotator"].tolist(), places, own["human"].tolist(), strict=True),
            scale=(1, question.scale.most),
            clusters=dict(zip(places, own["task"].tolist(), strict=True)),
            seed=SEED,
        )
        rows.append(
            (
                text_cell(question.title),
                count_cell(found.items),
                estimate_cell(found.alpha, "points"),
                estimate_cell(found.equal, "share"),
                estimate_cell(found.within_one, "share"),
            )
        )
    return Table(
        "people",
        "Agreement between people",
        (
            text_column("Dimension"),
            number_column("Turns", help="Turns that two people or more scored"),
            estimate_column("Alpha", help="Krippendorff's alpha, ordinal"),
            estimate_column("Equal", help="Share of pairs of answers that are equal"),
            estimate_column("Within one", help="Share of pairs at most one point apart"),
        ),
        tuple(rows),
        note="Of turns that two people or more scored; 95 % intervals are by task.",
    )


def _point_table(curves: Sequence[Curve], align: Alignment) -> Table:
    word = "Turn" if align == "turn" else "Turns from the last"
    rows = tuple(
        (
            text_cell(curve.dimension),
            text_cell(curve.agent),
            Cell(f"{point.position}", (point.position,)),
            count_cell(point.running),
            count_cell(point.mean.n),
            estimate_cell(point.mean, "points"),
        )
        for curve in curves
        for point in curve.points
    )
    return Table(
        "points",
        f"The numbers of the figure ({plural(len(rows), 'row')})",
        (
            text_column("Dimension"),
            text_column("Side"),
            number_column(word, "position"),
            number_column("Running"),
            number_column("Scored"),
            estimate_column("Mean"),
        ),
        rows,
        open=False,
    )


def _survivors(curves: Sequence[Curve]) -> list[Notice]:
    """That later turns are those of trajectories that lasted."""
    warnings = dict.fromkeys(warning for curve in curves for warning in curve.warnings)
    return [Notice(f"{warning[:1].upper()}{warning[1:]}.") for warning in warnings]


def _how(align: Alignment, overall: Agreement | None) -> list[str]:
    where = "turn" if align == "turn" else "distance from the last turn"
    lines = [
        "People: mean over a turn's annotators. Judges: mean over the turn's judges, where every "
        f"judge scored it. The mean by {where} is taken over the trajectories that have such a "
        "turn, with a 95 % t interval; trajectories are those that somebody scored.",
        f"{ALL}: mean over the dimensions that a turn is asked about, where all were scored.",
        "Change per turn: least squares with one intercept per trajectory, 95 % t interval "
        "clustered by trajectory.",
    ]
    if overall is not None:
        lines.append(
            f"Agreement: each answer against the mean of {overall.judges} judges on the same turn; "
            "95 % intervals are by task, because turns of one task are not independent."
        )
    return lines


CONTENT = WrittenPage(turn_scores_report, later=turn_scores_later)
