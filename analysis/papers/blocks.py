"""The blocks of a paper: texts that people write, and pins of parts of other pages."""

from collections.abc import Iterable
from typing import Annotated, Any, Literal
from uuid import uuid4

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

# A paper has at most so many blocks, and a text so many characters.
MOST_BLOCKS = 300
LONGEST_TEXT = 20_000
LONGEST_CAPTION = 1000
SourceKind = Literal["page", "dataset", "trajectory"]


class Source(BaseModel):
    """Where a pin comes from: an analysis page with its filters, a dataset, or a trajectory.

    ``name`` is the key of the page, or the id of the dataset or trajectory; ``query`` the filters
    as the page resolved them, or the turns of the trajectory.
    """

    model_config = ConfigDict(frozen=True)

    kind: SourceKind
    name: str
    query: str = ""


class TextBlock(BaseModel):
    """Words between pins, in the markup of `analysis.papers.markup`."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["text"] = "text"
    id: str
    text: str = ""


class PinBlock(BaseModel):
    """A part of a source, as it was when it was pinned.

    ``part`` is ``answer``, ``figure:NAME`` or ``table:NAME``; ``digest`` names the stored content.
    ``width`` is in millimetres, ``digits`` counts decimals, and ``columns`` are keys of columns
    (none: the first that fit). ``caption`` replaces the title. ``kept`` is the digest of newer
    content that somebody decided not to take.
    """

    model_config = ConfigDict(frozen=True)

    kind: Literal["pin"] = "pin"
    id: str
    source: Source
    part: str
    digest: str
    title: str
    subject: str = ""
    url: str
    pinned_at: str
    width: int = 170
    digits: int | None = None
    columns: tuple[str, ...] = ()
    caption: str = ""
    kept: str = ""

    @property
    def part_kind(self) -> str:
        """What kind of part it is: answer, figure or table."""
        return self.part.partition(":")[0]

    @property
    def part_name(self) -> str:
        """The name of the figure or table in its report; empty for an answer."""
        return self.part.partition(":")[2]


Block = Annotated[TextBlock | PinBlock, Field(discriminator="kind")]
_BLOCKS: TypeAdapter[list[TextBlock | PinBlock]] = TypeAdapter(list[Block])


def read_blocks(stored: Any) -> list[TextBlock | PinBlock]:
    """Return the blocks of a stored version."""
    return _BLOCKS.validate_python(stored)


def stored_blocks(blocks: Iterable[TextBlock | PinBlock]) -> list[dict[str, Any]]:
    """Return blocks as a version stores them."""
    return [block.model_dump(mode="json") for block in blocks]


def new_id() -> str:
    """Return the id of a new block, which it keeps in all versions."""
    return uuid4().hex[:12]
