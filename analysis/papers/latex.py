"""A paper as LaTeX: one file that compiles alone, and that other documents \\input."""

from collections import Counter
from collections.abc import Iterator

from analysis.exports.about import about_file
from analysis.exports.latex import TableSource, latex_label, latex_table
from analysis.exports.latex_text import latex_comment, latex_text, latex_url
from analysis.papers.blocks import TextBlock
from analysis.papers.markup import Span, linked_numbers, markup_latex, spans_latex
from analysis.papers.output import OutputPin, PaperOutput

FIGURES = "figures"
# Floats stand where they are pinned, if there is room.
PLACE = "htbp"
PACKAGES = "booktabs,adjustbox,siunitx,graphicx"
# Both commands end with the preamble, so they are equal once a document has begun.
INPUT = r"\ifx\documentclass\usepackage\let\planjuryend\relax\else"


def paper_latex(output: PaperOutput) -> str:
    """Return the text, tables and figures, in a document of their own where none has begun."""
    return f"{_preamble(output)}\n{_content(output)}\n\\planjuryend\n"


def _preamble(output: PaperOutput) -> str:
    lines = [
        *map(latex_comment, about_file(output.url)),
        rf"% Compiles alone. To \input it: \usepackage{{{PACKAGES},hyperref}}",
        INPUT,
        r"\documentclass[10pt]{article}",
        r"\usepackage[a4paper,textwidth=170mm,textheight=245mm]{geometry}",
        r"\usepackage[T1]{fontenc}",
        r"\usepackage{lmodern}",
        rf"\usepackage{{{PACKAGES}}}",
        r"\usepackage[hidelinks]{hyperref}",
        r"\extrafloats{200}",
        rf"\title{{{latex_text(output.title)}}}",
        rf"\author{{{latex_text(output.person)}}}",
        r"\begin{document}",
        r"\maketitle",
        r"\def\planjuryend{\end{document}}",
        r"\fi",
        r"\providecommand{\href}[2]{#2}",
    ]
    return "\n".join(lines) + "\n"


def _content(output: PaperOutput) -> str:
    labels: Counter[str] = Counter()
    pieces = []
    for block in output.blocks:
        if isinstance(block, TextBlock):
            pieces.append(markup_latex(block.text, output.server))
        else:
            pieces.append(_pin(output, block, labels))
    pieces += list(_end(output))
    return "\n\n".join(piece for piece in pieces if piece.strip()) + "\n"


def _end(output: PaperOutput) -> Iterator[str]:
    if output.methods:
        yield r"\section*{Methods}"
        yield from map(latex_text, output.methods)
    if output.comparability:
        yield r"\section*{Comparability}"
        yield from map(latex_text, output.comparability)


def _pin(output: PaperOutput, pin: OutputPin, labels: Counter[str]) -> str:
    block, report = pin.pin.block, pin.pin.report
    assert report is not None
    if block.part_kind == "answer":
        spans = linked_numbers(report.sentence, block.url)
        marks = " ".join(f"({mark})" for mark in pin.marks)
        return f"{spans_latex(spans, output.server)} {latex_text(marks)}".strip()
    if block.source.kind == "trajectory":
        return _excerpt(output, pin)
    page = _once(f"{block.source.name} {block.part}", labels, block.source.name)
    if block.part_kind == "figure":
        return _figure(output, pin, latex_label(page, block.part_name).replace("tab:", "fig:", 1))
    source = TableSource(
        page,
        block.subject,
        (f"From {output.server}{block.url}",),
        report.banners,
        pin.pin.choice,
        output.server,
        block.caption,
        PLACE,
    )
    return latex_table(report.tables[0], source)


def _excerpt(output: PaperOutput, pin: OutputPin) -> str:
    """Return turns of a trajectory as a quotation, each text under its turn and speaker."""
    block, table = pin.pin.block, pin.pin.numbers
    assert table is not None
    link = spans_latex((Span(f"{pin.pin.title} ({block.subject})", "", block.url),), output.server)
    lines = [r"\begin{quote}\small", link]
    for row in table.rows:
        turn, who, text = (cell.text for cell in row)
        said = (latex_text(line) for line in text.splitlines() if line.strip())
        lines += [
            "",
            rf"\textbf{{Turn {latex_text(turn)}, {latex_text(who)}.}} " + r" \par ".join(said),
        ]
    lines += ["", *map(latex_text, pin.marks), r"\end{quote}"]
    return "\n".join(lines)


def _once(key: str, labels: Counter[str], page: str) -> str:
    """Return the page for a label, numbered where the same part is pinned again."""
    labels[key] += 1
    return page if labels[key] == 1 else f"{page}-{labels[key]}"


def _figure(output: PaperOutput, pin: OutputPin, label: str) -> str:
    kind = "figure*" if pin.pin.block.width > 85 else "figure"
    url = latex_url(f"{output.server}{pin.pin.block.url}")
    names = output.pictures_of(pin, "pdf") or [f"{pin.name}.pdf"]
    why = output.missing.get(pin.name, "its file is not beside this one")
    absent = latex_text(f"{pin.name}: {why}")
    pictures = [
        rf"\IfFileExists{{{FIGURES}/{name}}}{{\href{{{url}}}{{"
        rf"\adjustbox{{max totalheight=0.8\textheight}}{{"
        rf"\includegraphics[width={pin.pin.block.width}mm]{{{FIGURES}/{name}}}}}}}}}"
        rf"{{\fbox{{\parbox{{70mm}}{{{absent}}}}}}}\par"
        for name in names
    ]
    title, caption = latex_text(pin.pin.title), latex_text(" ".join([pin.caption, *pin.marks]))
    lines = [
        rf"\begin{{{kind}}}[{PLACE}]",
        r"\centering",
        *pictures,
        rf"\caption[{{{title}}}]{{{caption}}}",
        rf"\label{{{label}}}",
        rf"\end{{{kind}}}",
    ]
    return "\n".join(lines)
