"""Reports on tidy tables: what applies is there, what does not says why; text, JSON, command."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from analysis.agreement.csv_table import TidyTable, read_tidy
from analysis.agreement.inputs import AgreementSettings
from analysis.agreement.judges_and_people import NO_CATEGORIES, rounded_mean
from analysis.agreement.plain_text import report_text
from analysis.agreement.report import (
    NOBODY,
    ONE_EACH,
    ONE_PERSON,
    TidyReport,
    tidy_report,
)
from analysis.pages.own_table.page import section_page
from analysis.stats.rater_agreement.coefficient_intervals import FISHER
from analysis.stats.results import as_json
from tests.shared_data import shared_data

COLUMNS = ("dataset", "item", "criterion", "rater", "rater_kind", "score")
QUICK = AgreementSettings(resamples=100)


def made_rows(people: int = 3, judges: int = 2, items: int = 40) -> list[tuple[object, ...]]:
    rng = np.random.default_rng(7)
    truth = rng.integers(1, 6, items)
    return [
        ("d", f"i{item}", "safety", f"{kind[0]}{rater}", kind,
         int(np.clip(truth[item] + rng.integers(-1, 2), 1, 5)))
        for kind, count in (("human", people), ("llm", judges))
        for rater in range(count)
        for item in range(items)
    ]  # fmt: skip


def as_csv(rows: list[tuple[object, ...]], *more: str) -> bytes:
    file = io.StringIO()
    csv.writer(file).writerows([(*COLUMNS, *more), *rows])
    return file.getvalue().encode()


def table(rows: list[tuple[object, ...]], *more: str) -> TidyTable:
    return read_tidy(io.BytesIO(as_csv(rows, *more)))


def report(rows: list[tuple[object, ...]], *more: str) -> TidyReport:
    return tidy_report(table(rows, *more), QUICK)


def test_everything_that_applies() -> None:
    found = report(made_rows())
    (section,) = found.sections
    people, judges = section.people, section.judges
    assert not people.warnings
    assert (section.items, section.unit, people.raters) == (40, "item", ("h0", "h1", "h2"))
    assert (people.items, people.ratings, judges.ratings) == (40, 120, 80)
    assert sum(people.counts.values()) == 120 and list(people.counts) == [1, 2, 3, 4, 5]
    for group in (people, judges):
        for family in (group.alphas, group.fleiss, group.gwet, group.icc, group.icc_unbalanced):
            assert all(e.value is not None and e.interval is not None for e in family.values())
        assert len(group.pairs) == len(group.raters) * (len(group.raters) - 1) // 2
    assert [one.judge for one in section.against] == ["l0", "l1", "mean of all 2 judges"]
    panel = section.against[-1]
    assert panel.panel == 2 and panel.answers.n == 120
    assert panel.kappas["none"].undefined == NO_CATEGORIES
    # Three people scored each item: their answers to one item are drawn together.
    assert panel.answers.exact.interval is not None
    assert panel.answers.exact.interval.method == "Wilson by item (CR2)"
    assert panel.correlations.pearson.n == 40
    assert all(test.passed is not None for test in found.family)
    assert {test.tests for test in found.family} == {9}
    assert section.planning.alpha is not None and section.planning.icc is not None
    text = report_text(found)
    for words in ("Krippendorff's alpha, ordinal", "May a judge stand in", "as one family"):
        assert words in text
    json.dumps(as_json(found), allow_nan=False)


def test_intervals_are_by_task_where_tasks_repeat() -> None:
    rows = [(*row, f"t{int(str(row[1])[1:]) // 2}") for row in made_rows()]
    (section,) = report(rows, "task").sections
    assert section.unit == "task"
    for estimate in (
        section.people.alphas["ordinal"], section.people.gwet["none"], section.people.icc["ICC2"],
        section.people.icc_unbalanced["single"],
        section.judges.pairs[0].kappas["linear"], section.against[0].answers.bias,
        section.against[0].limits.upper, section.against[0].alternative.advantage,
    ):  # fmt: skip
        assert estimate.interval is not None
        assert estimate.interval.method in (
            "task bootstrap (percentile)",
            "t by task (CR2)",
            FISHER.format(unit="task"),
        )
        assert estimate.interval.details["clusters"] == 20


def test_what_does_not_apply_says_why() -> None:
    (section,) = report(made_rows(people=1, judges=0)).sections
    assert section.people.undefined == ONE_PERSON and section.judges.undefined == NOBODY
    assert section.warnings == (ONE_EACH,) and section.against == ()
    assert section.people.alphas["ordinal"].value is None
    assert report_text(report(made_rows(people=1, judges=0)))
    (section,) = report(made_rows(people=0, judges=1)).sections
    assert section.people.undefined == NOBODY and section.against == ()
    (section,) = report(made_rows(people=2, judges=1)).sections
    (only,) = section.against
    assert (
        only.alternative.passed is None and "3 are needed" in only.alternative.advantage.undefined
    )


def test_a_rater_who_scores_at_random_is_named() -> None:
    rng = np.random.default_rng(3)
    rows = [
        (*row[:-1], int(rng.integers(1, 6))) if row[3] == "h2" else row
        for row in made_rows(people=4, judges=1)
    ]
    found = report(rows)
    (warning,) = found.sections[0].people.warnings
    assert warning.startswith("scores of h2 hardly go") and "40 items" in warning
    assert "wins against such a person" in warning
    assert warning in report_text(found)
    said = [notice.text for notice in section_page(found, 0, has_tasks=False).notices]
    assert f"S{warning[1:]}." in said
    # Twenty items are too few to say so.
    few = [row for row in rows if int(str(row[1])[1:]) < 20]
    assert not report(few).sections[0].people.warnings


def test_equal_scores_and_blanks_are_no_numbers() -> None:
    rows = [(*row[:-1], 4) for row in made_rows()] + [("d", "i0", "safety", "h9", "human", "")]
    found = report(rows)
    (section,) = found.sections
    assert found.blank == 1
    assert section.people.alphas["ordinal"].undefined and section.people.fleiss["none"].undefined
    assert section.people.pairs[0].correlations.pearson.undefined
    assert report_text(found)
    json.dumps(as_json(found), allow_nan=False)


def test_the_order_of_rows_does_not_matter() -> None:
    rows = made_rows()
    one, other = report(rows).sections[0], report(rows[::-1]).sections[0]
    assert one.people.alphas == other.people.alphas
    assert one.against[0].answers.exact.value == other.against[1].answers.exact.value


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"scale": (5, 1)}, "lower to a higher"),
        ({"resamples": 10}, "100 or more"),
        ({"epsilon": 10}, "from 0 to under 1"),
        ({"half_width": 0}, "between 0 and 1"),
        ({"seed": -1}, "0 or more"),
    ],
)
def test_settings_are_checked(options: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        AgreementSettings(**options)  # type: ignore[arg-type]


def run(*arguments: object) -> str:
    out = io.StringIO()
    call_command("agreement", *map(str, arguments), stdout=out)
    return out.getvalue()


def test_the_command(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_bytes(as_csv(made_rows(items=12)))
    assert "d, safety" in run(path, "--resamples", 100)
    found = json.loads(run(path, "--json", "--seed", 5, "--resamples", 100))
    assert found["settings"]["seed"] == 5 and found["rows"] == 60
    details = found["sections"][0]["people"]["alphas"]["ordinal"]["interval"]["details"]
    # Twelve items: the jackknife, which has no seed; shares are resampled.
    assert details == {"df": 11, "clusters": 12}
    details = found["sections"][0]["people"]["equal"]["interval"]["details"]
    assert details == {"seed": 5, "resamples": 100, "clusters": 12}
    path.write_bytes(as_csv([("d", "i", "c", "r", "llm", 9)]))
    with pytest.raises(CommandError, match="line 2, column score"):
        run(path)
    with pytest.raises(CommandError, match="--scale: from a lower"):
        run(path, "--scale", 5, 1)
    with pytest.raises(CommandError, match="No such file"):
        run(tmp_path / "absent.csv")


def test_restaurant_reviews() -> None:
    with shared_data("agreement", "cebab_stars.csv.gz").open("rb") as file:
        (section,) = tidy_report(read_tidy(file), QUICK).sections
    assert (section.items, len(section.people.raters), len(section.judges.raters)) == (711, 10, 6)
    assert section.people.alphas["ordinal"].value == pytest.approx(0.67883890529)
    rates = {one.judge: one.alternative.winning_rate.value for one in section.against}
    assert rates["gpt-4o"] == 0.9 and rates["mistral-v03"] == 0.5
    # One of the ten people scored at random.
    assert [text[:13] for text in section.people.warnings] == ["scores of h07"]


def test_many_raters_are_not_paired() -> None:
    (section,) = report(made_rows(people=41, judges=0, items=3)).sections
    assert section.people.pairs == () and section.people.alphas["ordinal"].value is not None
    assert any("up to 40 raters" in warning for warning in section.people.warnings)


def test_the_mean_of_a_panel_is_rounded_half_up() -> None:
    # Of three judges 11/3 becomes 4; of two 3.5 becomes 4; a missing score leaves none.
    assert rounded_mean(np.array([[3.0, 4, 4], [1, 1, 2]])).tolist() == [4, 1]
    half, missing = rounded_mean(np.array([[3.0, 4], [3, np.nan]]))
    assert half == 4 and np.isnan(missing)


def test_a_judge_that_always_says_the_same_is_shown_worse(tmp_path: Path) -> None:
    # Three people give 4 on most items and stray by one on different ones: always 4 ties with them
    # nearly everywhere and passes the test. A judge with the mark of the first person is no
    # constant.
    rows: list[tuple[object, ...]] = []
    for n in range(120):
        score = 3 + (n % 12 == 0) * 2 + (n % 12 not in (0, 1))
        marks = [
            score + (1 if (n + 3 * person) % 10 == 0 and score < 5 else 0) for person in range(3)
        ]
        rows += [("d", n, "relevance", f"h{p}", "human", mark) for p, mark in enumerate(marks)]
        rows += [
            ("d", n, "relevance", "same", "llm", 4),
            ("d", n, "relevance", "own", "llm", score),
        ]
    path = tmp_path / "ratings.csv"
    path.write_bytes(as_csv(rows))
    found = json.loads(run(path, "--json", "--resamples", 100, "--epsilon", 0.2))
    verdicts = {one["judge"]: one["verdict"] for one in found["sections"][0]["against"]}
    same = verdicts["same"]
    assert (same["answer"], same["alternative"]) == ("worse", "passes")
    assert same["agreement"]["constant"] == 4 and same["agreement"]["margin"] == 0.15
    own = verdicts["own"]
    assert (own["answer"], own["alternative"]) == ("passes", "passes")
    # The mean of both judges is rounded for the test, and is called so.
    assert [one["judge"] for one in found["family"]][-1] == "mean of all 2 judges, rounded"
    # The verdicts of the list and of the family are the same; the test alone lets both pass.
    assert [one["verdict"] for one in found["family"]] == [
        one["verdict"] for one in found["sections"][0]["against"]
    ]
    words = run(path, "--resamples", 100, "--epsilon", 0.2)
    lines = [line.split() for line in words.splitlines()]
    assert [line[1:3] for line in lines if line[:1] == ["same"] and len(line) > 5][0] == [
        "shown", "worse",
    ]  # fmt: skip
    assert "same: Shown worse than a person: it always answers 4;" in words
    strict = json.loads(run(path, "--json", "--resamples", 100, "--margin", 0.01))
    assert strict["sections"][0]["against"][1]["verdict"]["agreement"]["margin"] == 0.01
    two = tmp_path / "two.csv"
    two.write_bytes(as_csv([row for row in rows if row[3] != "h2"]))
    few = json.loads(run(two, "--json", "--resamples", 100))["sections"][0]["against"][0]["verdict"]
    assert (few["answer"], few["agreement"]) == ("not_available", None)


def test_judges_are_corrected_by_people_where_items_were_drawn(tmp_path: Path) -> None:
    """Judges of 200 items are a point too kind; people rated each with probability 0.3."""
    rng = np.random.default_rng(11)
    worth = rng.integers(1, 5, 200)
    rows: list[tuple[object, ...]] = []
    for item, score in enumerate(worth.tolist()):
        rows.append(("d", f"i{item}", "safety", "J", "llm", score + 1, 0.3))
        if rng.random() < 0.3:
            rows.append(("d", f"i{item}", "safety", "Ann", "human", score, 0.3))
    made = report(rows, "probability")
    mean = made.sections[0].corrected["J"]
    assert mean.judges == pytest.approx(worth.mean() + 1)
    assert mean.estimate.value == pytest.approx(worth.mean(), abs=1e-9)
    assert "Means of judges, corrected by people" in report_text(made)
    path = tmp_path / "ratings.csv"
    path.write_bytes(as_csv(rows, "probability"))
    found = json.loads(run(path, "--json", "--resamples", 100))
    assert found["sections"][0]["corrected"]["J"]["rated"] == mean.rated
    # Nobody rated, or no probability is known: undefined, with the reason.
    alone = [row for row in rows if row[4] == "llm"]
    one = ("d", "i0", "safety", "Ann", "human", 3, "")
    unknown = report([*(row for row in alone if row[1] != "i0"), one], "probability")
    assert unknown.sections[0].corrected["J"].estimate.undefined
    assert report(alone, "probability").sections[0].corrected == {}
    assert report([row[:-1] for row in rows]).sections[0].corrected == {}
