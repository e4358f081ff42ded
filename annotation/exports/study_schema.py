"""The schema of a study's document, as it is exported and imported."""

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    FiniteFloat,
    ValidationError,
)

from annotation.annotator_quality.rule import MOST_SECONDS, GoldRule
from annotation.models import Aspect, Assignment, Item, Participant, Study, StudyText
from annotation.plans.adjudication_rule import MOST_POINTS, OWN_FIRST, SEES

Count = Field(ge=0, le=2**31 - 1)
Big = Field(ge=-(2**63), le=2**63 - 1)


def _within_the_calendar(moment: datetime) -> datetime:
    try:
        year = moment.astimezone(UTC).year
    except OverflowError:
        year = 0
    if not 1970 <= year < 9999:
        raise ValueError("expected a moment from the years 1970 to 9998")
    return moment


# Databases and pages take no moment at the edges of the calendar in every time zone.
Moment = Annotated[AwareDatetime, AfterValidator(_within_the_calendar)]


class StrictDocument(BaseModel):
    """A field that is not known is refused, not ignored."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class SettingsPart(BaseModel):
    """A part of a study's settings of which some fields are read; the others are kept."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)


class PlanItemsIn(SettingsPart):
    runs: list[int] | None = None


class PlanIn(SettingsPart):
    items: PlanItemsIn | None = None
    training: list[dict[str, Any]] = []
    gold: list[dict[str, Any]] = []


class DesignIn(SettingsPart):
    runs: list[int] | None = None
    plan: PlanIn | None = None


class LabelsIn(SettingsPart):
    agents: list[str] = []
    others: list[str] = []


class SettingsIn(SettingsPart):
    """The settings that pages and imports of a study read."""

    design: DesignIn | None = None
    labels: LabelsIn = LabelsIn()
    gold_rule: GoldRule | None = None
    least_seconds: int | None = Field(None, ge=0, le=MOST_SECONDS)
    training_rounds: int = Field(2, ge=0, le=1000)
    adjudicate_from: int = Field(2, ge=0, le=MOST_POINTS)
    adjudicator_sees: Literal[tuple(SEES)] = OWN_FIRST  # type: ignore[valid-type]


def _checked_settings(value: dict[str, Any]) -> dict[str, Any]:
    try:
        SettingsIn.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        raise ValueError(f"{place_words(first['loc'])}: {first['msg']}") from None
    return value


class StudyIn(StrictDocument):
    key: str = Field(pattern=r"^study-[0-9a-f]{12}$")
    name: str = Field(min_length=1, max_length=160)
    kind: str = Field(max_length=40)
    questionnaire: str = Field(max_length=80)
    background: str = Field(max_length=80)
    dealing: Literal[tuple(Study.Dealing.values)]  # type: ignore[valid-type]
    lease_minutes: int = Count
    idle_seconds: int = Count
    break_minutes: int = Count
    trains: bool
    pass_mark: FiniteFloat
    consent_version: int = Field(ge=0, le=32_767)
    blinded: bool
    shows_hidden: bool
    # Documents of earlier versions lack these three: their annotators saw every verdict.
    verdicts: Literal[tuple(Study.Verdicts.values)] = "all"  # type: ignore[valid-type]
    question_order: Literal[tuple(Study.QuestionOrder.values)] = (  # type: ignore[valid-type]
        "fixed"
    )
    gold_feedback: bool = False
    turn_by_turn: bool = False
    seed: int = Big
    closes_at: Moment | None
    created_at: Moment
    settings: Annotated[dict[str, Any], AfterValidator(_checked_settings)]


class QuestionnaireIn(BaseModel):
    """A questionnaire of the file: what stands beside ``text`` is compared with what the text
    comes to here.
    """

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)
    id: str = Field(max_length=80)
    text: str


class TextIn(StrictDocument):
    kind: Literal[tuple(StudyText.Kind.values)]  # type: ignore[valid-type]
    version: int = Field(ge=1, le=32_767)
    text: str
    at: Moment


class DatasetIn(StrictDocument):
    key: int = Count
    system: str
    name: str
    version: str
    licence: str
    checksum: str


class RunIn(StrictDocument):
    key: int = Count
    dataset: int = Count
    agent: str
    agent_title: str
    kind: str
    level: str
    condition: str
    seed: int = Big
    checksum: str


class ConsentIn(StrictDocument):
    kind: Literal[tuple(StudyText.Kind.values)]  # type: ignore[valid-type]
    version: int = Count
    given: bool
    at: Moment


class PersonIn(StrictDocument):
    rater: str = Field(pattern=r"^rater-[0-9a-f]{12}$")
    annotator: str = ""
    number: int = Count
    state: Literal[tuple(Participant.State.values)]  # type: ignore[valid-type]
    training: Literal[tuple(Participant.Training.values)]  # type: ignore[valid-type]
    consent_version: int = Field(ge=0, le=32_767)
    told_background: bool
    guidelines_read_at: Moment | None = None
    unblinded_at: Moment | None
    joined_at: Moment
    simulated: bool
    consents: list[ConsentIn]


class PlaceIn(StrictDocument):
    number: int = Count
    rater: str | None
    claimed_at: Moment | None
    items: list[Annotated[int, Count]]


class TaskIn(StrictDocument):
    dataset: int = Count
    id: str


class TrajectoryIn(StrictDocument):
    run: int = Count
    level: str
    attempt: int = Count


class ItemIn(StrictDocument):
    number: int = Count
    use: Literal[tuple(Item.Use.values)]  # type: ignore[valid-type]
    wanted: int = Count
    asked: list[str]
    subjects: dict[str, list[str]]
    expected: dict[str, Any]
    task: TaskIn | None
    trajectory: TrajectoryIn | None
    other: TrajectoryIn | None = None
    fingerprint: str | None


class DocumentEditIn(StrictDocument):
    question: str = Field(max_length=60)
    subject: str = Field("", max_length=80)
    aspect: Literal[tuple(Aspect.values)] = Aspect.ANSWER.value  # type: ignore[valid-type]
    value: int | None = Field(None, ge=-32_768, le=32_767)
    chosen: list[Any] | None = None
    text: str = ""
    undoes: int | None = None
    unblinded: bool = False
    client_time: Moment | None = None
    at: Moment


class AssignmentIn(StrictDocument):
    rater: str
    item: int = Count
    part: Literal[tuple(Assignment.Part.values)]  # type: ignore[valid-type]
    position: int = Count
    state: Literal[tuple(Assignment.State.values)]  # type: ignore[valid-type]
    skip_reason: str
    note: str = ""
    active_ms: int = Field(ge=0, le=2**63 - 1)
    opened_at: Moment | None
    submitted_at: Moment | None
    verdicts: str = Field("", max_length=8)
    rotation: int = Field(0, ge=0, le=32_767)
    swapped: bool = False
    revealed: int | None = Field(None, ge=1, le=32_767)
    edits: list[DocumentEditIn]


class AdjudicationIn(StrictDocument):
    item: int = Count
    question: str = Field(max_length=60)
    subject: str = Field(max_length=80)
    value: int | None = Field(ge=-32_768, le=32_767)
    chosen: list[Any] | None
    reason: str
    revealed: bool
    # Documents of earlier versions lack it: their adjudicators saw the raters' answers first.
    saw_raters: bool = True
    by: str = Field(pattern=r"^staff-[0-9a-f]{12}$")
    at: Moment


class StudyDocument(StrictDocument):
    format: Literal["planjury-study"]
    schema_version: int
    local: dict[str, Any]
    study: StudyIn
    left_out: dict[Literal["withdrawn", "erased"], int]
    questionnaires: list[QuestionnaireIn]
    texts: list[TextIn]
    datasets: list[DatasetIn]
    runs: list[RunIn]
    people: list[PersonIn]
    # Documents of earlier versions lack this.
    places: list[PlaceIn] = Field(default_factory=list)
    items: list[ItemIn]
    # Documents keep this key from their first version.
    assignments: list[AssignmentIn] = Field(alias="seats")
    adjudications: list[AdjudicationIn]
    events: list[dict[str, Any]] = Field(default_factory=list)
    columns: list[str]
    rows: list[Any]


def place_words(parts: tuple[int | str, ...]) -> str:
    """Return where a field stands, counting from one: ``seats 3, edits 1, at``."""
    words: list[str] = []
    for part in parts:
        if isinstance(part, int) and words:
            words[-1] += f" {part + 1}"
        else:
            words.append(str(part))
    return ", ".join(words)
