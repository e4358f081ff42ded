"""The texts shown before the first item (information, consent), and the answers to them."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User

from annotation.models import Consent, Study, StudyText

Kind = StudyText.Kind
BULLETS = ("- ", "* ", "• ")


@dataclass(frozen=True)
class TextBlock:
    """A paragraph, or a list of ``items``. Everything in it is plain text."""

    text: str = ""
    items: tuple[str, ...] = ()


def text_blocks(text: str) -> list[TextBlock]:
    """Return paragraphs and lists of a plain text.

    An empty line ends a paragraph; a line that begins with "- " is an item of a list, and lines
    after it that are indented go on with it.
    """
    blocks: list[TextBlock] = []
    lines: list[str] = []
    items: list[str] = []

    def end() -> None:
        if lines:
            blocks.append(TextBlock(text="\n".join(lines)))
        if items:
            blocks.append(TextBlock(items=tuple(items)))
        lines.clear()
        items.clear()

    for line in [*text.splitlines(), ""]:
        bare = line.strip()
        if bare.startswith(BULLETS):
            if lines:
                end()
            items.append(bare[2:].strip())
        elif bare and items and line[:1].isspace():
            items[-1] += f" {bare}"
        else:
            if items or not bare:
                end()
            if bare:
                lines.append(bare)
    return blocks


def text_version(study: Study, kind: str) -> int:
    """Return the version of a text that annotators have to read now; 0 where there is none."""
    if kind == Kind.CONSENT:
        return study.consent_version
    return int(study.settings.get("information_version", 0))


def current_text(study: Study, kind: str) -> StudyText | None:
    """Return the text that annotators have to read now."""
    version = text_version(study, kind)
    return study.texts.filter(kind=kind, version=version).first() if version else None


def text_versions(study: Study, kind: str) -> Sequence[StudyText]:
    """Return all versions of a text, the newest first."""
    return list(study.texts.filter(kind=kind).select_related("by").order_by("-version"))


def has_read_information(study: Study, user: User) -> bool:
    """Return whether this person has read the information as it is now, or there is none."""
    version = text_version(study, Kind.INFORMATION)
    if not version:
        return True
    read = Consent.objects.filter(study=study, user=user, given=True)
    return read.filter(text__kind=Kind.INFORMATION, text__version=version).exists()


def latest_consent(study: Study, user: User) -> Consent | None:
    """Return what this person answered last to a consent text of the study."""
    rows = Consent.objects.filter(study=study, user=user, text__kind=Kind.CONSENT)
    return rows.select_related("text").order_by("-pk").first()
