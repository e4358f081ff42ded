"""Tables as LaTeX: whatever text says is set as that text, and the rows are those of the page."""

import re

import pytest
from django.conf import settings
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from analysis.exports.latex import TableSource, latex_label, latex_table
from analysis.exports.latex_layout import SMALLEST, WIDTH, CellLine, Heading, lay_out, width_of
from analysis.exports.latex_text import KNOWN, latex_comment, latex_text
from analysis.exports.notes import TableNotes, counts_note
from analysis.reports.content import (
    Badge,
    Banner,
    Cell,
    Report,
    Table,
    estimate_cell,
    estimate_column,
    number_column,
    text_cell,
    text_column,
    words_column,
)
from analysis.reports.methods import methods_sentence
from analysis.stats.descriptive.means import mean_t
from analysis.stats.descriptive.proportions import share

SOURCE = TableSource("leaderboard", "Household & co", ("Made by test.",))
# Commands that text may become: those of LaTeX itself and of booktabs, no package besides.
ALLOWED = {
    command for piece in KNOWN.values() for command in re.findall(r"\\([A-Za-z]+|.)", piece)
} | set("`'^~\"=.uvHrcdbij,{}$&#_%\\")
TOKENS = re.compile(r"\\(?:[A-Za-z]+|[^A-Za-z])|[^\\]")


def strict(text: str) -> None:
    """Refuse what LaTeX would read as anything but text: a small reader of its syntax."""
    assert text.isascii()
    depth, maths = 0, False
    for token in TOKENS.findall(text):
        if token.startswith("\\"):
            assert token[1:] in ALLOWED, token
        elif token == "{":
            depth += 1
        elif token == "}":
            depth -= 1
            assert depth >= 0
        elif token == "$":
            maths = not maths
        else:
            # "~" is a space that does not break; the others would be commands.
            assert token not in '#%&^_<>|"\n', token
    assert depth == 0 and not maths


@given(st.text(alphabet=st.characters(exclude_categories=("Cs",)), max_size=40))
def test_any_text_is_text(text: str) -> None:
    strict(latex_text(text))
    assert "\n" not in latex_comment(text) and latex_comment(text).isascii()


@given(st.text(alphabet="\\{}$&#_%^~[]*-,`?!<>| an", max_size=30))
def test_what_latex_reads_as_commands_comes_back_as_it_was(text: str) -> None:
    back = latex_text(text)
    for sign, piece in KNOWN.items():
        if sign.isascii() and sign not in "'\"\\{}":
            back = back.replace(piece, sign)
    back = back.replace(r"\textbackslash{}", "\0").replace(r"\{", "\1").replace(r"\}", "\2")
    # What is left are the braces that keep two signs from becoming one.
    back = back.replace("{}", "").replace("\0", "\\").replace("\1", "{").replace("\2", "}")
    assert back == re.sub(" +", " ", text).strip(" ")


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("50.0 % of n", r"50.0\,\% of n"),
        ("−0.12 ± 0.3", r"$-$0.12 $\pm$ 0.3"),
        ("1–5", "1--5"),
        ("a--b", "a-{}-b"),
        ("[x]*", "{[}x{]}{*}"),
        ("α ≤ 0.8…", r"$\alpha$ $\leq$ 0.8\ldots{}"),
        ("naïve Łódź", "na\\\"{\\i}ve \\L{}\\'{o}d\\'{z}"),
        ("“quoted”", "``quoted''"),
        ("计划", "{[}U+8BA1{]}{[}U+5212{]}"),
        ("\\end{table}\\input{/etc/passwd}",
         r"\textbackslash{}end\{table\}\textbackslash{}input\{/etc/passwd\}"),
        ("a\n\nb\tc", "a b c"),
    ],
    ids=["percent", "minus", "en dash", "two hyphens", "after a row", "symbols", "accents",
         "quotes", "no such character", "commands", "one line"],
)  # fmt: skip
def test_text_in_latex(text: str, latex: str) -> None:
    assert latex_text(text) == latex


def board(names: list[str]) -> Table:
    rows = tuple(
        (
            text_cell(name, badges=[Badge("published", why="Table 3")] if not i else []),
            estimate_cell(share(8, 10), "share", show_n=True),
            Cell(data=(None,), reason="not played") if not i else Cell("3", (3,)),
        )
        for i, name in enumerate(names)
    )
    columns = (text_column("Agent"), estimate_column("Acc"), number_column("Rank"))
    return Table("board", "Acc & rank", columns, rows, note="A 95 % interval.")


def test_a_table_as_on_the_page() -> None:
    text = latex_table(
        board(["GPT_5", "B"]), TableSource("leaderboard", "Set", (), (Banner("Demo", "x"),))
    )
    # Wilson of 8 of 10: (8 + 1.92) / 13.84 ± 1.96 / 13.84 · sqrt(1.6 + 0.96) = 0.4902, 0.9433.
    assert (
        r"GPT\_5 \textit{(published)}\textsuperscript{a} & 80.0\,\% & --\textsuperscript{b} \\"
        in text
    )
    assert r" & {\footnotesize 49.0 to 94.3} &  \\" in text
    assert r" & {\footnotesize n = 10} &  \\" in text
    assert r"\begin{tabular}{@{}lrr@{}}" in text
    assert r"\caption[{Acc \& rank}]{Acc \& rank (Set). A 95\,\% interval.}" in text
    assert r"\label{tab:leaderboard-board}" in text
    assert r"\textsuperscript{a}~published: Table 3. \par" in text
    assert r"\textsuperscript{b}~not played. \par" in text
    assert r"Demo: x \par" in text


@given(
    st.lists(
        st.text(alphabet=st.characters(exclude_categories=("Cs",)), max_size=12),
        min_size=1,
        max_size=4,
    )
)
def test_rows_and_environments_hold_whatever_names_say(names: list[str]) -> None:
    text = latex_table(board(names), SOURCE)
    body = text[text.index("\\midrule") : text.index("\\bottomrule")].splitlines()[1:]
    for line in body:
        if line != r"\addlinespace":
            assert line.endswith((r" \\", r" \tabularnewline"))
            # Two separators that are not escaped: three cells.
            assert len(re.findall(r"(?<!\\)&", line)) == 2
            assert not line.lstrip().startswith(("[", "*"))
    for name in ("table", "tabular", "minipage"):
        assert len(re.findall(rf"\\begin\{{{name}\}}", text)) == 1
        assert len(re.findall(rf"\\end\{{{name}\}}", text)) == 1


def test_a_long_table_is_cut_into_parts_with_one_number() -> None:
    names = [f"agent {i}" for i in range(40)]
    text = latex_table(board(names), SOURCE)
    # Rows of 41 points under a caption and a heading of 60, on a page of 535: 11 in each part.
    assert text.count(r"\begin{tabular}") == 4  # 11 + 11 + 11 + 7
    assert text.count(r"\addtocounter{table}{-1}") == 3
    assert text.count(r"\label{") == 1
    assert all(f"agent {i} " in text or f"agent {i} &" in text for i in range(40))


def test_long_words_get_lines_of_their_own() -> None:
    row = (text_cell("a"), text_cell("word " * 30))
    table = Table("t", "T", (text_column("A"), words_column("W")), (row,))
    # What is left of 345 points beside a letter of 7.25 and a gap of 12.
    assert r"{@{}lp{0.94\linewidth}@{}}" in latex_table(table, SOURCE)


def wide_table(columns: int, rows: int = 2) -> Table:
    cells = tuple(
        (text_cell(f"agent {row}"), *(estimate_cell(share(8, 10), "share"),) * columns)
        for row in range(rows)
    )
    heads = (estimate_column(f"Valid plan rate {n}") for n in range(columns))
    return Table("wide", "Wide", (text_column("Agent"), *heads), cells)


def test_headings_are_broken_before_type_gets_small() -> None:
    text = latex_table(wide_table(5), SOURCE)
    assert text.count(r"\begin{tabular}[b]{@{}r@{}}Valid \\ plan rate \\") == 5
    assert "\\small\n" not in text and "size\n" not in text


def test_a_table_too_wide_for_the_page_stands_in_blocks() -> None:
    text = latex_table(wide_table(20), SOURCE)
    blocks = text.count(r"\toprule")
    assert "use table*" in text and "use table*" not in latex_table(wide_table(1), SOURCE)
    assert blocks > 1 and f"stand in {blocks} blocks" in text
    # One page holds all blocks; the agents are named in each, every column stands in one.
    assert text.count(r"\begin{table}") == 1
    assert text.count("agent 0 &") == blocks
    assert all(len(re.findall(rf"rate {n}\b", text)) == 1 for n in range(20))


@examples(max_examples=30)
@given(st.lists(st.integers(1, 30), min_size=1, max_size=25), st.booleans())
def test_no_block_is_wider_than_the_text(widths: list[int], words: bool) -> None:
    headings = [Heading(f"Column {i}", words and not i % 3) for i in range(len(widths))]
    line = [CellLine("x", width_of("0" * n), word=min(n, 8)) for n in widths]
    layout = lay_out(headings, [[line]])
    for block in layout.blocks:
        gaps = 2 * layout.size.sep * (len(block) - 1)
        assert sum(place.points for place in block) + gaps <= layout.width <= WIDTH + 1e-6
    assert {place.index for block in layout.blocks for place in block} == set(range(len(widths)))
    if len(layout.blocks) > 1:
        assert layout.size == SMALLEST


def test_notes_that_the_page_has_no_room_for_get_one_of_their_own() -> None:
    rows = tuple((text_cell("a"), Cell(data=(None,), reason=f"{i} {'why ' * 30}"))
                 for i in range(30))  # fmt: skip
    table = Table("t", "T", (text_column("A"), number_column("N")), rows)
    text = latex_table(table, SOURCE)
    parts = text.split(r"\begin{table}")[1:]
    assert len(parts) > 1 and r"\begin{tabular}" not in parts[-1]
    assert [part.count(r"\begin{minipage}") for part in parts[-2:]] == [1, 1]
    assert len(re.findall(r"(?m)^\\textsuperscript", text)) == 30


def test_a_table_without_rows_says_so_once() -> None:
    assert latex_table(wide_table(20, rows=0), SOURCE).count("No rows.") == 1


def test_labels_and_letters() -> None:
    assert latex_label("Turn scores", "Späte_Züge") == "tab:turn-scores-spate-zuge"
    notes = TableNotes()
    letters = [notes.mark(f"note {i}") for i in range(28)]
    assert letters[0] == "a" and letters[25:] == ["z", "aa", "ab"]
    assert notes.mark("note 3") == "d"


def test_n_is_said_where_the_table_does_not() -> None:
    columns = (text_column("A"), estimate_column("Acc"))
    rows = tuple((text_cell("x"), estimate_cell(share(1, n), "share")) for n in (5, 12))
    assert counts_note(Table("t", "T", columns, rows)) == "n = 5 to 12 per value."
    assert counts_note(board(["x"])) == ""


def test_the_methods_sentence_says_the_leads_interval_n_what_was_left_out_and_the_version() -> None:
    left = share(8, 10, excluded={"judge failure": 2})
    columns = (text_column("A"), estimate_column("Acc"))
    table = Table("t", "Accuracy", columns, ((text_cell("x"), estimate_cell(left, "share")),))
    assert methods_sentence(Report(tables=(table,))) == (
        "We report “Accuracy”. “Accuracy”: 95 % Wilson score intervals, n = 10. Left out of a "
        f"value at most: 2 (judge failure). Computed with PlanJury {settings.VERSION}."
    )
    scores = estimate_cell(mean_t([3, 4, 5, 5]), "points")
    more = Table("s", "Scores", columns, ((text_cell("x"), scores),))
    text = methods_sentence(Report(tables=(table, more), methods="Acc is a share."))
    assert text.startswith("Acc is a share. “Accuracy”: 95 % Wilson score intervals, n = 10. Other")
    assert "Other tables: 95 % Student's t intervals, n = 4. Left" in text
    nothing = methods_sentence(Report(methods="Acc is a share."))
    assert nothing == f"Acc is a share. Computed with PlanJury {settings.VERSION}."
    assert methods_sentence(Report()) == ""
