"""The data of the page on quality: signs of carelessness by annotator, and agreement so far."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from analysis.frames.submitted_answers import Rater, SubmittedAnswers
from analysis.reports import addresses
from analysis.reports.content import Badge, Cell, text_cell
from analysis.stats.annotators.comparison_notes import ComparisonNote
from analysis.stats.annotators.drift import Drift
from analysis.stats.annotators.rater_quality import Speed
from analysis.stats.annotators.straight_lining import StraightLining
from analysis.stats.descriptive.spread import Quartiles
from analysis.stats.rater_agreement.reliability import Reliability, SetAgreement
from analysis.stats.results import RESAMPLES, Estimate
from annotation.models import Study
from annotation.questionnaires import Question

SEED = 20251208
MOST_NOTICES = 6
SIMULATED = Badge("simulated", "aside", "A script, not a person.")


@dataclass(frozen=True)
class SignsByRater:
    """What is counted of every annotator by account.

    ``signs`` are those of carelessness, by the study's rules, as Overview shows them; ``notes`` say
    where somebody differs from the others.
    """

    gold: Mapping[Hashable, Estimate]
    drifts: Mapping[Hashable, Drift]
    straight: Mapping[Hashable, StraightLining]
    speeds: Mapping[Hashable, Speed]
    times: Mapping[int, Quartiles]
    items: Mapping[int, int]
    signs: Mapping[int, Sequence[str]]
    notes: tuple[ComparisonNote, ...]


@dataclass(frozen=True)
class QuestionAgreement:
    """The agreement of people on one question: scores and choices, or sets of marks."""

    question: Question
    found: Reliability | SetAgreement


@dataclass(frozen=True)
class RaterSigns:
    """One annotator with every sign, crossed or not."""

    rater: Rater
    study: Study
    signs: SignsByRater

    @property
    def name(self) -> str:
        return self.rater.name

    @property
    def cell(self) -> Cell:
        """The name, leading to the answers."""
        return text_cell(
            self.name,
            url=addresses.address(
                "annotation:annotator", pk=self.study.pk, number=self.rater.number
            ),
            badges=(SIMULATED,) if self.rater.simulated else (),
        )

    @property
    def items(self) -> int:
        return self.signs.items[self.rater.user]

    @property
    def gold(self) -> Estimate:
        return self.signs.gold[self.rater.user]

    @property
    def drift(self) -> Drift | None:
        return self.signs.drifts.get(self.rater.user)

    @property
    def straight(self) -> StraightLining | None:
        return self.signs.straight.get(self.rater.user)

    @property
    def speed(self) -> Speed:
        return self.signs.speeds[self.rater.user]

    @property
    def times(self) -> Quartiles:
        return self.signs.times[self.rater.user]


@dataclass(frozen=True)
class RaterSign:
    """A sign of careless work of one annotator, in words."""

    rater: RaterSigns
    text: str


@dataclass(frozen=True)
class RaterNote:
    """A note that one annotator differs from the others."""

    rater: RaterSigns
    note: ComparisonNote


@dataclass(frozen=True)
class QualityResult:
    """The annotators with their signs, and agreement by question."""

    data: SubmittedAnswers
    signs: SignsByRater
    raters: tuple[RaterSigns, ...]
    agreed: tuple[QuestionAgreement, ...]

    @property
    def warnings(self) -> list[RaterSign]:
        """The signs of careless work, annotator by annotator."""
        return [
            RaterSign(rater, f"{words[:1].upper()}{words[1:]}.")
            for rater in self.raters
            for words in self.signs.signs.get(rater.rater.user, ())
        ]

    @property
    def notes(self) -> list[RaterNote]:
        """Where annotators differ from the others, annotator by annotator."""
        return [
            RaterNote(rater, note)
            for rater in self.raters
            for note in self.signs.notes
            if note.rater == rater.rater.user
        ]

    @property
    def first_warnings(self) -> list[RaterSign]:
        """The signs that stand over everything else."""
        return self.warnings[:MOST_NOTICES]

    @property
    def further_warnings(self) -> int:
        return len(self.warnings) - len(self.first_warnings)

    @property
    def warned(self) -> list[str]:
        """The annotators with signs."""
        return list(dict.fromkeys(one.rater.name for one in self.warnings))

    @property
    def simulated(self) -> int:
        return sum(one.rater.simulated for one in self.raters)

    @property
    def answered_twice(self) -> bool:
        """Return whether any question has two answers to one item."""
        return any(row.found.items for row in self.agreed)

    @property
    def gold_items(self) -> int:
        return sum(bool(item.expected) for item in self.data.items.values())

    @property
    def counted(self) -> int:
        """The number of submitted items that are no gold items."""
        return len(self.data.main)

    @property
    def gold_answers(self) -> int:
        return len(self.data.submissions) - len(self.data.main)

    @property
    def seed(self) -> int:
        return SEED

    @property
    def resamples(self) -> int:
        return RESAMPLES
