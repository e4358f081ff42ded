"""Figures as files: SVG and PNG in one go, PDF one by one, where a Chromium is there."""

from collections.abc import Iterator, Mapping

from analysis.exports.chromium import NotPrinted, print_to_pdf, read_drawn
from analysis.exports.figure_page import drawn_in, figures_page, picture_page
from analysis.exports.figure_pdf import chromium
from analysis.reports.content import FigureSpec

WIDTH = "wide"
# All figures at once, on a busy machine.
SECONDS = 120
NO_PDF = "Figures are not there as PDF; the command reproduce makes them."
ABSENT = "No Chromium is installed here; each figure is there as data, and in report.html."


class Drawings:
    """The files of figures by name; ``missing`` says why there are fewer than there could be.

    ``notes`` are what stands under those that are not of the real thing.
    """

    def __init__(
        self, specs: Mapping[str, FigureSpec], notes: Mapping[str, str], *, pdf: bool
    ) -> None:
        self.specs, self.notes, self.pdf = specs, notes, pdf
        self.missing = "" if chromium() else ABSENT

    def files(self) -> Iterator[tuple[str, bytes]]:
        """(name with ending, content), as far as they can be drawn."""
        if self.missing or not self.specs:
            return
        try:
            page = figures_page(self.specs, WIDTH, self.notes)
            drawn = drawn_in(read_drawn(page, chromium=chromium(), seconds=SECONDS))
            for name, one in drawn.items():
                yield f"{name}.svg", one.svg.encode()
                yield f"{name}.png", one.png
            for name, one in drawn.items() if self.pdf else ():
                sheet = picture_page(one, self.specs[name].title)
                yield f"{name}.pdf", print_to_pdf(sheet, chromium=chromium(), seconds=SECONDS)
        except (NotPrinted, ValueError) as problem:
            self.missing = f"Not every figure was drawn: {problem}"
        else:
            self.missing = "" if self.pdf else NO_PDF
