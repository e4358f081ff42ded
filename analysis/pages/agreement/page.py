"""How far are judges from people who scored the same final plans?"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from analysis.agreement.inputs import AgreementSettings
from analysis.agreement.report import tidy_report
from analysis.figures.agreement import agreement_bars, agreement_shares
from analysis.figures.bland_altman import DifferencePanel, bland_altman_plot
from analysis.figures.forest import ForestRows, forest
from analysis.figures.layout.theme import Figure
from analysis.figures.rubric import people_and_judges
from analysis.filters.study_kinds import asks_dimensions, whole_scores
from analysis.frames.ratings import final_scores, rating_frame
from analysis.kit import columns
from analysis.kit.columns import Column
from analysis.kit.links import Link
from analysis.kit.page import Content, Page
from analysis.pages.agreement.beyond_chance import BeyondChance, beyond_chance, stated_range
from analysis.pages.agreement.dimensions import (
    DimensionAgreement,
    SameAnswers,
    agreement_columns,
    compare,
    differences_table,
    same_answers,
)
from analysis.pages.agreement.influence import show_influence
from analysis.pages.judges.page import keys_of, table_of
from analysis.pages.own_table import notes
from analysis.pages.own_table.alternative import verdict_table
from analysis.pages.own_table.groups import across_table
from analysis.pages.own_table.sections import SectionPart, family_of, parts_of, skewed_parts
from analysis.pages.own_table.tables import against_table, chance_table, correlation_table
from analysis.pages.people import (
    asked_study,
    chosen_people,
    few_items,
    no_answers,
    people_details,
    people_notices,
    who_answered,
)
from analysis.reports import addresses, figure_specs, system_facts
from analysis.reports import content as parts
from analysis.reports.content import Cell, how_interval
from analysis.reports.formatting import ends, left_out_sentence, number, plural
from analysis.stats.descriptive.means import mean_by_cluster
from analysis.stats.rater_agreement.differences import Agreement
from analysis.stats.results import Estimate
from annotation.questionnaires import Question, load_questionnaire
from benchmarks.core.ports.published import PaperStatements

if TYPE_CHECKING:
    from pandas import DataFrame

# A dimension on which at least this share of answers is equal agrees often.
OFTEN = 0.6
MIXED = Estimate.without_value("scores of several dimensions are not mixed in one coefficient")
# Of the coefficients that a job computes.
SEED = 20260118
WORD = "Dimension"
PURPOSE = "The agreement page compares people's scores of final plans with the judges' mean."
STEPS = {1: "points", 2: "halves of a point", 3: "thirds of a point", 4: "quarters of a point"}


class DimensionMeans(NamedTuple):
    """The means of people and of judges over the same answers."""

    key: str
    title: str
    people: Estimate
    judges: Estimate


class QuestionMean(NamedTuple):
    """The mean answer to a question that is no rubric dimension, beside the paper's mean."""

    question: Question
    mean: Estimate
    published: float | None


def content(page: Page) -> Content:
    """Compare people with the mean of the judges, by dimension and over all."""
    page.onward(
        "Compare judges with people in your own table of ratings",
        addresses.address("analysis:table_list"),
    )
    study = asked_study(page, PURPOSE, asks_dimensions)
    if study is None:
        return
    frame, people, everyone = chosen_people(rating_frame(study, page.runs), page.selection)
    if frame.empty:
        no_answers(page, everyone, PURPOSE)
        return
    dimensions = system_facts.dimensions_of(page.selection.system)
    names = [dimension.key for dimension in dimensions]
    judged = final_scores(study, page.runs, names, by_look=True)
    rows, overall = compare(frame, dimensions, judged)
    every_row = [*rows, DimensionAgreement("", overall)] if overall is not None else []
    sides = same_answers(frame, dimensions, judged)
    chance = _chance(frame, sides)
    paper, who = page.system.paper, who_answered(people)
    compared = overall is not None and overall.exact.value is not None
    if overall is not None and compared:
        page.answer(_answer(rows, overall, chance, who))
        page.info(_how_often_equal(rows, paper))
    else:
        page.answer(f"{who} answered, but no final plan of theirs was scored by every judge.")
    people_notices(page, people)
    few_items(page, people)

    def draw_shares() -> Figure | None:
        if not compared:
            return None
        marks = {row.agreement.dimension: page.url(dimension=row.key) for row in rows}
        return figure_specs.linked(agreement_shares([row.agreement for row in rows]), marks)

    def link(row: DimensionAgreement | DimensionMeans) -> Link:
        return Link(dimension=row.key)

    by_task = "With 95 % intervals by task."
    page.figure(
        "shares",
        "Share equal and share within one point, by dimension",
        draw_shares,
        subtitle=by_task,
        table="agreement",
    )
    page.table(
        "agreement",
        "Agreement by dimension",
        every_row,
        _chance_columns(chance),
        link=link,
        note="Equal when rounded: the judges' mean, rounded half up, equals the person's score, "
        "the rule of the headline and the figure. Alpha and kappa: 0 is chance; low where nearly "
        f"all scores are the same, however often both agree. {paper.agreement}".strip(),
    )
    yield
    if int(frame.groupby("trajectory")["annotator"].nunique().max()) == 1:
        page.info(
            "Each trajectory was judged by one annotator: this compares people with judges, and "
            "says nothing about how far people agree with each other."
        )
    titles = {dimension.key: dimension.title for dimension in dimensions}
    means = _dimension_means(sides, titles) if sides is not None else []

    def draw_differences() -> Figure | None:
        if not compared:
            return None
        links = {
            (row.agreement.dimension, bin.numerator): page.url(dimension=row.key)
            for row in rows
            for bin in row.agreement.distribution.bins
        }
        return agreement_bars([row.agreement for row in rows], links)

    def draw_means() -> Figure | None:
        if not compared:
            return None
        drawn = people_and_judges(
            [row.title for row in means],
            [row.people for row in means],
            [row.judges for row in means],
        )
        return figure_specs.linked(drawn, {m.title: page.url(dimension=m.key) for m in means})

    judges = overall.judges if overall is not None else 0
    page.figure(
        "differences",
        "How far the judges' mean is from the person's score",
        draw_differences,
        subtitle=f"Share of answers at each absolute difference; the mean of {judges} judges moves "
        f"in steps of 1/{judges}.",
    )
    page.figure(
        "means",
        "Mean scores of people and of judges on the same answers",
        draw_means,
        subtitle=by_task,
    )
    questions = whole_scores(load_questionnaire(study.questionnaire))
    show_influence(page, study, frame, questions, judged)
    differences_table(page, every_row)
    page.table(
        "means",
        "Mean scores on the same answers",
        means,
        [
            columns.text("Dimension", lambda row: row.title),
            columns.estimate("People", lambda row: row.people, "points", show_n=True),
            columns.estimate("Judges", lambda row: row.judges, "points", show_n=True),
        ],
        link=link,
        folded=True,
    )
    page.table(
        "questions",
        "Questions on the feedback",
        _question_means(frame, questions, paper),
        [
            columns.text(
                "Question",
                lambda row: f"{row.question.number} {row.question.title}",
                sub=lambda row: row.question.definition,
            ),
            columns.estimate("Mean", lambda row: row.mean, "points", show_n=True),
            Column(parts.Column("Published", ("published",)), _published),
        ],
        note="Answers of people alone, 1 to 5, 5 best; 95 % intervals are by task.",
    )
    people_details(page, people, everyone)
    if overall is not None:
        intervals = how_interval(
            [one for row in every_row for one in (row.agreement.rounded, row.agreement.bias)]
        )
        left_out = overall.exact.excluded
        page.how(
            f"Δ = |person − mean of {judges} judges| on the final plan, counted in whole "
            f"{STEPS.get(judges, f'{judges}ths of a point')}. Equal: the judges' mean equals the "
            "person's score; equal when rounded: the judges' mean, rounded half up, equals the "
            "person's score; within one: Δ ≤ 1. Bias: judges − person.",
            f"95 % intervals: {intervals or 'none'}; they are by task, because trajectories of one "
            "task are not independent.",
            left_out_sentence(left_out, nothing="No answer"),
        )
    page.how(paper.agreement)
    page.methods(
        "Each person's score is compared with the mean of the judges' scores of the same final "
        "plan: share equal to the rounded mean, share within one point, and bias (judges minus "
        "person); beyond chance, Krippendorff's ordinal alpha and linearly weighted kappa of the "
        "person's score with the rounded mean."
    )


def deferred(page: Page) -> None:
    """Compute kappas, alphas, AC, ICC, correlations and limits of each judge and dimension."""
    study = page.selection.study
    assert study is not None
    frame, _, _ = chosen_people(rating_frame(study, page.runs), page.selection)
    settings, keys = AgreementSettings(seed=SEED), keys_of(page.selection)
    # Dimensions without judges, too.
    every_part = parts_of(tidy_report(table_of(page.selection, frame), settings))
    sections = [part for part in every_part if part.section.against]
    family = family_of(sections)
    if family is None:
        page.info("No judge scored what people scored here.")
        return
    for who, names in skewed_parts(sections):
        page.info(notes.skewed_scores(who, [name.lower() for name in names]))
    page.figure(
        "beyond-chance",
        "Each judge with people, beyond chance",
        lambda: _draw_beyond_chance(page, sections, keys),
        subtitle="Krippendorff’s alpha, ordinal metric, with 95 % intervals by task; 0 is chance. "
        "Low where nearly all scores are the same, however often both agree.",
        table="chance",
    )
    page.figure(
        "limits",
        "Difference over mean: judges − people (Bland–Altman)",
        lambda: _draw_limits(page, sections, keys, settings.scale),
        subtitle="The mean of all judges beside the mean of an item’s people. Circles are items, "
        "by area; the line is the bias, the dashed lines the limits between which 95 % of "
        "differences lie if they are normal, bands their intervals.",
        table="correlations",
    )

    def links(shown: Sequence[SectionPart], rows: Callable[[SectionPart], int]) -> list[Link]:
        """Return the dimension of each row of a table that has so many rows of each part."""
        return [Link(dimension=keys[part.title]) for part in shown for _ in range(rows(part))]

    judges = links(sections, lambda part: len(part.section.against))
    page.ready_table(against_table(sections, WORD), judges, note=notes.JUDGES)
    page.ready_table(chance_table(sections, WORD), judges, note=notes.CHANCE)
    if any(test.passed is not None for part in sections for test in part.family):
        page.ready_table(
            verdict_table(sections, WORD),
            links(sections, lambda part: len(part.family)),
            note=notes.alternative_note(family),
        )
    page.ready_table(correlation_table(sections, WORD), judges, note=notes.CORRELATIONS)
    apart = links(every_part, lambda _: 1)
    page.ready_table(
        across_table("people", "People among themselves", every_part, WORD, judges=False),
        apart,
        note=notes.ICC,
    )
    page.ready_table(
        across_table("judges-alone", "Judges among themselves", every_part, WORD, judges=True),
        apart,
        note=f"{notes.ICC} {notes.CONSISTENCY}",
    )
    by_task = any(part.section.unit == "task" for part in sections)
    page.how(
        "Shares, bias, kappa, alpha and AC are over single answers of people, each beside the "
        "judge’s score; correlations, ICC and limits over items, the judge beside the mean of an "
        "item’s people. The panel is the mean of all judges; it is no score of the scale and has "
        "no kappa.",
        f"Intervals draw {'tasks' if by_task else 'items'}: seed {settings.seed}, "
        f"{settings.resamples:,} resamples. Formulas and sources: docs/agreement.md.",
    )


def _answer(
    rows: Sequence[DimensionAgreement],
    overall: Agreement,
    chance: Mapping[str, BeyondChance],
    who: str,
) -> str:
    """State how often judges and people agree, beyond chance too, and how far judges are off."""
    inside = overall.rounded.interval
    interval = f" (95 % interval {ends(inside, 'share')})" if inside is not None else ""
    rounded, within_one = (
        number(one.value or 0.0, "share") for one in (overall.rounded, overall.within_one)
    )
    words = [
        f"The judges' mean, rounded, equals the score of {who} on {rounded} of "
        f"{plural(overall.n, 'answer')}{interval}; unrounded, it is within one point on "
        f"{within_one}."
    ]
    defined = [row.agreement for row in rows if row.agreement.exact.value is not None]
    alphas, kappas, among = (stated_range(chance, name) for name in ("alpha", "kappa", "people"))
    coefficients = [f"ordinal alpha is {alphas}"] * bool(alphas)
    coefficients += [f"linear kappa {kappas}"] * bool(kappas)
    if coefficients:
        by_dimension = " by dimension" * (len(defined) > 1)
        people = f"; among people, alpha is {among}" if among else ""
        words.append(f"Beyond chance, {' and '.join(coefficients)}{by_dimension}{people}.")
    bias, off = overall.bias.value or 0.0, overall.bias.interval
    if off is not None:
        size = f"{number(abs(bias), 'points')} points {'higher' if bias > 0 else 'lower'}"
        words.append(
            f"The judges' mean is {'neither clearly higher nor lower' if off.holds(0) else size} "
            f"on average (95 % interval of the difference {ends(off, 'points')})."
        )
    return " ".join(words)


def _how_often_equal(rows: Sequence[DimensionAgreement], paper: PaperStatements) -> str:
    """Count the dimensions on which most answers are equal, beside the paper's count."""
    shares = [row.agreement.rounded.value for row in rows if row.agreement.exact.value is not None]
    often = sum((share or 0.0) >= OFTEN for share in shares)
    published = "; in the paper on six of eight, by the same rule" if paper.agreement else ""
    return (
        f"On {often} of {plural(len(shares), 'dimension')} at least 60 % of answers are equal"
        f"{published}."
    )


def _chance(frame: "DataFrame", sides: SameAnswers | None) -> dict[str, BeyondChance]:
    """Return the agreement beyond chance, by the key of the dimension."""
    if sides is None:
        return {}
    asked = frame.groupby("dimension")
    return {
        key: beyond_chance(people, sides.judges[key], sides.tasks, asked.get_group(key))
        for key, people in sides.people.items()
    }


def _dimension_means(sides: SameAnswers, titles: Mapping[str, str]) -> list[DimensionMeans]:
    """Return both sides' means on the answers that both have."""
    rows = []
    for key, people in sides.people.items():
        complete = sides.judges[key].mean(axis=1) + 0 * people  # missing where either side is
        kept = complete == complete
        tasks = [task for task, keep in zip(sides.tasks, kept, strict=True) if keep]
        means = (
            mean_by_cluster(scores[kept], tasks, scale=system_facts.RUBRIC_SCALE)
            for scores in (people, complete)
        )
        rows.append(DimensionMeans(key, titles[key], *means))
    return rows


def _question_means(
    frame: "DataFrame", questions: Sequence[Question], paper: PaperStatements
) -> list[QuestionMean]:
    """Return the means of the questions that are no rubric dimension."""
    rows = []
    for question in questions:
        if question.dimension:
            continue
        answers = frame[frame["question"] == question.key]
        mean = Estimate.without_value("no item was asked this")
        if len(answers):
            mean = mean_by_cluster(
                answers["human"].to_numpy(),
                answers["task"].tolist(),
                scale=system_facts.RUBRIC_SCALE,
            )
        rows.append(QuestionMean(question, mean, paper.questions.get(question.key)))
    return rows


def _chance_columns(chance: Mapping[str, BeyondChance]) -> list[Column[DimensionAgreement]]:
    """Put agreement beyond chance before how often both sides are equal or close."""

    def coefficient(label: str, part: str, help: str) -> Column[DimensionAgreement]:
        def value(row: DimensionAgreement) -> Estimate:
            if row.key not in chance:
                return MIXED
            estimate: Estimate = getattr(chance[row.key], part)
            return estimate

        return columns.estimate(label, value, "points", help=help)

    first, second, *others = agreement_columns()
    return [
        first,
        second,
        coefficient("Alpha", "alpha", "Krippendorff’s, ordinal: people with the rounded mean"),
        coefficient("Kappa", "kappa", "Linear weights: people with the rounded mean"),
        coefficient("Alpha, people", "people", "Krippendorff’s, ordinal: among people"),
        *others,
    ]


def _published(row: QuestionMean) -> Cell:
    if row.published is None:
        return Cell(data=(None,), reason="not published")
    return Cell(f"{row.published:.2f}", (row.published,), sub="n = 240", source="appendix F.1")


def _draw_beyond_chance(
    page: Page, sections: Sequence[SectionPart], keys: Mapping[str, str]
) -> Figure:
    """Draw the ordinal alpha of each judge with people."""
    marks = {title: page.url(dimension=key) for title, key in keys.items()}
    by_judge: dict[str, list[tuple[str, Estimate]]] = {}
    for part in sections:
        for one in part.section.against:
            if one.panel == 1:
                by_judge.setdefault(one.judge, []).append((part.title, one.alphas["ordinal"]))
    groups = [
        ForestRows(judge, rows, [marks[title] for title, _ in rows])
        for judge, rows in by_judge.items()
    ]
    return forest(groups, title="ordinal alpha")


def _draw_limits(
    page: Page,
    sections: Sequence[SectionPart],
    keys: Mapping[str, str],
    scale: tuple[int, int],
) -> Figure:
    """Draw the differences of all judges' mean and people over their mean."""
    panels = [
        DifferencePanel(part.title, part.section.against[-1].limits, part.section.against[-1].pairs)
        for part in sections
    ]
    drawn = bland_altman_plot(panels, scale=scale)
    # Panels stand in the order of the dimensions: x, x2, x3, …
    axes = {f"x{n}" if n > 1 else "x": part for n, part in enumerate(sections, 1)}
    for trace in drawn["data"]:
        if trace.get("hoverinfo") != "skip":
            key = keys[axes[trace.get("xaxis", "x")].title]
            trace["customdata"] = [page.url(dimension=key)] * len(trace["x"])
    return drawn
