"""Tables as LaTeX: whatever text says is set as that text, and the rows are those of the page."""

import re
from dataclasses import replace

import pytest
from django.conf import settings
from django.http import QueryDict
from hypothesis import given
from hypothesis import strategies as st

from analysis.exports.latex import TableSource, latex_label, latex_table, letter_points
from analysis.exports.latex_text import KNOWN, latex_comment, latex_text
from analysis.exports.notes import TableNotes, counts_note
from analysis.exports.table_choice import (
    FITTING_POINTS,
    LEGIBLE_POINTS,
    TableChoice,
    chosen_table,
    column_key,
    read_choice,
)
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

# The two columns of a share with its interval.
ESTIMATE = r"S[table-format=2.1]@{\ }l"
SOURCE = TableSource("leaderboard", "Household & co", ("Made by test.",))
# Commands that text may become: those of LaTeX itself and of booktabs, no package besides.
ALLOWED = (
    {command for piece in KNOWN.values() for command in re.findall(r"\\([A-Za-z]+|.)", piece)}
    | set("`'^~\"=.uvHrcdbij,{}$&#_%\\")
    | {"allowbreak", "textsubscript", "textsuperscript"}
)
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
        ("计划", r"{[}U+8BA1{]}\allowbreak{}{[}U+5212{]}\allowbreak{}"),
        ("x² α₁ ᵢ", r"x\textsuperscript{2} $\alpha$\textsubscript{1} \textsubscript{i}"),
        ("\\end{table}\\input{/etc/passwd}",
         r"\textbackslash{}end\{table\}\textbackslash{}input\{/etc/passwd\}"),
        ("a\n\nb\tc", "a b c"),
    ],
    ids=["percent", "minus", "en dash", "two hyphens", "after a row", "symbols", "accents",
         "quotes", "no such character", "scripts", "commands", "one line"],
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


def test_a_row_is_one_line_with_its_interval_and_one_n_is_in_the_caption() -> None:
    text = latex_table(
        board(["GPT_5", "B"]), TableSource("leaderboard", "Set", (), (Banner("Demo", "x"),))
    )
    # Wilson of 8 of 10: (8 + 1.92) / 13.84 ± 1.96 / 13.84 · sqrt(1.6 + 0.96) = 0.4902, 0.9433.
    acc = "80.0 & (49.0 to 94.3)"
    assert rf"GPT\_5\textsuperscript{{a}} & {acc} & {{--}} & \textsuperscript{{b}} \\" in text
    assert rf"B & {acc} & 3 &  \\" in text
    pair = r"@{\ }l"
    assert rf"{{@{{}}lS[table-format=2.1]{pair}S[table-format=1]{pair}@{{}}}}" in text
    assert r"Agent & \multicolumn{2}{c}{Acc (\%)} & \multicolumn{2}{c}{Rank} \\" in text
    caption = r"Acc \& rank (Set). A 95 \% interval. n = 10. "
    intervals = r"In brackets: 95 \% Wilson score intervals."
    assert rf"\caption[{{Acc \& rank}}]{{{caption}{intervals}}}" in text
    assert r"\label{tab:leaderboard-board}" in text
    assert r"\textsuperscript{a}~published: Table 3. \par" in text
    assert r"\textsuperscript{b}~not played. \par" in text
    assert r"Demo: x \par" in text


def test_several_n_stay_with_their_values() -> None:
    columns = (text_column("A"), estimate_column("Acc"))
    rows = tuple(
        (text_cell(f"a{n}"), estimate_cell(share(1, n), "share", show_n=True)) for n in (5, 12)
    )
    text = latex_table(Table("t", "T", columns, rows), SOURCE)
    assert "; n = 5)" in text and "; n = 12)" in text
    intervals = r"In brackets: 95 \% Wilson score intervals."
    assert rf"\caption[{{T}}]{{T (Household \& co). {intervals}}}" in text


def test_numbers_stand_at_their_decimal_points_and_link_to_what_they_count() -> None:
    cells = [
        (Cell("1,234", (1234,)), Cell("−0.12 pt", (-0.0012,))),
        (Cell("7", (7,), url="/trajectories/?run=1&end=a%20b"), Cell("+10.5 pt", (0.105,))),
        (Cell("< 3", (2,)), Cell(data=(None,), reason="not known")),
    ]
    rows = tuple((text_cell(f"a{n}"), *pair) for n, pair in enumerate(cells))
    columns = (text_column("A"), number_column("Calls"), number_column("Change"))
    text = latex_table(Table("t", "T", columns, rows), replace(SOURCE, server="https://x.org"))
    counts = "table-format=4,group-minimum-digits=4,group-separator={,}"
    assert rf"S[{counts}]S[table-format=+2.2,retain-explicit-plus]@{{\ }}l" in text
    assert r"& {Calls} & \multicolumn{2}{c}{Change (pt)}" in text
    assert r"a0 & 1234 & -0.12 &  \\" in text
    link = r"\href{https://x.org/trajectories/?run=1\&end=a\%20b}"
    assert rf"a1 & {{{link}{{\tablenum[{counts}]{{7}}}}}} & +10.5 &  \\" in text
    assert r"a2 & {\textless{} 3} & {--} & \textsuperscript{a} \\" in text


def test_units_that_differ_stay_with_their_numbers() -> None:
    rows = ((text_cell("a"), Cell("3 pt", (0.03,))), (text_cell("b"), Cell("3.0 %", (0.03,))))
    columns = (text_column("A"), number_column("Change"))
    text = latex_table(Table("t", "T", columns, rows), SOURCE)
    assert r"{@{}lr@{}}" in text and r"b & 3.0\,\% \\" in text


def test_digits_are_chosen_for_measured_values_alone() -> None:
    cells = (
        estimate_cell(share(8, 10), "share"),
        Cell("12", (12,)),
        Cell("81.2 %", (0.8123,), source="Table 3"),
        Cell("−0.50", (-0.5049,)),
    )
    columns = (text_column("A"), estimate_column("Acc"), *map(number_column, ("N", "Paper", "D")))
    table = Table("t", "T", columns, ((text_cell("a"), *cells),))
    row = chosen_table(table, TableChoice(digits=0)).rows[0]
    assert [cell.text for cell in row] == ["a", "80 %", "12", "81.2 %", "−1"]
    assert row[1].sub == "49 to 94"
    assert read_choice(QueryDict("digits=3")).digits == 3
    assert read_choice(QueryDict("digits=99")).digits is None


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
        assert line.endswith((r" \\", r" \tabularnewline"))
        # Separators that are not escaped: a name, and two numbers with what is behind them. The
        # second number of a lone row is undefined, so nothing is behind it.
        assert len(re.findall(r"(?<!\\)&", line)) == (4 if len(names) > 1 else 3)
        assert not line.lstrip().startswith(("[", "*"))
    for name in ("table*", "tabular", "minipage"):
        assert len(re.findall(rf"\\begin\{{{re.escape(name)}\}}", text)) == 1
        assert len(re.findall(rf"\\end\{{{re.escape(name)}\}}", text)) == 1


def test_a_long_table_is_cut_into_parts_with_one_number() -> None:
    names = [f"agent {i}" for i in range(90)]
    text = latex_table(board(names), SOURCE)
    assert text.count(r"\begin{tabular}") == 3  # 40 + 40 + 10
    assert text.count(r"\addtocounter{table}{-1}") == 2
    assert text.count(r"\label{") == 1
    assert all(f"agent {i}\\" in text or f"agent {i} &" in text for i in range(90))


def test_sentences_get_lines_of_their_own() -> None:
    row = (text_cell("a"), text_cell("word " * 30))
    table = Table("t", "T", (text_column("A"), words_column("W")), (row,))
    assert r"{@{}lp{45mm}@{}}" in latex_table(table, SOURCE)


def wide_table(columns: int, rows: int = 2) -> Table:
    cells = tuple(
        (text_cell(f"agent {row}"), *(estimate_cell(share(8, 10), "share"),) * columns)
        for row in range(rows)
    )
    heads = (estimate_column(f"Valid plan rate {n}") for n in range(columns))
    return Table("wide", "Wide", (text_column("Agent"), *heads), cells)


@pytest.mark.parametrize(("width", "shown"), [(85, 2), (170, 5)])
def test_the_columns_that_fit_are_taken_and_the_others_named(width: int, shown: int) -> None:
    text = latex_table(wide_table(20), replace(SOURCE, choice=TableChoice((), width)))
    # A column of 20 letters ("80.0 % (49.0 to 94.3)") and a gap in 0.86 letters a millimetre.
    assert rf"\begin{{tabular}}{{@{{}}l{ESTIMATE * shown}@{{}}}}" in text
    assert "Valid plan rate 19" in text.split(f"Left out at {width} mm")[1].splitlines()[0]
    assert rf"max totalsize={{{width}mm}}" in text


def test_letters_become_smaller_than_can_be_read_with_the_columns_that_are_chosen() -> None:
    table = wide_table(20)
    chosen = tuple(column_key(column) for column in table.columns[1:7])
    # Six columns of 20 letters and gaps, and one of names, in 73 and 146 letters.
    narrow, wide = (letter_points(table, TableChoice(chosen, width)) for width in (85, 170))
    assert narrow < LEGIBLE_POINTS < wide < FITTING_POINTS
    assert narrow == pytest.approx(wide / 2)
    assert letter_points(table, TableChoice((), 85)) == FITTING_POINTS


def test_columns_are_chosen_by_the_reader() -> None:
    params = QueryDict("column=valid-plan-rate-3&column=valid-plan-rate-17&column=none&width=85")
    text = latex_table(wide_table(20), replace(SOURCE, choice=read_choice(params)))
    assert f"{{@{{}}l{ESTIMATE * 2}@{{}}}}" in text and "rate 17" in text and "rate 4" not in text
    assert "Left out" not in text.replace("rate 3", "")
    assert read_choice(QueryDict("width=99")) == TableChoice()


def test_notes_that_the_page_has_no_room_for_get_one_of_their_own() -> None:
    rows = tuple((text_cell("a"), Cell(data=(None,), reason=f"{i} {'why ' * 30}"))
                 for i in range(30))  # fmt: skip
    table = Table("t", "T", (text_column("A"), number_column("N")), rows)
    text = latex_table(table, SOURCE)
    parts = text.split(r"\begin{table*}")[1:]
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
