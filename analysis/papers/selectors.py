"""Papers that a person may open, and what of a version they may see."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet

from analysis.exports.latex import letter_points
from analysis.exports.table_choice import LEGIBLE_POINTS, TableChoice, chosen_table
from analysis.filters.studies import readable_studies
from analysis.models import Paper, PaperPart, PaperVersion
from analysis.papers.blocks import PinBlock, TextBlock, read_blocks
from analysis.papers.differences import difference_lines
from analysis.papers.sources import (
    SourceGone,
    SourceReport,
    digest_of,
    open_source,
    part_of,
    read_report,
    report_json,
)
from analysis.reports.content import FigureSpec, Report, Table
from benchmarks.visibility import Visibility

DELETED = "Its content was deleted with the study or trajectory that it was made from."
# What ``kept`` of a pin is where somebody decided that files name its deleted content.
GONE = "gone"


def papers_for(user: User, seen: Visibility) -> QuerySet[Paper]:
    """Return one's own papers and those that others share, the newest change first.

    While somebody annotates blind, words of others may tell what they must not know yet.
    """
    mine, theirs = Q(owner=user), ~Q(sharing=Paper.Sharing.PRIVATE)
    rows = Paper.objects.filter(mine if seen.closed or seen.tasks else mine | theirs)
    return rows.select_related("owner")


def may_edit(paper: Paper, user: User) -> bool:
    """Return whether a person who may open the paper may save versions of it."""
    return paper.owner_id == user.pk or paper.sharing == Paper.Sharing.EDIT


@dataclass(frozen=True)
class ShownPin:
    """A pin as one person sees it: its stored content, or why there is none.

    ``hidden``: made from data that this person may not see, so that not even its title is shown.
    """

    block: PinBlock
    report: Report | None = None
    hidden: bool = False
    problem: str = ""

    @property
    def figure(self) -> FigureSpec | None:
        """The figure that it shows."""
        return next(iter(self.report.figures), None) if self.report is not None else None

    @property
    def table(self) -> Table | None:
        """The table that it shows, with the columns and digits that were chosen."""
        if self.report is None or self.block.part_kind != "table" or not self.report.tables:
            return None
        return chosen_table(self.report.tables[0], self.choice)

    @property
    def small_points(self) -> float | None:
        """How high its table's letters are on paper, in points, where nobody can read them."""
        if self.table is None:
            return None
        points = letter_points(self.table, self.choice)
        return points if points < LEGIBLE_POINTS else None

    @property
    def numbers(self) -> Table | None:
        """The table with all of its numbers, unrounded, where it has one."""
        return next(iter(self.report.tables), None) if self.report is not None else None

    @property
    def choice(self) -> TableChoice:
        """What was chosen of its table."""
        return TableChoice(self.block.columns, self.block.width, digits=self.block.digits)

    @property
    def title(self) -> str:
        """The caption that it was given, else its title."""
        return self.block.caption or self.block.title


def shown_blocks(version: PaperVersion, user: User, seen: Visibility) -> list[TextBlock | ShownPin]:
    """Return the blocks of a version as one person may see them."""
    blocks = read_blocks(version.blocks)
    return shown(version.paper, blocks, user, seen)


def shown(
    paper: Paper, blocks: Sequence[TextBlock | PinBlock], user: User, seen: Visibility
) -> list[TextBlock | ShownPin]:
    """Return blocks of a paper with the stored content that one person may see."""
    digests = {block.digest for block in blocks if isinstance(block, PinBlock)}
    parts = {part.digest: part for part in paper.parts.filter(digest__in=digests)}
    open_parts = _open_parts(parts.values(), user, seen)
    return [
        block if isinstance(block, TextBlock) else _shown_pin(block, parts, open_parts)
        for block in blocks
    ]


def _shown_pin(
    block: PinBlock, parts: Mapping[str, PaperPart], open_parts: frozenset[str]
) -> ShownPin:
    part = parts.get(block.digest)
    if part is None:
        return ShownPin(block, problem=DELETED)
    if block.digest not in open_parts:
        return ShownPin(block, hidden=True)
    return ShownPin(block, read_report(part.content))


def _open_parts(parts: Iterable[PaperPart], user: User, seen: Visibility) -> frozenset[str]:
    """Return the digests of the parts whose data a person may see."""
    if seen.tasks:  # any part may tell which candidates a checker kept
        return frozenset()
    parts = list(parts)
    named = any(part.studies for part in parts)
    readable = {study.pk for study in readable_studies(user)[0]} if named else set()
    return frozenset(
        part.digest
        for part in parts
        if not seen.closed.intersection(part.runs) and readable.issuperset(part.studies)
    )


def open_report(paper: Paper, digest: str, user: User, seen: Visibility) -> Report | None:
    """Return stored content of a paper by its digest; None where it is not there or not open."""
    part = paper.parts.filter(digest=digest).first()
    if part is None or digest not in _open_parts([part], user, seen):
        return None
    return read_report(part.content)


@dataclass(frozen=True)
class PinState:
    """A pin beside what its source shows now.

    ``fresh`` is the newer content, where its data differ, and ``digest`` names it; ``lines`` say
    what differs. ``kept``: somebody looked at exactly this and kept the old. ``problem`` says why
    there is nothing to compare with. Where both contents are gone, ``digest`` is ``GONE``.
    """

    pin: ShownPin
    fresh: ShownPin | None = None
    digest: str = ""
    lines: Sequence[str] = ()
    kept: bool = False
    problem: str = ""


def pin_state(pin: ShownPin, user: User, seen: Visibility) -> PinState:
    """Compare a pin that is open to a person with what its source shows them now."""
    block = pin.block
    try:
        found = reopened(block, user, seen)
        report = part_of(found, block.part)
    except SourceGone as problem:
        if pin.report is None:
            was = f"was: {block.title} ({block.subject}), pinned {block.pinned_at[:10]}. {DELETED}"
            lines = [was, f"is: {problem}."]
            return PinState(pin, digest=GONE, lines=lines, kept=block.kept == GONE)
        return PinState(pin, problem=f"{problem}. The pin keeps what it shows.")
    lines = difference_lines(pin.report, report) if pin.report is not None else [DELETED]
    if not lines:
        return PinState(pin)
    digest = digest_of(found.source, report_json(report))
    fresh = ShownPin(block.model_copy(update={"digest": digest}), report)
    return PinState(pin, fresh, digest, lines, kept=digest == block.kept)


def reopened(block: PinBlock, user: User, seen: Visibility) -> SourceReport:
    """Return the source of a pin as it is now; raises ``SourceGone``.

    A page replaces filters that mean nothing any more by others; a pin must not show other data
    than its own without a word. Filters that a page chose in addition, such as the newest
    experiment, are among what changed.
    """
    found = open_source(block.source, user, seen)
    if not set(parse_qsl(block.source.query)) <= set(parse_qsl(found.source.query)):
        raise SourceGone(
            "its filters choose other data now, because a dataset, run or study that they name was "
            "deleted or is closed to you"
        )
    return found
