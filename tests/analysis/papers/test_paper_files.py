"""Papers as files: LaTeX that compiles, HTML that runs nothing, and a folder with the data."""

import io
import json
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from analysis.exports.figure_pdf import chromium
from analysis.models import Paper
from analysis.papers.blocks import Source, TextBlock
from analysis.papers.folder import paper_files
from analysis.papers.latex import paper_latex
from analysis.papers.markup import linked_numbers, markup_html, markup_latex, spans_html
from analysis.papers.output import PaperOutput, output_blocks
from analysis.papers.selectors import shown_blocks
from analysis.papers.services import Draft, latest_version, save_draft
from benchmarks.models import Run
from benchmarks.visibility import Visibility
from tests.analysis.papers.conftest import blocks_of, pin

pytestmark = pytest.mark.django_db
WORDS = """# Results & <i>more</i>

Agents are **bold**, *slanted* and `code_1`; see [the page](/analysis/) or [x](javascript:alert(1)).

- one \\input{/etc/passwd}
- two 100 %
1. first
2. [second](https://example.org/a_b?c=1&d=%20#e)
"""


@pytest.fixture
def output(paper: Paper, rita: User, run: Run) -> PaperOutput:
    """A paper with words, an answer, two tables and two figures, of which none is drawn."""
    pin(paper, "answer", "figure:board", "table:board")
    first, answer, figure, table = blocks_of(paper)
    small = {"width": 85, "digits": 0, "columns": ("acc",), "caption": "A_b & <c> 50 %"}
    blocks = [
        TextBlock(id=first.id, text=WORDS), answer, figure, table,
        figure.model_copy(update={"id": "f2", "width": 85}),
        table.model_copy(update={"id": "t2", **small}),
    ]  # fmt: skip
    save_draft(paper=paper, draft=Draft(2, paper.title, blocks), by=rita)
    version = latest_version(paper)
    shown = shown_blocks(version, rita, Visibility.to(rita))
    return PaperOutput(
        version.title, version.number, "rita", "http://x.org/papers/1/", "http://x.org",
        output_blocks(shown),
    )  # fmt: skip


@pytest.mark.parametrize("inside", [False, True], ids=["alone", "by input"])
def test_the_paper_compiles_alone_and_by_input(
    output: PaperOutput, tmp_path: Path, inside: bool
) -> None:
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed")
    for name, content in paper_files(output):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    if inside:  # in a paper of two columns, without links
        packages = r"\usepackage{booktabs,adjustbox,siunitx,graphicx}"
        (tmp_path / "outer.tex").write_text(
            rf"\documentclass[twocolumn]{{article}}{packages}"
            rf"\begin{{document}}\input{{paper}}Goes on.\end{{document}}"
        )
    name = "outer" if inside else "paper"
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", f"{name}.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    log = (tmp_path / f"{name}.log").read_text(errors="replace")
    assert done.returncode == 0, log[-2000:]
    assert "end occurred" not in log
    assert "multiply defined" not in log and "Missing character" not in log


def test_numbers_of_tables_and_sentences_link_to_the_product(output: PaperOutput) -> None:
    files = dict(paper_files(output))
    latex = files["paper.tex"].decode()
    page = r"\href{http://x.org/analysis/leaderboard/?"
    assert re.search(re.escape(page) + r"[^}]+\}\{66\.7\\,\\%\}", latex)
    linked = r"\{\\href\{http://x\.org/trajectories/[^}]+\}\{\\tablenum\[[^]]+\]\{66\.7\}\}\}"
    assert re.search(linked, latex)
    assert r"\tablenum[table-format=2]{67}" in latex
    assert r"{Acc (\%)}" in latex and r"A\_b \& \textless{}c\textgreater{} 50\,\%" in latex
    assert "In brackets: 95" in latex and "Intervals: 95" in latex
    assert "Demo data: " in latex and r"\section*{Methods}" in latex
    html = files["paper.html"].decode()
    assert 'href="http://x.org/trajectories/?' in html and "66.7 %</a>" in html
    assert "Columns left out: " in html
    assert "<script" not in html and "<i>more" not in html and "javascript:" in html
    assert not re.search(r'href="(?!http)', html)


def test_the_folder_holds_data_and_a_script_that_draws_them(output: PaperOutput) -> None:
    files = dict(paper_files(output))
    figures = [name for name in files if name.endswith(".plotly.json")]
    assert figures == [
        "figures/02-leaderboard-board.plotly.json", "figures/04-leaderboard-board.plotly.json",
    ]  # fmt: skip
    assert all(json.loads(files[name])["data"] for name in figures)
    assert "data:font/woff2" in files["figures/fonts.css"].decode()
    assert files["data/03-leaderboard-board.csv"].decode().startswith("agent,")
    compile(files["draw_figures.py"], "draw_figures.py", "exec")
    assert "03-leaderboard-board" in files["README.md"].decode()


def test_turns_are_a_quotation(paper: Paper, rita: User, run: Run) -> None:
    trajectory = run.trajectories.earliest("pk").pk
    pin(paper, "table:turns", source=Source(kind="trajectory", name=str(trajectory)))
    shown = shown_blocks(latest_version(paper), rita, Visibility.to(rita))
    output = PaperOutput("T", 2, "rita", "u", "http://x.org", output_blocks(shown))
    latex = paper_latex(output)
    assert r"\begin{quote}" in latex and r"\textbf{Turn 1, agent.}" in latex
    assert f"http://x.org/trajectories/{trajectory}/?turn=1" in latex


def test_markup_is_read_and_nothing_else() -> None:
    html = markup_html(WORDS, "http://x.org")
    assert "<h2>Results &amp; &lt;i&gt;more&lt;/i&gt;</h2>" in html
    assert "<strong>bold</strong>, <em>slanted</em> and <code>code_1</code>" in html
    assert '<a href="http://x.org/analysis/">the page</a>' in html
    assert "[x](javascript:alert(1))" in html
    assert html.count("<li>") == 4 and "<ol><li>first</li>" in html
    latex = markup_latex(WORDS, "http://x.org")
    assert r"\section{Results \& \textless{}i\textgreater{}more" in latex
    assert r"\textbf{bold}, \emph{slanted} and \texttt{code\_1}; see" in latex
    assert r"\textbackslash{}input\{/etc/passwd\}" in latex
    assert r"\href{https://example.org/a\_b?c=1\&d=\%20\#e}{second}" in latex


def test_numbers_in_a_sentence_are_links_and_names_are_not() -> None:
    spans = linked_numbers("gpt-5 is right on 68.8 % of 1,032 (−34.5 to +2), v2.", "/p/")
    linked = [span.text for span in spans if span.url]
    assert linked == ["68.8 %", "1,032", "−34.5", "+2"]
    assert "".join(span.text for span in spans) == (
        "gpt-5 is right on 68.8 % of 1,032 (−34.5 to +2), v2."
    )
    assert spans_html(spans, "http://x").count('<a href="http://x/p/">') == 4


def test_files_are_for_those_who_may_open_the_paper(
    editor: Client, paper: Paper, sven: User, run: Run, settings: Settings
) -> None:
    settings.CHROMIUM = "off"
    chromium.cache_clear()
    pin(paper, "figure:board")
    urls = {form: reverse(f"analysis:paper_{form}", args=[paper.pk])
            for form in ("tex", "html", "pdf", "zip")}  # fmt: skip
    assert editor.get(urls["pdf"]).status_code == 501
    page = editor.get(urls["html"]).content.decode()
    assert "The figure was not drawn" in page
    with zipfile.ZipFile(io.BytesIO(editor.get(urls["zip"]).content)) as packed:
        assert "paper/paper.tex" in packed.namelist()
    empty = editor.get(urls["tex"], {"version": "1"}).content.decode()
    assert "figure" not in empty
    editor.force_login(sven)
    assert [editor.get(url).status_code for url in urls.values()] == [404] * 4
    chromium.cache_clear()
