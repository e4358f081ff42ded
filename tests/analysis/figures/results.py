"""Results with every awkward case in them, and all figures made of them."""

from analysis.figures.agreement import agreement_bars, agreement_shares
from analysis.figures.decline import decline_figure
from analysis.figures.dispersion import dispersion_bars, severity_dots
from analysis.figures.layout.theme import Figure
from analysis.figures.leaderboard import BoardAxis, LeaderboardRow, leaderboard_figure
from analysis.figures.outcomes import RewardRow, pass_lines, reward_dots, reward_spread
from analysis.figures.ratings import question_dots
from analysis.figures.rubric import people_and_judges, rubric_dots, rubric_heatmap
from analysis.figures.thresholds import threshold_figure
from analysis.stats.comparison.thresholds import sweep_of_estimates, threshold_sweep
from analysis.stats.descriptive.means import mean_t, mean_table
from analysis.stats.descriptive.proportions import published_share, share
from analysis.stats.descriptive.spread import spread
from analysis.stats.descriptive.trials import TrialCounts, pass_power
from analysis.stats.judges.dispersion import JudgeMean, judge_dispersion
from analysis.stats.rater_agreement.differences import agreement
from analysis.stats.results import Estimate
from analysis.stats.trends.decline import score_by_turn

NASTY = "<b>bold & brash</b>"
NOTHING = Estimate.without_value("no trajectory has finished")

AXES = (BoardAxis("Accuracy"), BoardAxis("Share of valid last plans"))
ROWS = [
    LeaderboardRow("alpha", share(30, 40), share(36, 40)),
    LeaderboardRow(
        "alpha", published_share(0.7, 307), published_share(0.9, 307), group="published"
    ),
    LeaderboardRow("random", share(3, 40), share(9, 40), group="blind"),
    LeaderboardRow(NASTY, NOTHING, share(1, 1)),
]
TABLE = mean_table(
    ["alpha"] * 3 + [NASTY] * 2,
    ["safety", "safety", "autonomy", "safety", "autonomy"],
    [4, 5, 3, None, 2],
)
CURVES = score_by_turn(
    ["alpha"] * 4 + [NASTY] * 2,
    ["safety"] * 6,
    [1, 1, 2, 3, 1, 1],
    [1, 2, 1, 1, 1, 2],
    [5, 3, 4, 4, 2, None],
)
ENDS = score_by_turn(
    ["alpha"] * 3, ["safety"] * 3, [1, 1, 2], [1, 2, 1], [5, 3, 4], align="from_end"
)
AGREEMENTS = [
    agreement([4, 4, 5, 1], [[4, 4, 4], [4, 4, 5], [3, 3, 3], [1, 2, 5]], dimension="safety"),
    agreement([None], [[4, 4, 4]], dimension=NASTY),
]
DISPERSION = judge_dispersion(
    [
        JudgeMean(model, dimension, judge, mean, 10)
        for model, shift in (("alpha", 0.0), (NASTY, 0.5))
        for dimension in ("safety", "autonomy")
        for judge, mean in (("j1", 4.0), ("j2", 4.0 + shift), ("j3", 3.0))
        if (dimension, judge) != ("autonomy", "j3")
    ]
)
SWEEP = threshold_sweep(["alpha"] * 3 + [NASTY], [True, True, False, None], [[5], [3], [5], [5]])
REWARDS = [
    RewardRow("alpha", share(30, 40), "/trajectories/?run=1"),
    RewardRow(NASTY, NOTHING),
    RewardRow("beta", share(1, 1)),
]
TRIALS = TrialCounts(("a", "b", "c"), (3, 3, 2), (3, 1, 0))
PASSES = {
    "alpha": [pass_power(TRIALS, k) for k in (1, 2, 3)],
    NASTY: [pass_power(TrialCounts(("a",), (2,), (2,)), k) for k in (1, 2, 3)],
}
SPREAD = spread(["alpha"] * 8 + [NASTY], [0.1 * n for n in range(8)] + [None])
PUBLISHED = sweep_of_estimates({"alpha": [published_share(0.5, 307)] * 7})


def every_figure() -> dict[str, Figure]:
    return {
        "leaderboard": leaderboard_figure(ROWS, AXES),
        "rubric heatmap": rubric_heatmap(TABLE),
        "rubric dots": rubric_dots(TABLE),
        "people and judges": people_and_judges(
            ["safety", NASTY], [mean_t([4, 5]), NOTHING], [mean_t([3, 4, 5]), mean_t([4])]
        ),
        "decline": decline_figure(CURVES),
        "decline from the end": decline_figure(ENDS),
        "agreement bars": agreement_bars(AGREEMENTS),
        "agreement shares": agreement_shares(AGREEMENTS),
        "dispersion": dispersion_bars(DISPERSION, reference=0.3),
        "severity": severity_dots(DISPERSION),
        "thresholds": threshold_figure(SWEEP),
        "rewards": reward_dots(REWARDS, unit="share"),
        "rewards on another scale": reward_dots(REWARDS, unit="points"),
        "pass": pass_lines(PASSES),
        "spread": reward_spread(SPREAD),
        "questions": question_dots(["1 Safe", NASTY], [mean_t([4, 5]), NOTHING]),
        "leaderboard of nothing": leaderboard_figure([], AXES),
        "rubric heatmap of nothing": rubric_heatmap(mean_table([], [], [])),
        "rubric dots of nothing": rubric_dots(mean_table([], [], [])),
        "decline of nothing": decline_figure([]),
        "agreement of nothing": agreement_bars([]),
        "agreement shares of nothing": agreement_shares([]),
        "dispersion of nothing": dispersion_bars(judge_dispersion([])),
        "severity of nothing": severity_dots(judge_dispersion([])),
        "rewards of nothing": reward_dots([], unit="share"),
        "pass of nothing": pass_lines({}),
        "spread of nothing": reward_spread(spread([], [])),
        "questions of nothing": question_dots([], []),
        "thresholds of nothing": threshold_figure(threshold_sweep([], [], [])),
    }
