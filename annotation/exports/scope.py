"""The part of a study that somebody may export, under names or pseudonyms."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from django.contrib.auth.models import User
from django.utils.crypto import salted_hmac

from annotation.access import StudyAccess
from annotation.assignments.selectors import count_gone
from annotation.models import Participant, Study
from annotation.questionnaires import Questionnaire, load_questionnaire

# What a study that was imported remembers of where it came from, in its settings.
IMPORTED = "imported"


Standing = Participant.State


def pseudonym(*, study: int, user: int, role: str = "rater") -> str:
    """Return the name for a person in one study: stable, and another one in every study.

    It is derived with the installation's secret key, so nobody else can try names out.
    """
    return f"{role}-" + salted_hmac("annotation.exports", f"{study}:{user}").hexdigest()[:12]


class Pseudonyms:
    """The pseudonyms of a study's people; one that was imported keeps those of its file."""

    def __init__(self, study: Study) -> None:
        self.study = study.pk
        self.kept: dict[str, str] = study.settings.get(IMPORTED, {}).get("people", {})

    def rater(self, user: int) -> str:
        """Return the pseudonym of an annotator."""
        return self._of(user, "rater")

    def staff(self, user: int) -> str:
        """Return the pseudonym of somebody who runs the study."""
        return self._of(user, "staff")

    def _of(self, user: int, role: str) -> str:
        kept = self.kept.get(str(user))
        return kept or pseudonym(study=self.study, user=user, role=role)


def study_key(study: Study) -> str:
    """Return the name of a study in files: the same in every export of it, here and where it
    goes.
    """
    kept: str | None = study.settings.get(IMPORTED, {}).get("key")
    stamp = f"{study.pk}:{study.created_at.isoformat()}"
    return kept or "study-" + salted_hmac("annotation.studies", stamp).hexdigest()[:12]


@dataclass(frozen=True)
class Scope:
    """A study as one export shows it.

    ``only``: this person's own answers alone, without what tells of agents, because they annotate
    blind. ``names`` adds the names of accounts. ``withdrawn`` adds those who withdrew; whoever was
    erased is in no export.
    """

    study: Study
    only: User | None = None
    names: bool = False
    withdrawn: bool = False

    @property
    def blind(self) -> bool:
        return self.only is not None

    @cached_property
    def key(self) -> str:
        """The name of the study in files."""
        return study_key(self.study)

    @cached_property
    def pseudonyms(self) -> Pseudonyms:
        """The pseudonyms of its people."""
        return Pseudonyms(self.study)

    @cached_property
    def questionnaires(self) -> dict[str, Questionnaire]:
        """Its questionnaires by part: the one on items, and the one on annotators, if any."""
        by_part = {"main": load_questionnaire(self.study.questionnaire)}
        by_part["training"] = by_part["main"]
        if self.study.background:
            by_part["background"] = load_questionnaire(self.study.background)
        return by_part

    @cached_property
    def people(self) -> list[Participant]:
        """The annotators who are in this export, by their numbers."""
        rows = self.study.participants.select_related("user__annotator").order_by("number")
        if self.only is not None:
            return list(rows.filter(user=self.only))
        return list(rows.exclude(state__in=self.gone))

    @cached_property
    def left_out(self) -> dict[str, int]:
        """The number of annotators who are left out because they withdrew or were erased."""
        here = count_gone(self.study)
        before = self.study.settings.get(IMPORTED, {}).get("left_out", {})
        return {
            str(state): before.get(state, 0) + (here[state] if state in self.gone else 0)
            for state in Participant.GONE
        }

    @property
    def gone(self) -> Sequence[str]:
        """The states of those who are not in this export."""
        if not self.withdrawn:
            return Participant.GONE
        return [state for state in Participant.GONE if state != Standing.WITHDRAWN]


def scope_of(access: StudyAccess, *, names: bool = False, withdrawn: bool = False) -> Scope:
    """Return what somebody gets: everything, or their own answers while they annotate blind."""
    only = access.user if access.blind else None
    return Scope(access.study, only, names and access.manages, withdrawn and only is None)


def is_simulated(person: Participant) -> bool:
    """Return whether an annotator is a program."""
    about = getattr(person.user, "annotator", None)
    return bool(about and about.is_simulated)
