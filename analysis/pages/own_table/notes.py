"""Notes on tests of judges against people, which reports on studies and on own tables share."""

from collections.abc import Sequence

from analysis.agreement.report import TidyReport
from analysis.pages.own_table.sections import FamilyOfTests, epsilon_words
from analysis.reports.formatting import listed, plural
from analysis.stats.rater_agreement.alt_verdict import LOW_ALPHA

TEST_NEEDS = (
    "the alternative annotator test needs three people with 30 shared items each, which a judge "
    "and another person scored too"
)
# Notes of the tables of power, of single people, and of items needed.
POWER = (
    "Agreement: share that pass non-inferiority; both: share that pass the alternative annotator "
    "test, too. For one judge; the power is lower where many are adjusted together."
)
PEOPLE_TESTED = "Ties count for both, so the two shares add up to more than 1."
PLANNING = (
    "These numbers hold if further items and people are like these. The formulas take items as "
    "independent; where items share tasks, more are needed."
)
# Notes of the tables of judges against people.
JUDGES = (
    "Equal: the judge's score, or the mean of all judges, equals the person's. Bias is judge minus "
    "person: above 0 the judge is milder."
)
CHANCE = (
    "Each answer of a person beside the judge's score. Weights belong to the whole scale, not to "
    "the scores that occur; ordinal alpha is not quadratic kappa. The mean of a panel is no score "
    "of the scale and has none of these."
)
CORRELATIONS = (
    "Over items: the judge beside the mean of an item's people. No correlation sees a constant "
    "bias, so read it with the bias and the limits, between which 95 % of the differences lie if "
    "they are normal; on few scores they are coarse. ICC2 counts a bias as disagreement, ICC3 does "
    "not."
)
DIFFERENCES = (
    "Counted in exact parts of a point: the mean of k judges moves in steps of 1/k. Differences "
    "that do not occur are left out for a panel."
)
# Notes of the tables of one kind of rater.
ICC = (
    "ICC forms with complete items leave out every item that a rater did not score; those by REML "
    "take all answers, missing at random. Forms 2 and 3 need named raters. The average of k says "
    "nothing about a single rater."
)
CONSISTENCY = (
    "Agreement of judges with each other is consistency, not correctness. People and judges are "
    "never put into one alpha, which would hide a common bias."
)
NOT_ADJUSTED = "No test is available, so nothing is adjusted."


def low_agreement(alphas: Sequence[str]) -> str:
    """Return a warning where people agree little with each other; empty where they agree."""
    if not alphas:
        return ""
    return (
        f"People agree little with each other: ordinal alpha {listed(alphas, most=8)}, below "
        f"{LOW_ALPHA} (Krippendorff 2004). Passing means little when people disagree this much."
    )


def one_person_away(judges: Sequence[str]) -> str:
    """Return a warning of the judges whose verdict one person would turn; empty without any."""
    if not judges:
        return ""
    return (
        f"One person away from the other verdict: {listed(judges, most=6)}. Read the p-values and "
        "the advantage probability beside it."
    )


def skewed_scores(who: str, names: Sequence[str]) -> str:
    """Return the notice that nearly all scores are the same in the sections of these names."""
    return (
        f"Most scores of {who} are one and the same on {listed(names, most=8)}. Kappa and alpha "
        "are low there however often raters agree: read them with equal scores, AC2 and the counts "
        "of scores."
    )


def gap_subtitle(family: FamilyOfTests) -> str:
    """Return the subtitle of the figure of kappa differences."""
    return (
        "Linearly weighted kappa with the other people: the judge's minus a person's, on the same "
        "items, with 95 % intervals. A judge passes where its interval lies right of the dashed "
        f"margin, −{family.margin:g}."
    )


def alternative_note(family: FamilyOfTests) -> str:
    """Return the note of the table of verdicts."""
    settings = f"Margin −{family.margin:g}; {epsilon_words(family.epsilon)}, q = {family.q:g}"
    if not family.statement:
        return f"{settings}. {NOT_ADJUSTED}"
    return (
        f"{settings}; {plural(family.p_values, 'p-value')} adjusted together ({family.statement}, "
        "Benjamini–Yekutieli). Standing in takes both tests. Of many judges one passes alone by "
        "luck, so read the verdict of all together."
    )


def how_tested(family: FamilyOfTests) -> tuple[str, ...]:
    """Return how judges are tested against people, a line each."""
    adjusted = (
        f"The family: {family.statement}, {plural(family.p_values, 'p-value')} "
        "(Benjamini–Yekutieli)."
        if family.statement
        else NOT_ADJUSTED
    )
    return (
        "Non-inferiority: for each person, linearly weighted kappa of the judge with the other "
        "people minus that of the person, on the same items; the mean over people with a 95 % "
        f"interval. It passes where the interval lies above −{family.margin:g} and the judge is "
        "shown to keep a third of people's kappa; it is shown worse where the interval lies below.",
        "Alternative annotator test, negative root mean squared error: person by person, is the "
        "judge at least as close to the other people as this person is? It passes with a winning "
        "rate of 0.50 or more; the panel's mean is rounded, because a mean hardly ever ties with a "
        "person.",
        "A judge may stand in where it passes both; one of them shows alone that it is worse. "
        "Undecided: about as many items as stated would let a judge as good as a person pass both "
        "in 80 % of studies. Formulas, simulations and sources: docs/agreement.md.",
        f"Chosen before looking: margin −{family.margin:g}; {epsilon_words(family.epsilon)}; false "
        f"discovery rate {family.q:g}. {adjusted}",
    )


def standing_methods(family: FamilyOfTests) -> str:
    """Return when a judge may stand in for a person, as a clause for a paper."""
    return (
        "A judge may stand in for a person where it passes non-inferiority (linearly weighted "
        f"kappa with the other people, minus a person's own, margin −{family.margin:g}) and the "
        f"alternative annotator test (Calderon et al. 2025; {epsilon_words(family.epsilon)})"
    )


def how_read(report: TidyReport) -> tuple[str, ...]:
    """Return what was read of a table, and what was chosen before looking, a line each."""
    low, high = report.settings.scale
    return (
        f"{plural(report.rows, 'rating')}, {report.blank:,} of them without a score; scale {low} "
        f"to {high}.",
        f"Intervals are of 95 %. Seed {report.settings.seed}, "
        f"{plural(report.settings.resamples, 'resample')}; items are planned for a half-width of "
        f"{report.settings.half_width:g}. All of it was chosen before looking.",
        f"Columns that were not read: {listed(report.ignored, most=20)}." if report.ignored else "",
    )
