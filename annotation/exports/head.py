"""The part of an export that describes the study: design, questionnaires, sources and people."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.db.models import Min, QuerySet
from django.utils import timezone

from annotation.exports.columns import FORMAT, LOCAL_COLUMNS, SCHEMA_VERSION
from annotation.exports.scope import IMPORTED, Scope, is_simulated
from annotation.exports.sources import origin_of
from annotation.models import Consent, Item
from annotation.plans.adjudication_rule import (
    ADJUDICATE_FROM,
    ADJUDICATOR_SEES,
    adjudicate_from,
    adjudicator_sees,
)
from annotation.plans.retention_rule import RETENTION
from annotation.questionnaires import Question, Questionnaire, questionnaire_text
from annotation.questionnaires.decisions import DECISIONS
from annotation.studies.design import DRAWN, study_certificate
from benchmarks.models import Dataset, Run

Json = dict[str, Any]
# Of a study's row, what belongs to the study wherever it is.
STUDY_FIELDS = (
    "name", "kind", "questionnaire", "background", "dealing", "lease_minutes", "idle_seconds",
    "break_minutes", "trains", "pass_mark", "consent_version", "blinded", "shows_hidden",
    "verdicts", "question_order", "gold_feedback", "turn_by_turn", "seed", "closes_at",
    "created_at",
)  # fmt: skip
PERSON_FIELDS = (
    "number", "state", "training", "consent_version", "told_background", "guidelines_read_at",
    "unblinded_at", "joined_at",
)  # fmt: skip
SPECIAL = frozenset({"training", "gold"})
# Settings that say something about this installation: where a study came from, which demo it is,
# how long it is kept here.
LOCAL_SETTINGS = (IMPORTED, "demo", RETENTION)


def study_head(scope: Scope) -> Json:
    """Return the study with its whole design, its questionnaires and its texts; no people, no
    items.
    """
    study = scope.study
    texts = study.texts.order_by("kind", "version").values("kind", "version", "text", "at")
    settings = {k: v for k, v in study.settings.items() if k not in LOCAL_SETTINGS}
    settings |= {
        ADJUDICATE_FROM: adjudicate_from(study), ADJUDICATOR_SEES: adjudicator_sees(study),
    }  # fmt: skip
    settings = with_run_keys(settings, runs_of(scope))
    return {
        "format": FORMAT,
        "schema_version": SCHEMA_VERSION,
        "local": {
            "study": study.pk,
            "status": study.status,
            "is_demo": study.is_demo,
            "exported_at": timezone.now(),
            "columns": LOCAL_COLUMNS,
            "certificate": aliased(study_certificate(study).as_json(), aliases_of(scope)),
        },
        "study": {
            "key": scope.key,
            **{name: getattr(study, name) for name in STUDY_FIELDS},
            "settings": aliased(settings, aliases_of(scope)),
        },
        "left_out": scope.left_out,
        "questionnaires": list(_questionnaires(scope)),
        "texts": list(texts),
    }


def whole_head(scope: Scope) -> Json:
    runs = runs_of(scope)
    return {
        **study_head(scope),
        "datasets": _datasets(scope),
        "runs": _runs(scope, runs),
        "people": list(_people(scope)),
        "places": list(_places(scope)),
    }


def own_head(scope: Scope) -> Json:
    return {
        "format": FORMAT,
        "schema_version": SCHEMA_VERSION,
        "blind": "your own answers alone, because you still annotate in this study",
        "study": {"key": scope.key, "name": scope.study.name},
        "questionnaires": list(_questionnaires(scope)),
    }


def _questionnaires(scope: Scope) -> Iterator[Json]:
    """Yield each questionnaire in full and as it was written."""
    for questionnaire in {q.id: q for q in scope.questionnaires.values()}.values():
        yield {**described(questionnaire), "text": questionnaire_text(questionnaire.id)}


def described(questionnaire: Questionnaire) -> Json:
    """Return a questionnaire in full: with the words that come from a rubric."""
    own = list(questionnaire.own_criteria)
    return {
        "id": questionnaire.id,
        "title": questionnaire.title,
        "system": questionnaire.system,
        "unit": questionnaire.unit,
        "shows": sorted(questionnaire.shows),
        "instructions": list(questionnaire.instructions),
        **({"criteria": own} if own else {}),
        "sections": dict(questionnaire.sections),
        "questions": [_question(question) for question in questionnaire.questions],
    }


def _question(question: Question) -> Json:
    scale: Json = {"kind": question.scale.kind}
    if question.scale.kind in ("points", "text"):
        scale["most"] = question.scale.most
    if question.scale.kind == "choice":
        scale["options"] = [{"value": o.value, "label": o.label} for o in question.scale.options]
    if question.scale.kind == "spans":
        scale["labels"] = dict(question.scale.labels)
    if question.scale.kind == "marks":
        scale["of"] = question.scale.of or "all"
        if question.scale.each:
            scale["each"] = list(DECISIONS)
    return {
        "key": question.key,
        "number": question.number,
        "section": question.section,
        "title": question.title,
        "definition": question.definition,
        "dimension": question.dimension,
        "about": question.about,
        "scale": scale,
        "anchors": {str(point): words for point, words in question.anchors.items()},
        "examples": {str(point): words for point, words in question.examples.items()},
        "needs": sorted(question.needs),
        "required": question.required,
        **(
            {"when": {"question": when.question, "answers": list(when.answers)}}
            if (when := question.when)
            else {}
        ),
    }


def runs_of(scope: Scope) -> dict[int, int]:
    """Return the runs of a study's items by id: their numbers in the file, in the order of the
    items.
    """
    items = scope.study.items.all()
    numbers = _numbered(items, "trajectory__run")
    for pk in _numbered(items, "other__run"):
        numbers.setdefault(pk, len(numbers) + 1)
    return numbers


def datasets_of(scope: Scope) -> dict[int, int]:
    """Return the datasets of a study's tasks and runs by id: their numbers in the file."""
    items = scope.study.items.all()
    numbers = _numbered(items, "task__dataset")
    for pk in _numbered(items, "trajectory__run__dataset"):
        numbers.setdefault(pk, len(numbers) + 1)
    return numbers


def _numbered(items: QuerySet[Item], field: str) -> dict[int, int]:
    rows = items.filter(**{f"{field}__isnull": False}).order_by().values_list(field)
    first = rows.annotate(first=Min("rank")).order_by("first", field)
    return {pk: number for number, (pk, _) in enumerate(first, 1)}


def with_run_keys(settings: Mapping[str, Any], runs: Mapping[int, int]) -> Json:
    """Return the settings that name runs by their numbers in the file, or the other way round.

    Runs of the design from which no item came are left out: the file says nothing of them. So are
    ids of trajectories: who played in which, which were drawn with which probability, and which are
    training or gold items. Items say that.
    """
    design = settings.get("design")
    if not isinstance(design, dict):
        return dict(settings)
    design = {name: part for name, part in design.items() if name not in ("exclusions", DRAWN)}
    _rename_runs(design, runs)
    if isinstance(plan := design.get("plan"), dict):
        design["plan"] = plan = dict(plan)
        for name in SPECIAL.intersection(plan):
            plan[name] = [{k: v for k, v in row.items() if k != "trajectory"} for row in plan[name]]
        if isinstance(items := plan.get("items"), dict):
            plan["items"] = items = dict(items)
            _rename_runs(items, runs)
    return {**settings, "design": design}


def _rename_runs(part: Json, runs: Mapping[int, int]) -> None:
    if isinstance(part.get("runs"), list):
        part["runs"] = [runs[run] for run in part["runs"] if run in runs]


def _datasets(scope: Scope) -> list[Json]:
    numbers = datasets_of(scope)
    rows = Dataset.objects.in_bulk(numbers)
    return [
        {
            "key": number,
            **{
                name: getattr(rows[pk], name)
                for name in ("system", "name", "version", "licence", "checksum")
            },
        }
        for pk, number in numbers.items()
    ]


def _runs(scope: Scope, numbers: Mapping[int, int]) -> list[Json]:
    datasets = datasets_of(scope)
    rows = Run.objects.select_related("agent").in_bulk(numbers)
    return [
        {
            "key": number,
            "dataset": datasets[rows[pk].dataset_id],
            "agent": rows[pk].agent.name,
            "agent_title": rows[pk].agent.title,
            **origin_of(rows[pk].settings, rows[pk].kind, rows[pk].checksum),
            "level": rows[pk].level,
            "condition": rows[pk].condition,
            "seed": rows[pk].seed,
        }
        for pk, number in numbers.items()
    ]


def _people(scope: Scope) -> Iterator[Json]:
    given: dict[int, list[Json]] = {}
    consents = Consent.objects.filter(study=scope.study).order_by("pk")
    rows = consents.values_list("user", "text__kind", "text__version", "given", "at")
    for user, *values in rows:
        answer = dict(zip(("kind", "version", "given", "at"), values, strict=True))
        given.setdefault(user, []).append(answer)
    for person in scope.people:
        row: Json = {"rater": scope.pseudonyms.rater(person.user_id)}
        if scope.names:
            row["annotator"] = person.user.get_username()
        row |= {name: getattr(person, name) for name in PERSON_FIELDS}
        row["simulated"] = is_simulated(person)
        row["consents"] = given.get(person.user_id, [])
        yield row


def _places(scope: Scope) -> Iterator[Json]:
    """Yield the lists of a study, with whom each belongs to, where the file has them."""
    here = {person.user_id for person in scope.people}
    for place in scope.study.places.order_by("number"):
        rater = scope.pseudonyms.rater(place.user_id) if place.user_id in here else None
        yield {
            "number": place.number, "rater": rater, "claimed_at": rater and place.claimed_at,
            "items": place.ranks,
        }  # fmt: skip


def aliases_of(scope: Scope) -> dict[str, str]:
    """Return the names of accounts and their pseudonyms; none where names were asked for."""
    if scope.names:
        return {}
    study, aliases = scope.study, scope.pseudonyms
    raters = study.participants.values_list("user__username", "user")
    staff = study.memberships.exclude(role="annotator").values_list("user__username", "user")
    return {
        **{name: aliases.staff(user) for name, user in staff},
        **{name: aliases.rater(user) for name, user in raters},
    }


def aliased(value: Any, aliases: Mapping[str, str]) -> Any:
    """Return the settings and records without names: wherever a name stands alone, its pseudonym
    does.
    """
    if isinstance(value, dict):
        return {aliases.get(key, key): aliased(part, aliases) for key, part in value.items()}
    if isinstance(value, list):
        return [aliased(part, aliases) for part in value]
    return aliases.get(value, value) if isinstance(value, str) else value
