"""A paper on its way into files: what each pin says, its caption, and its pictures.

A caption says what is shown, of what, n, and which intervals and methods its numbers have.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from django.utils.text import slugify

from analysis.exports.notes import counts_note
from analysis.papers.blocks import TextBlock
from analysis.papers.selectors import ShownPin
from analysis.reports.content import FigureSpec
from analysis.reports.methods import intervals_sentence, methods_sentence
from analysis.reproduction.files import FigureForms, FigureImages

# Widths of figures as their drawing calls them, by millimetres.
FIGURE_WIDTHS: Mapping[int, str] = {85: "column", 170: "wide"}
PictureForm = Literal["svg", "png", "pdf"]
CLOSED = "Missing: one pin. The person who exported this paper may not see its data."


@dataclass(frozen=True)
class OutputPin:
    """A pin with the name that its files have; ``number`` counts the pins."""

    pin: ShownPin
    number: int

    @property
    def name(self) -> str:
        """The name of its files: 03-leaderboard-board."""
        words = slugify(f"{self.pin.block.source.name}-{self.pin.block.part_name or 'answer'}")
        return f"{self.number:02d}-{words}"[:80]

    @property
    def caption(self) -> str:
        """What a figure shows, of what, its n and intervals."""
        figure, table = self.pin.figure, self.pin.numbers
        subject = f" ({self.pin.block.subject})" if self.pin.block.subject else ""
        sentences = [f"{self.pin.title.rstrip('.')}{subject}."]
        if figure is not None and figure.subtitle:
            sentences.append(f"{figure.subtitle.rstrip('.')}.")
        if table is not None:
            sentences.append(counts_note(table))
            sentences.append(intervals_sentence(table).replace("In brackets: ", "Intervals: "))
        return " ".join(sentence for sentence in sentences if sentence)

    @property
    def marks(self) -> list[str]:
        """What marks its data as not the real thing, a sentence each."""
        report = self.pin.report
        return [f"{one.title}: {one.text}" for one in report.banners] if report is not None else []


class OutputGap(TextBlock):
    """The sentence that stands in files for a pin without content."""


OutputBlock = TextBlock | OutputPin


@dataclass(frozen=True)
class PaperOutput:
    """A version of a paper as its reader may see it; ``server`` is the address of the product.

    ``pictures`` are files of figures by their names, such as 03-leaderboard-board.png; ``figures``
    what was drawn, as JSON of Plotly.
    """

    title: str
    version: int
    person: str
    url: str
    server: str
    blocks: Sequence[OutputBlock]
    pictures: Mapping[str, bytes] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)
    figures: Mapping[str, str] = field(default_factory=dict)

    @property
    def pins(self) -> list[OutputPin]:
        """The pins in order."""
        return [block for block in self.blocks if isinstance(block, OutputPin)]

    @property
    def gaps(self) -> list[OutputGap]:
        """What stands for pins without content, in order."""
        return [block for block in self.blocks if isinstance(block, OutputGap)]

    @property
    def methods(self) -> list[str]:
        """Sentences for a methods section, each once."""
        reports = (pin.pin.report for pin in self.pins)
        sentences = (methods_sentence(report) for report in reports if report is not None)
        return list(dict.fromkeys(sentence for sentence in sentences if sentence))

    @property
    def comparability(self) -> list[str]:
        """How the runs compare with published values that pins show, each once."""
        reports = (pin.pin.report for pin in self.pins)
        texts = (one.text for report in reports if report is not None
                 for one in report.certificates)  # fmt: skip
        return list(dict.fromkeys(texts))

    def pictures_of(self, pin: OutputPin, form: PictureForm) -> list[str]:
        """Return the names of a figure's pictures: several where it is drawn in parts."""
        names = [f"{pin.name}.{form}"]
        while (part := f"{pin.name}-part-{len(names) + 1}.{form}") in self.pictures:
            names.append(part)
        return [name for name in names if name in self.pictures]


def output_blocks(blocks: Sequence[TextBlock | ShownPin]) -> list[OutputBlock]:
    """Return the blocks that go into files: texts, pins, and what is missing of pins."""
    numbered: list[OutputBlock] = []
    number = 0
    for block in blocks:
        if isinstance(block, TextBlock):
            numbered.append(block)
        elif block.report is not None:
            number += 1
            numbered.append(OutputPin(block, number))
        else:
            words = CLOSED if block.hidden else f"Missing: {block.title}. {block.problem}"
            numbered.append(OutputGap(id=block.block.id, text=words))
    return numbered


def with_pictures(output: PaperOutput, forms: FigureForms) -> PaperOutput:
    """Return the paper with its figures drawn, each at its width."""
    pictures: dict[str, bytes] = {}
    missing: dict[str, str] = {}
    figures: dict[str, str] = {}
    for width, name in FIGURE_WIDTHS.items():
        images = FigureImages(dict(_figures(output.pins, width)), {}, forms, name)
        pictures |= dict(images.files())
        missing |= images.missing
        figures |= images.figures
    return replace(output, pictures=pictures, missing=missing, figures=figures)


def _figures(pins: Sequence[OutputPin], width: int) -> Iterator[tuple[str, FigureSpec]]:
    for one in pins:
        if one.pin.block.part_kind == "figure" and one.pin.block.width == width:
            assert one.pin.figure is not None
            yield one.name, one.pin.figure
