"""The layout of a tidy table of ratings, and a small example. Needs no numpy."""

import csv
import io

COLUMNS = ("dataset", "item", "criterion", "rater", "rater_kind", "score")
TASK = "task"
KINDS = ("human", "llm")
GZIP = b"\x1f\x8b"
# Pairs of raters are listed for up to so many.
MOST_RATERS = 40

# The example: made-up scores of three people and two judges.
RATERS = (
    ("Anna", "human"), ("Ben", "human"), ("Chris", "human"), ("judge A", "llm"), ("judge B", "llm"),
)  # fmt: skip
# A line is an item: its task, then a score of each rater; a dot where somebody gave none.
ITEMS = (
    ("boil an egg", "44455"), ("boil an egg", "33.34"), ("pack a bag", "55545"),
    ("pack a bag", "12122"), ("plan a walk", "44344"), ("plan a walk", "2.223"),
    ("wash a cup", "55555"), ("wash a cup", "33424"), ("feed the cat", "11112"),
    ("feed the cat", "4545."),
)  # fmt: skip
CRITERION = "helpfulness"


def example_csv() -> str:
    """Return the example as CSV, a row for each rating."""
    file = io.StringIO()
    lines = csv.writer(file, lineterminator="\n")
    lines.writerow([*COLUMNS, TASK])
    for number, (task, scores) in enumerate(ITEMS, 1):
        for (rater, kind), score in zip(RATERS, scores, strict=True):
            given = "" if score == "." else score
            lines.writerow(["example", f"answer {number}", CRITERION, rater, kind, given, task])
    return file.getvalue()
