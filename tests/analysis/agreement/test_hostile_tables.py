"""Tables of valid form that are made to hurt: each is refused in words, or read."""

import gzip
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.agreement import csv_table as reading
from analysis.agreement.csv_table import TooWide, read_tidy
from benchmarks.core.problems import FileRefused

HEAD = "dataset,item,criterion,rater,rater_kind,score\n"


def read(text: str, **more: int) -> object:
    return read_tidy(io.BytesIO(text.encode("utf-8", "surrogatepass")), **more)  # type: ignore[arg-type]


def diagonal(sections: int, size: int) -> str:
    """Each row has an item and a rater of its own, so that tables are all gaps."""
    rows = (f"d,i{n},c{section},r{n},human,1\n" for section in range(sections) for n in range(size))
    return HEAD + "".join(rows)


def test_cells_are_bounded_over_all_sections_before_any_table_is_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reading.np, "full", None)
    with pytest.raises(TooWide, match="those of the sections before included"):
        read(diagonal(3, 100), most_cells=20_000)


def test_more_sections_than_can_be_gone_through_are_refused() -> None:
    with pytest.raises(FileRefused, match="at most 1,000 pairs of a dataset and a criterion"):
        read(diagonal(1_001, 1))


VALUES = st.sampled_from(
    ["", " ", "a", "1", "-1", "1.5", "1e0", "1e400", "nan", "inf", "-0", "1_0", "٣", "9" * 5000,
     "human", "llm", "\x00", "\ud800", "\ufeff", "=1", '"', "x" * 400, "'", "\r", "0x1", "True"]
)  # fmt: skip


@given(st.lists(st.tuples(*[VALUES] * 6), max_size=4), st.sampled_from(["\n", "\r\n", "\r"]))
def test_rows_of_odd_values_are_read_or_refused(rows: list[tuple[str, ...]], end: str) -> None:
    text = end.join([HEAD.strip(), *(",".join(row) for row in rows)])
    for packed in (False, True):
        content = text.encode("utf-8", "surrogatepass")
        try:
            read_tidy(io.BytesIO(gzip.compress(content) if packed else content))
        except FileRefused as refused:
            assert refused.problems
