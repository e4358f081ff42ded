"""The figures of the paper: complete, and consistent with each other."""

from collections import Counter
from math import sqrt

import pytest

from benchmarks.systems.adaplanbench import published
from benchmarks.systems.adaplanbench.published import MODELS, PUBLISHED, TABLE_3, TABLE_9
from tests.shared_data import shared_data


def rows(source):
    return [row for row in PUBLISHED if row.source == source]


def test_every_cell_of_every_table_is_there():
    """Ten models; Table 5 has three models, three temperatures and two metrics; Table 8 their
    average too.
    """
    assert Counter(row.source for row in PUBLISHED) == {
        "Table 3": 10 * 7,
        "Table 5": 3 * 3 * 2,
        "Table 8": 11 * 8,
        "Table 9": 10,
        "Table 10": 10 * 7,
    }


def test_every_cell_has_the_digits_of_the_paper():
    """Against the text of the paper: rows of tables, cell by cell, as they are printed."""
    text = shared_data("..", "papers", "adaplanbench.txt").read_text(encoding="utf-8")
    lines = {line.strip() for line in text.splitlines()}

    def printed(model, chosen):
        return f"| {model} | {' | '.join(row.printed for row in chosen)} |"

    checked = 0
    for source in ("Table 3", "Table 8", "Table 10"):
        for model in (*MODELS, "Average"):
            chosen = [row for row in rows(source) if row.model == model]
            if chosen:
                assert printed(model, chosen) in lines
                checked += len(chosen)
    for row in rows("Table 9"):
        accuracy = next(
            r for r in rows("Table 3") if (r.model, r.metric) == (row.model, "accurate")
        )
        assert f"| {row.model} | {accuracy.printed} {row.printed} |" in lines
        checked += 1
    for metric in ("accurate", "valid"):
        for model in dict.fromkeys(row.model for row in rows("Table 5")):
            chosen = [
                row for row in rows("Table 5")
                if row.model == model and row.metric.startswith(metric)
            ]  # fmt: skip
            start = printed(model, chosen)
            assert any(line.startswith(start[:-1]) for line in lines), start
            checked += len(chosen)
    assert checked == len(PUBLISHED)


def test_the_average_row_is_the_mean_of_the_models():
    """Within the rounding of the printed digits."""
    for average in (row for row in rows("Table 8") if row.model == "Average"):
        of = [r.value for r in rows("Table 8") if r.metric == average.metric and r is not average]
        assert len(of) == 10
        assert sum(of) / 10 == pytest.approx(average.value, abs=0.0011)


def test_half_widths_of_table_9_follow_from_table_3_and_n():
    """Wald: 1.96 sqrt(p (1 - p) / n). This also shows that the inferred n are right."""
    found = {row.model: row for row in rows("Table 9")}
    for model, (accuracy, *_) in zip(MODELS, TABLE_3, strict=True):
        p, n = accuracy / 100, found[model].n
        assert 100 * 1.96 * sqrt(p * (1 - p) / n) == pytest.approx(found[model].value, abs=0.01)


def test_percentages_with_a_stated_n_are_whole_counts_of_it():
    """The mean of three runs (GPT-5) could miss this, yet all printed values are whole counts."""
    for row in PUBLISHED:
        if row.metric.startswith(("accurate", "valid")) and row.source != "Table 9" and row.n:
            count = round(row.value * row.n / 100)
            assert f"{100 * count / row.n:.2f}" == f"{row.value:.2f}", row


def test_sizes():
    assert {(r.model, r.n) for r in rows("Table 3") if r.n != 307} == {
        ("Qwen3-8B", 306),
        ("DeepSeek-v4-Flash", 304),
    }
    assert {(r.model, r.metric, r.n) for r in rows("Table 10") if r.n != 307} == {
        ("Qwen3-8B", f"accurate@tau={tau}", 306) for tau in published.TAUS
    } | {("DeepSeek-v4-Flash", "accurate@tau=3.5", 304)}


def pearson(x, y):
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    dx, dy = [a - mean_x for a in x], [b - mean_y for b in y]
    covariance = sum(a * b for a, b in zip(dx, dy, strict=True))
    return covariance / sqrt(sum(a * a for a in dx) * sum(b * b for b in dy))


@pytest.mark.parametrize(
    ("metric", "column", "paper"), [("world_triggered", 5, 0.898), ("user_triggered", 6, 0.919)]
)
def test_accuracy_goes_with_what_a_model_triggers(metric, column, paper):
    """Section 3.2; the table is rounded, so 0.8975 and 0.9188 come out."""
    r = pearson([row[0] for row in TABLE_3], [row[column] for row in TABLE_3])

    assert published.CORRELATIONS[metric] == paper
    assert r == pytest.approx(paper, abs=published.CORRELATION_TOLERANCE)


def test_the_threshold_of_the_main_table_is_three_and_a_half():
    place = published.TAUS.index(3.5)

    assert [row[place] for row in published.TABLE_10] == [row[0] for row in TABLE_3]


def test_accuracy_falls_as_the_threshold_rises():
    for row in published.TABLE_10:
        assert list(row) == sorted(row, reverse=True)


def test_temperature_zero_repeats_the_main_table():
    for place, metric in enumerate(("accurate", "valid")):
        for model, values in published.TABLE_5[metric].items():
            assert values[0] == TABLE_3[MODELS.index(model)][place]


def test_the_share_that_is_not_valid_at_the_end():
    """Section 3.2 calls 17.91 % early stops; it is 100 minus the mean valid plan rate."""
    assert 100 - sum(row[1] for row in TABLE_3) / len(TABLE_3) == pytest.approx(17.91, abs=0.005)


@pytest.mark.parametrize(
    ("column", "average"),
    list(enumerate((4.691, 4.080, 4.753, 3.715, 4.771, 4.564, 3.882, 4.983))),
)
def test_rubric_columns_have_the_printed_averages(column, average):
    """The last row of Table 8, recomputed from rounded cells."""
    values = [row[column] for row in published.TABLE_8]

    assert sum(values) / len(values) == pytest.approx(average, abs=0.001)


def test_every_row_says_what_is_not_stated():
    assert all("level not stated" in row.note for row in PUBLISHED)
    assert len(TABLE_9) == len(MODELS)
