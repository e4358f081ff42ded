"""Writing papers: pins, texts and decisions, each save a version; nothing is overwritten."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from analysis.models import Paper, PaperPart, PaperVersion
from analysis.papers.blocks import (
    LONGEST_CAPTION,
    LONGEST_TEXT,
    MOST_BLOCKS,
    PinBlock,
    TextBlock,
    new_id,
    read_blocks,
    stored_blocks,
)
from analysis.papers.sources import SourceReport, digest_of, part_of, report_json
from benchmarks.core.digests import storable
from benchmarks.core.errors import CoreError

AnyBlock = TextBlock | PinBlock
LONGEST_TITLE = 200
# Papers of one person.
MOST_PAPERS = 200


class PaperRefused(CoreError):
    """Raised if a paper cannot be saved so; the text says why and what to do."""


@dataclass
class PaperChanged(PaperRefused):
    """Raised if somebody else changed blocks since this editor opened the paper.

    ``latest`` is their version, ``others`` the ids of the blocks that it changed or removed.
    """

    latest: PaperVersion
    others: frozenset[str]

    def __str__(self) -> str:
        return f"version {self.latest.number} was saved while you were editing"


@dataclass(frozen=True)
class Draft:
    """What an editor wants a paper to be: title, blocks in order, and the version they began from.

    ``unseen`` are ids of blocks that the editor may not see: they stay as they are.
    """

    base: int
    title: str
    blocks: Sequence[AnyBlock]
    unseen: frozenset[str] = field(default_factory=frozenset)


def create_paper(*, owner: User, title: str) -> Paper:
    """Begin a paper with one empty text."""
    title = clean_title(title)
    with transaction.atomic():
        User.objects.select_for_update().get(pk=owner.pk)
        if Paper.objects.filter(owner=owner).count() >= MOST_PAPERS:
            raise PaperRefused(f"you have {MOST_PAPERS} papers; delete one that you do not need")
        paper = Paper.objects.create(owner=owner, title=title)
        _add_version(paper, 1, title, [TextBlock(id=new_id())], "Created", owner)
    return paper


def latest_version(paper: Paper) -> PaperVersion:
    """Return the newest version of a paper."""
    return paper.versions.order_by("-number")[:1].get()


def pin_parts(*, paper: Paper, found: SourceReport, parts: Iterable[str], by: User) -> PaperVersion:
    """Append parts of a source to a paper, as they are now."""
    reports = {part: part_of(found, part) for part in dict.fromkeys(parts)}
    if not reports:
        raise PaperRefused("choose what to pin")
    with _locked(paper) as latest:
        blocks = read_blocks(latest.blocks)
        for part, report in reports.items():
            digest = _store(paper, found, report_json(report))
            kind, _, name = part.partition(":")
            shown = report.figures or report.tables if kind != "answer" else ()
            title = shown[0].title if shown else found.title
            blocks.append(
                PinBlock(
                    id=new_id(), source=found.source, part=part, digest=digest, title=title[:300],
                    subject=found.subject[:300], url=found.url,
                    pinned_at=timezone.now().isoformat(timespec="minutes"),
                )
            )  # fmt: skip
        count = len(reports)
        words = f"Pinned {count} part{'s' if count > 1 else ''} of {found.title}"
        return _next(paper, latest, latest.title, blocks, words, by)


def save_draft(*, paper: Paper, draft: Draft, by: User, words: str = "Saved") -> PaperVersion:
    """Save what an editor wrote as a new version, or return the newest where nothing changed.

    Blocks that others added since stay, after the blocks that they followed. Where others changed
    or removed blocks since, ``PaperChanged`` is raised, and nothing is stored.
    """
    title = clean_title(draft.title)
    _check(draft.blocks)
    with _locked(paper) as latest:
        base = paper.versions.filter(number=draft.base).first()
        if base is None:
            raise PaperRefused("the version that this form began from is not there; reload it")
        old, new = read_blocks(base.blocks), read_blocks(latest.blocks)
        others = changed_blocks(old, new)
        if others or [b.id for b in old] != [b.id for b in new if b in old]:
            raise PaperChanged(latest, others)
        if latest.title != base.title and title == base.title:
            title = latest.title
        began = {block.id for block in old}
        added = frozenset(block.id for block in new if block.id not in began)
        blocks = with_kept(draft.blocks, new, draft.unseen | added)
        if title == latest.title and stored_blocks(blocks) == latest.blocks:
            return latest
        return _next(paper, latest, title, blocks, words, by)


def changed_blocks(old: Sequence[AnyBlock], new: Sequence[AnyBlock]) -> frozenset[str]:
    """Return the ids of blocks that a newer version changed or removed."""
    now = {block.id: block for block in new}
    return frozenset(block.id for block in old if now.get(block.id) != block)


def decide(block: PinBlock, found: SourceReport, digest: str, *, take: bool) -> PinBlock:
    """Return a pin with newer content, or one that keeps its own.

    ``digest`` is that of the content that was shown to the person who decides: where it changed
    again since, ``PaperRefused`` is raised.
    """
    if digest_of(found.source, report_json(part_of(found, block.part))) != digest:
        raise PaperRefused("its data changed again while you decided; look at them once more")
    if not take:
        return block.model_copy(update={"kept": digest})
    now = timezone.now().isoformat(timespec="minutes")
    fresh = {"digest": digest, "kept": "", "pinned_at": now, "subject": found.subject[:300]}
    return block.model_copy(update={**fresh, "source": found.source, "url": found.url})


def store_content(paper: Paper, found: SourceReport, part: str) -> str:
    """Store what a source shows of a part now; return its digest."""
    return _store(paper, found, report_json(part_of(found, part)))


def restore_version(*, paper: Paper, number: int, by: User) -> PaperVersion:
    """Save an older version as the newest one. The versions between stay."""
    with _locked(paper) as latest:
        wanted = paper.versions.filter(number=number).first()
        if wanted is None:
            raise PaperRefused(f"there is no version {number}")
        blocks = read_blocks(wanted.blocks)
        return _next(paper, latest, wanted.title, blocks, f"Restored version {number}", by)


def share_paper(*, paper: Paper, sharing: str) -> None:
    """Choose who else reads or edits a paper."""
    if sharing not in Paper.Sharing.values:
        raise PaperRefused("choose who sees the paper")
    Paper.objects.filter(pk=paper.pk).update(sharing=sharing)


def delete_paper(*, paper: Paper) -> None:
    """Delete a paper with all its versions. What it pinned stays where it is."""
    paper.delete()


def clean_title(title: str) -> str:
    """Return a title as it is stored, or refuse it."""
    title = " ".join(storable(title).split())
    if not title:
        raise PaperRefused("a paper needs a title")
    if len(title) > LONGEST_TITLE:
        raise PaperRefused(f"a title has at most {LONGEST_TITLE} characters; this has {len(title)}")
    return title


def _check(blocks: Sequence[AnyBlock]) -> None:
    if len(blocks) > MOST_BLOCKS:
        raise PaperRefused(
            f"a paper has at most {MOST_BLOCKS} texts and pins; this would have {len(blocks)}. "
            "Begin a second paper, or remove some"
        )
    for block in blocks:
        if isinstance(block, TextBlock) and len(block.text) > LONGEST_TEXT:
            raise PaperRefused(
                f"a text has at most {LONGEST_TEXT:,} characters; one has {len(block.text):,}. "
                "Divide it into two"
            )
        if isinstance(block, PinBlock) and len(block.caption) > LONGEST_CAPTION:
            raise PaperRefused(f"a caption has at most {LONGEST_CAPTION:,} characters")


def with_kept(
    blocks: Sequence[AnyBlock], stored: Sequence[AnyBlock], keep: frozenset[str]
) -> list[AnyBlock]:
    """Return the blocks with those of ``keep`` as they are stored: where the editor has them, or
    after the block that they follow.
    """
    known = {block.id: block for block in stored}
    merged = [known[block.id] if block.id in keep and block.id in known else block
              for block in blocks]  # fmt: skip
    here = {block.id for block in merged}
    previous = ""
    for block in stored:
        if block.id in keep and block.id not in here:
            places = [place for place, one in enumerate(merged, 1) if one.id == previous]
            merged.insert(places[0] if places else len(merged) if previous else 0, block)
        previous = block.id
    return merged


@contextmanager
def _locked(paper: Paper) -> Iterator[PaperVersion]:
    """Open a transaction in which nobody else saves the paper; yield its newest version."""
    with transaction.atomic():
        Paper.objects.select_for_update().get(pk=paper.pk)
        yield latest_version(paper)


def _next(
    paper: Paper,
    latest: PaperVersion,
    title: str,
    blocks: Sequence[AnyBlock],
    words: str,
    by: User,
) -> PaperVersion:
    _check(blocks)
    return _add_version(paper, latest.number + 1, title, blocks, words, by)


def _add_version(
    paper: Paper, number: int, title: str, blocks: Sequence[AnyBlock], words: str, by: User
) -> PaperVersion:
    version = PaperVersion.objects.create(
        paper=paper, number=number, title=title, blocks=stored_blocks(blocks), words=words[:200],
        by=by,
    )  # fmt: skip
    Paper.objects.filter(pk=paper.pk).update(title=title, updated_at=timezone.now())
    return version


def _store(paper: Paper, found: SourceReport, content: str) -> str:
    digest = digest_of(found.source, content)
    PaperPart.objects.get_or_create(
        paper=paper,
        digest=digest,
        defaults={
            "content": content,
            "runs": sorted(found.runs),
            "studies": sorted(found.studies),
            "trajectory": found.trajectory,
        },
    )
    return digest
