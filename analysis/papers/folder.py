"""A paper as a folder: LaTeX, HTML for word processors, data, and a script that draws figures."""

import json
from collections.abc import Iterator

from analysis.exports.about import about_file
from analysis.exports.embedding import static_text, typeface
from analysis.exports.plotly_json import plotly_figure
from analysis.papers.html_page import paper_html
from analysis.papers.latex import FIGURES, paper_latex
from analysis.papers.output import PaperOutput

SCRIPT = '''"""Draw the figures of this folder again: pip install plotly; python draw_figures.py.

Each figures/NAME.plotly.json becomes figures/NAME.html and, where the package kaleido is installed,
figures/NAME-new.svg and -new.pdf. HTML and SVG hold the typeface; PDF has the next one that is
installed. Change a figure before it is written: figure.update_layout(...).
The numbers are in data/NAME.csv.
"""

from pathlib import Path

import plotly.io

folder = Path(__file__).parent / "figures"
fonts = f"<style>{(folder / 'fonts.css').read_text(encoding='utf-8')}</style>"
for path in sorted(folder.glob("*.plotly.json")):
    figure = plotly.io.read_json(path)
    name = path.name.removesuffix(".plotly.json")
    page = figure.to_html(include_plotlyjs="cdn").replace("<head>", f"<head>{fonts}", 1)
    path.with_name(f"{name}.html").write_text(page, encoding="utf-8")
    try:
        picture = figure.to_image("svg").decode().replace(">", f">{fonts}", 1)
        path.with_name(f"{name}-new.svg").write_text(picture, encoding="utf-8")
        figure.write_image(path.with_name(f"{name}-new.pdf"))
    except (ImportError, RuntimeError, ValueError):
        print(f"{name}: HTML alone; for SVG and PDF, pip install kaleido")
'''


def paper_files(output: PaperOutput) -> Iterator[tuple[str, bytes]]:
    """Yield (name, content) of every file of the folder."""
    yield "paper.tex", paper_latex(output).encode()
    yield "paper.html", paper_html(output, "png", lambda name: f"{FIGURES}/{name}").encode()
    for name, content in output.pictures.items():
        yield f"{FIGURES}/{name}", content
    for name, drawn in output.figures.items():
        yield f"{FIGURES}/{name}.plotly.json", drawn.encode()
    yield f"{FIGURES}/fonts.css", typeface("css/figure-fonts.css").encode()
    yield f"{FIGURES}/fonts.LICENSE.txt", static_text("fonts/planjury-sans.LICENSE.txt").encode()
    for pin in output.pins:
        if pin.pin.block.part_kind == "figure" and pin.name not in output.figures:
            assert pin.pin.figure is not None
            drawn = json.dumps(plotly_figure(pin.pin.figure), ensure_ascii=False)
            yield f"{FIGURES}/{pin.name}.plotly.json", drawn.encode()
        if pin.pin.numbers is not None:
            yield f"data/{pin.name}.csv", pin.pin.numbers.csv().encode()
    yield "draw_figures.py", SCRIPT.encode()
    yield "README.md", _readme(output).encode()


def _readme(output: PaperOutput) -> str:
    lines = [
        f"# {output.title}", "", *about_file(output.url), f"Version {output.version}.", "",
        "- `paper.tex` compiles alone: `pdflatex paper.tex`, twice for references",
        "- the same file can be `\\input`; its first lines name the packages that it needs",
        "- `paper.html` opens in word processors, with its figures in `figures/`",
        "- `data/`: the numbers of every pin, not rounded",
        "- `figures/`: PDF, SVG and PNG at the width of the paper, and Plotly JSON",
        "- `draw_figures.py` draws the figures again from their JSON", "", "## Pins", "",
    ]  # fmt: skip
    for pin in output.pins:
        lines.append(f"- `{pin.name}`: {pin.pin.title} ({output.server}{pin.pin.block.url})")
    lines += [f"- {gap.text}" for gap in output.gaps]
    lines += [f"- {name} was not drawn: {why}" for name, why in output.missing.items()]
    return "\n".join([*lines, ""])
