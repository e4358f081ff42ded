"""The form of a paper, read into a draft: texts, order, and what was chosen of each pin."""

from collections.abc import Iterable, Mapping, Sequence

from django.contrib.auth.models import User
from django.http import QueryDict

from analysis.exports.table_choice import WIDTHS, read_digits
from analysis.models import Paper, PaperVersion
from analysis.papers.blocks import MOST_BLOCKS, PinBlock, TextBlock, new_id, read_blocks
from analysis.papers.selectors import GONE, ShownPin, reopened
from analysis.papers.services import AnyBlock, Draft, PaperRefused, decide, store_content
from analysis.papers.sources import SourceGone
from benchmarks.core.digests import storable
from benchmarks.paging import as_id
from benchmarks.visibility import Visibility

# What the buttons of the form do beside saving it.
ACTIONS = ("text", "remove", "up", "down")
# The decision to remove a pin whose content was deleted.
REMOVE = f"remove:{GONE}"


def read_draft(
    paper: Paper, params: QueryDict, unseen: frozenset[str], user: User, seen: Visibility
) -> tuple[Draft, str, list[str]]:
    """Return what a posted form wants, what its button did in words, and which decisions about
    newer content could not be carried out: these pins stay as they are.

    ``unseen`` are blocks that the person may not see.
    """
    base, began = (as_id(params.get(name, "")) or 0 for name in ("base", "began"))
    known = _known_blocks(paper, (began, base))
    given = list(dict.fromkeys(params.getlist("block")))[: 2 * MOST_BLOCKS]
    blocks = [_read_block(known[key], params) for key in given if key in known]
    problems = []
    for place, block in enumerate(blocks):
        if isinstance(block, PinBlock) and block.id not in unseen:
            try:
                decision = params.get(f"decide-{block.id}", "")
                blocks[place] = decided(paper, block, decision, user, seen)
            except (PaperRefused, SourceGone) as problem:
                problems.append(f"“{block.title}” stays as it was: {problem}.")
    blocks = [block for block in blocks if params.get(f"decide-{block.id}") != REMOVE]
    name, _, target = params.get("action", "").partition(":")
    acted, words = _acted(blocks, name, target, unseen)
    return Draft(base, params.get("title", ""), acted, unseen), words, problems


def _known_blocks(paper: Paper, numbers: Iterable[int]) -> Mapping[str, AnyBlock]:
    """Return the blocks of these versions and of the newest, the newest of each id."""
    rows = {row.number: row for row in paper.versions.filter(number__in=numbers)}
    versions: Sequence[PaperVersion] = [
        *(rows[number] for number in numbers if number in rows),
        *paper.versions.order_by("-number")[:1],
    ]
    return {block.id: block for version in versions for block in read_blocks(version.blocks)}


def _read_block(block: AnyBlock, params: QueryDict) -> AnyBlock:
    if isinstance(block, TextBlock):
        text = params.get(f"text-{block.id}")
        if text is None:
            return block
        return block.model_copy(update={"text": storable(text.replace("\r\n", "\n"))})
    if f"settings-{block.id}" not in params:
        return block
    return block.model_copy(
        update={
            "width": WIDTHS.get(params.get(f"width-{block.id}", ""), block.width),
            "digits": read_digits(params.get(f"digits-{block.id}", "")),
            "columns": tuple(params.getlist(f"column-{block.id}")[:100]),
            "caption": storable(" ".join(params.get(f"caption-{block.id}", "").split())),
        }
    )


def decided(paper: Paper, block: PinBlock, decision: str, user: User, seen: Visibility) -> PinBlock:
    """Return a pin after a decision such as ``take:DIGEST`` about its newer content."""
    choice, _, digest = decision.partition(":")
    if choice not in ("take", "keep"):
        return block
    if (choice, digest) == ("keep", GONE):
        return block.model_copy(update={"kept": GONE})
    found = reopened(block, user, seen)
    after = decide(block, found, digest, take=choice == "take")
    if choice == "take":
        store_content(paper, found, block.part)
    return after


def _acted(
    blocks: Sequence[AnyBlock], name: str, target: str, unseen: frozenset[str]
) -> tuple[list[AnyBlock], str]:
    """Return the blocks after what a button does, and that in words."""
    changed = list(blocks)
    place = next((place for place, block in enumerate(changed) if block.id == target), None)
    if name == "text":
        changed.insert(0 if place is None else place + 1, TextBlock(id=new_id()))
        return changed, "Added a text"
    if name not in ACTIONS or place is None or target in unseen:
        return changed, "Saved"
    block = changed.pop(place)
    if name == "remove":
        title = block.title if isinstance(block, PinBlock) else "a text"
        return changed, f"Removed {title}"
    changed.insert(max(0, place - 1) if name == "up" else place + 1, block)
    return changed, "Changed the order"


def hidden_ids(shown: Iterable[TextBlock | ShownPin]) -> frozenset[str]:
    """Return the ids of pins that a person may not see."""
    return frozenset(pin.block.id for pin in shown if isinstance(pin, ShownPin) and pin.hidden)
