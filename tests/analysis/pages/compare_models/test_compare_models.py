"""Agents two by two: differences, tests, family, ranks, on runs that are counted by hand."""

import json

import pytest

from analysis.filters import Filters
from analysis.pages.catalogue import PAGES, select
from analysis.reports.content import Report, Table
from benchmarks.models import Dataset, Run
from tests.analysis.page_reports import report_of
from tests.analysis.rows import make_dataset, make_imported, make_person, make_run, make_trajectory

pytestmark = pytest.mark.django_db


def report(**words: str) -> Report:
    reader = make_person(f"reader-{'-'.join(words)}", superuser=True)
    chosen = select(PAGES["compare-models"], Filters(**words), reader)  # type: ignore[arg-type]
    return report_of("compare-models", chosen)


def lines(table: Table | None) -> list[dict[str, object]]:
    assert table is not None
    return [dict(zip(table.header, record, strict=True)) for record in table.records()]


def make_agent(dataset: Dataset, name: str, outcomes: str, **metrics: float) -> Run:
    """A run whose n-th task succeeded (1), failed (0), lacks a score (x) or is not there (-)."""
    run = make_run(dataset, name)
    for task, one in enumerate(outcomes, 1):
        if one == "x":
            make_trajectory(run, task, undefined={"accurate": "not every judge scored: safety"})
        elif one != "-":
            make_trajectory(run, task, accurate=float(one), **metrics)
    return run


@pytest.fixture
def three(db: None) -> Dataset:
    """Ada solves 9 of 10 tasks, Bob and Cy the same 1; Cy lacks a score on the tenth."""
    dataset = make_dataset(tasks=10)
    make_agent(dataset, "ada", "1111111110")
    make_agent(dataset, "bob", "1000000000")
    make_agent(dataset, "cy", "100000000x")
    return dataset


def test_nothing_yet_and_one_agent_alone() -> None:
    made = report()
    assert made.empty is not None and made.empty.title == "No runs yet"
    make_agent(make_dataset(), "ada", "10")
    alone = report(measure="valid")
    assert alone.sentence == "Ada is the only agent here, so there is none to compare it with."
    assert alone.table("pairs") is None and not alone.figures
    assert [row["value"] for row in lines(alone.table("values"))] == [1]


def test_all_pairs_by_hand(three: Dataset) -> None:
    made = report()
    ada_cy, ada_bob, bob_cy = lines(made.table("pairs"))
    # Eight wins to none: z = 8/√8, p = 0.004678; with Cy on nine tasks the same eight. Three pairs:
    # 3 · 0.004678; Bob and Cy never differ.
    assert (ada_bob["first"], ada_bob["second"]) == ("Ada", "Bob")
    assert (ada_bob["first value"], ada_bob["second value"]) == (0.9, 0.1)
    assert ada_bob["difference"] == pytest.approx(0.8) and ada_bob["difference n"] == 10
    assert [ada_bob[name] for name in ("wins", "losses", "both pass", "both fail")] == [8, 0, 1, 1]
    assert ada_bob["p alone"] == pytest.approx(0.004678, abs=1e-6)
    assert ada_bob["p adjusted"] == pytest.approx(0.014033, abs=1e-6) and ada_bob["clear"] == "yes"
    assert (ada_cy["difference n"], ada_cy["left out"]) == (9, 2)  # a value, and its task
    assert ada_cy["p adjusted"] == ada_bob["p adjusted"]
    assert (bob_cy["difference"], bob_cy["p adjusted"], bob_cy["clear"]) == (0, 1, "no")
    # Of nine scored tasks Cy has 1/9 right, Bob 1/10: Cy is second.
    assert "Ada beats Cy by 88.9 points (95 % simultaneous interval " in made.sentence
    assert (
        made.sentence.startswith(
            "2 of 3 pairs of agents differ clearly. Ada beats Cy by 88.9 points ("
        )
        and "n = 9 tasks; p = 0.014, Bonferroni over 3 pairs)." in made.sentence
    )
    assert any(
        "all 3 pairs of 3 models on Acc, whichever are shown; Bonferroni" in line
        for line in made.how
    )
    assert any("Left out: 1 (not every judge scored safety)" in line for line in made.how)


def test_against_one_the_family_stays(three: Dataset) -> None:
    made = report(against="bob")
    cy, ada = sorted(lines(made.table("pairs")), key=lambda row: str(row["first"]), reverse=True)
    assert (ada["first"], ada["second"], cy["first"]) == ("Ada", "Bob", "Cy")
    assert ada["p adjusted"] == pytest.approx(0.014033, abs=1e-6) and cy["p adjusted"] == 1
    assert made.sentence.startswith(
        "Of 2 other agents, 1 is clearly better than Bob and 0 clearly worse. Ada beats Bob by "
        "80.0 points (95 % simultaneous interval "
    )
    assert made.sentence.endswith(", n = 10 tasks; p = 0.014, Bonferroni over 3 pairs).")
    assert [figure.name for figure in made.figures] == ["differences", "wins"]


def test_leaving_out_an_agent_changes_no_verdict(three: Dataset) -> None:
    every = {(row["first"], row["second"]): row for row in lines(report().table("pairs"))}
    reader = make_person("reader-of-two", superuser=True)
    chosen = select(PAGES["compare-models"], Filters(agents=("ada", "bob")), reader)
    (row,) = lines(report_of("compare-models", chosen).table("pairs"))
    assert row == every["Ada", "Bob"]


def test_what_is_not_clear_is_said_to_be_so() -> None:
    dataset = make_dataset()
    make_agent(dataset, "ada", "1110")
    make_agent(dataset, "bob", "0110")
    said = report().sentence
    # One win to none: z = 1, p = 0.317.
    assert said.startswith(
        "Ada and Bob do not differ clearly: Ada is 25.0 points higher (95 % interval "
    )
    assert said.endswith("n = 4 tasks; p = 0.317).")


def test_the_same_everywhere_and_no_common_task() -> None:
    dataset = make_dataset()
    make_agent(dataset, "ada", "10--")
    make_agent(dataset, "bob", "10--")
    assert report().sentence.startswith(
        "Ada and Bob have the same Acc, 0 points apart (95 % interval −"
    )
    other = make_dataset("Other")
    make_agent(other, "cy", "10--")
    make_agent(other, "dan", "--10")
    apart = report(dataset=str(other.pk))
    assert apart.sentence == (
        "No two of these agents have a task in common that was scored for both."
    )
    (row,) = lines(apart.table("pairs"))
    assert (row["difference"], row["p adjusted"], row["wins"]) == (None, None, None)
    assert any("Not tested: 1" in line for line in apart.how)


def test_means_have_ties_and_the_robust_test() -> None:
    dataset = make_dataset()
    for name, turns in (("ada", (2, 3, 4, 5)), ("bob", (1, 1, 4, 5))):
        run = make_run(dataset, name)
        for task, value in enumerate(turns, 1):
            make_trajectory(run, task, turns=value)
    made = report(measure="turns")
    (row,) = lines(made.table("pairs"))
    # Differences 1, 2, 0, 0: mean 0.75, z = 3/√5 = 1.342, p = 0.1797.
    assert (row["difference"], row["wins"], row["ties"], row["losses"]) == (0.75, 2, 2, 0)
    assert row["p alone"] == row["p adjusted"] == pytest.approx(0.179712, abs=1e-6)
    assert "Ada and Bob do not differ clearly on Turns: Ada is 0.75 higher" in made.sentence
    ada, bob = lines(made.table("values"))
    assert (ada["agent"], ada["value"], bob["value"]) == ("Ada", 3.5, 2.75)
    assert "wald low" not in ada and made.table("published") is None


def test_several_attempts_are_averaged_and_have_no_wald_interval() -> None:
    make_imported(("one", "two"), rewards={1: (1.0, 0.0), 2: (1.0, 1.0), 3: (0.0, 0.0)})
    made = report(measure="full_reward")
    (row,) = lines(made.table("pairs"))
    assert (row["ties"], row["p adjusted"]) == (3, 1)
    (one, _) = lines(made.table("values"))
    assert (one["value"], one["value n"], one["wald low"]) == (0.5, 6, None)


def test_ranks_shares_and_published_intervals(three: Dataset) -> None:
    made = report(published="show")
    ada, cy, bob = lines(made.table("ranks"))
    assert (ada["agent"], ada["rank"], ada["rank low"], ada["rank high"]) == ("Ada", 1, 1, 1)
    assert (cy["rank"], cy["rank low"], cy["rank high"], bob["rank"]) == (2, 2, 3, 3)
    (value, *_) = lines(made.table("values"))
    # Wald: 0.9 ± 1.959964 · sqrt(0.9 · 0.1 / 10) = 0.9 ± 0.185939, cut off at 1.
    assert value["wald low"] == pytest.approx(0.714061, abs=1e-6) and value["wald high"] == 1
    gpt = next(row for row in lines(made.table("published")) if row["model"] == "GPT-5")
    # Table 9: ± 5.23; 1.959964 · sqrt(0.6775 · 0.3225 / 307) = 0.052288.
    assert gpt["half width printed"] == 0.0523
    assert gpt["half width"] == pytest.approx(0.052288, abs=1e-6)
    assert report().table("published") is None  # the data are not the paper's


def test_figures_hold_every_pair(three: Dataset) -> None:
    made = report()
    drawn = {figure.name: json.loads(figure.json) for figure in made.figures}
    assert list(drawn) == ["differences", "matrix", "wins"]
    (matrix,) = drawn["matrix"]["data"]
    assert matrix["y"] == ["Ada", "Cy", "Bob"]
    assert matrix["text"][0][2] == "+80.0 *" and matrix["text"][2][0] == "−80.0 *"
    assert matrix["z"][0][0] is None and matrix["text"][1][2] == "0.0"
    (wins,) = drawn["wins"]["data"]
    counts = dict(zip(wins["x"], wins["text"][1], strict=True))
    assert (counts["first alone"], counts["neither"]) == ("8", "1")


def test_unlike_runs_are_told_of(three: Dataset) -> None:
    Run.objects.filter(agent__name="cy").update(settings={"tau": 4.5})
    made = report(measure="beauty", against="nobody")
    said = " ".join(notice.text for notice in made.notices)
    assert "Made or judged otherwise than most runs here" in said and "Cy" in said


def test_names_reach_figures_escaped_and_apart() -> None:
    dataset = make_dataset()
    long = "a-very-long-name-of-a-model-that-does-not-end-"
    for number, title in enumerate(("<b>x</b>", f"{long}1", f"{long}2")):
        make_trajectory(make_run(dataset, f"m{number}", title=title), 1, accurate=number % 2)
    figure = report().figure("differences")
    assert figure is not None and "<b>x" not in figure.json
    rows = json.loads(figure.json)["layout"]["yaxis"]["categoryarray"]
    assert len(set(rows)) == 3
