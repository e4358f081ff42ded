"""Tables of ratings: what is read from them, and how faults are named."""

import gzip
import io

import numpy as np
import pytest

from analysis.agreement.csv_table import TidyTable, read_tidy
from benchmarks.core.problems import FileRefused

HEAD = "dataset,item,criterion,rater,rater_kind,score\n"


def read(text: str | bytes, **options: object) -> TidyTable:
    data = text.encode() if isinstance(text, str) else text
    return read_tidy(io.BytesIO(data), **options)  # type: ignore[arg-type]


def refusal(text: str | bytes, **options: object) -> str:
    with pytest.raises(FileRefused) as caught:
        read(text, **options)
    return str(caught.value)


def test_sections_items_and_raters() -> None:
    table = read(
        HEAD
        + "d,i1,safety,ann,human,4\nd,i1,safety,gpt,llm,5\nd,i2,safety,ann,human,\n"
        + 'd,"i, 1",autonomy,ann,human,3.0\ne,i1,safety,ann,human,2\n'
    )
    assert (table.rows, table.blank, table.ignored) == (5, 1, ())
    assert [(s.dataset, s.criterion) for s in table.sections] == [
        ("d", "safety"), ("d", "autonomy"), ("e", "safety"),
    ]  # fmt: skip
    first = table.sections[0]
    assert (first.items, first.raters, first.kinds) == (
        ("i1", "i2"), ("ann", "gpt"), ("human", "llm"),
    )  # fmt: skip
    assert np.array_equal(first.scores, [[4, 5], [np.nan, np.nan]], equal_nan=True)
    assert first.of_kind("llm")[0] == ("gpt",) and first.tasks is None
    assert table.sections[1].items == ("i, 1",)


def test_columns_in_any_order_tasks_and_other_columns() -> None:
    text = "Task,SCORE,rater_kind,rater,note,criterion,item,dataset\r\nt,3,llm,r,!,c,i,d\r\n\r\n"
    table = read(b"\xef\xbb\xbf" + text.encode())
    assert table.ignored == ("note",) and table.sections[0].tasks == ("t",)


def test_gzip_is_known_by_its_content() -> None:
    assert read(gzip.compress((HEAD + "d,i,c,r,llm,3\n").encode())).rows == 1


def test_another_scale() -> None:
    assert read(HEAD + "d,i,c,r,llm,0\nd,j,c,r,llm,-3\n", scale=(-5, 0)).rows == 2


def test_faults_are_named_by_line_and_column() -> None:
    told = refusal(
        HEAD
        + "d,i,c,a,human,6\nd,i,c,b,robot,3\nd,i,c,,human,x\nd,i,c\nd,j,c,ok,llm,1.5\n"
        + "d,k,c,nan,llm,nan\n"
    ).splitlines()
    starts = [
        "line 2, column score: expected nothing, or a whole number from 1 to 5",
        "line 3, column rater_kind: expected human or llm, found the text 'robot'",
        "line 4, column rater: expected a name",
        "line 4, column score:",
        "line 5: expected 6 fields, found 3 fields",
        "line 6, column score:",
        "line 7, column score:",
    ]
    assert len(told) == len(starts)
    assert all(line.startswith(start) for line, start in zip(told, starts, strict=True))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "line 1: expected a line of column names"),
        (HEAD, "line 2: expected a row for each rating, found none"),
        ("dataset;item\nd;i\n", "no column dataset, item, criterion"),
        (HEAD.replace("item", "item,item") + "d,i,i,c,r,llm,3\n", "column item: expected one such"),
        (HEAD.encode() + b"d,i,c,\xff,llm,3\n", "line 2: expected text in UTF-8"),
        (HEAD + 'd,i,"c,r,llm,3\n', "line 2: expected a line of a CSV file"),
        # No time stamp: the bytes are the test's name, the same in every process that runs it.
        (
            gzip.compress((HEAD + "d,i,c,r,llm,3\n").encode(), mtime=0)[:-4],
            "expected a whole gzip file",
        ),
        (b"\x1f\x8bnot gzip", "expected a whole gzip file"),
        (
            HEAD + "d,i,c,r,llm,3\nd,j,c,r,llm,3\nd,i,c,r,llm,4\n",
            "line 4: expected one row for each dataset, item, criterion and rater, found 'r' on "
            "'i' again, as in line 2",
        ),
        (
            HEAD + "d,i,c,r,llm,3\nd,j,c,r,human,3\n",
            "line 3, column rater_kind: expected llm, as in this rater's first row",
        ),
        (
            HEAD.replace("\n", ",task\n") + "d,i,c,r,llm,3,t\nd,i,c,s,llm,3,u\n",
            "line 3, column task: expected 't', as in this item's first row, found the text 'u'",
        ),
    ],
)
def test_what_is_refused(text: str | bytes, words: str) -> None:
    assert words in refusal(text)


def test_many_faults_are_counted() -> None:
    told = refusal(HEAD + "d,i,c,r,llm,9\n" * 50).splitlines()
    assert len(told) == 21 and told[-1] == "… and 30 more"


def test_probabilities_belong_to_items_and_may_be_missing() -> None:
    head = "dataset,item,criterion,rater,rater_kind,score,probability\n"
    rows = "d,1,c,A,human,3,0.5\nd,1,c,J,llm,4,0.5\nd,2,c,J,llm,2,\n"
    (section,) = read_tidy(io.BytesIO((head + rows).encode())).sections
    assert section.probabilities is not None
    assert section.probabilities[0] == 0.5 and section.probabilities[1] != section.probabilities[1]
    for wrong in ("0", "-0.1", "1.2", "nan", "inf", "often"):
        with pytest.raises(FileRefused, match="line 2, column probability"):
            read_tidy(io.BytesIO(f"{head}d,1,c,A,human,3,{wrong}\n".encode()))
    with pytest.raises(FileRefused, match="the same as in this item's first row"):
        read_tidy(io.BytesIO((head + rows + "d,1,c,K,llm,4,0.6\n").encode()))
