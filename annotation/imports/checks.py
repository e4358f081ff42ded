"""Check that a study document is consistent: its people, and each answer against its question."""

from collections.abc import Iterator

from annotation.assignments.dealing import PARTS
from annotation.errors import Refused
from annotation.exports.head import described
from annotation.exports.study_schema import (
    AssignmentIn,
    DocumentEditIn,
    ItemIn,
    QuestionnaireIn,
    StudyDocument,
)
from annotation.imports.matching import duplicates
from annotation.imports.reading import MOST_PROBLEMS
from annotation.models import Aspect, Assignment, Item, StoredQuestionnaire
from annotation.questionnaires import (
    Questionnaire,
    QuestionnaireError,
    load_questionnaire,
    read_questionnaire,
)
from annotation.ratings.checks import check_answer

Questionnaires = dict[str, Questionnaire]


def read_questionnaires(document: StudyDocument) -> Questionnaires:
    """Return the questionnaires of a document by id; refused where one means something else
    here.
    """
    questionnaires: Questionnaires = {}
    for given in document.questionnaires:
        questionnaires[given.id] = _same_here(given)
    study = document.study
    for id in (study.questionnaire, study.background):
        if id and id not in questionnaires:
            raise Refused("invalid", f"the file does not hold its questionnaire {id!r}")
    return questionnaires


def _same_here(given: QuestionnaireIn) -> Questionnaire:
    try:
        written = read_questionnaire(given.text, source=given.id, id=given.id)
    except QuestionnaireError as error:
        raise Refused("invalid", str(error)) from None
    try:
        known = load_questionnaire(given.id)
    except QuestionnaireError:
        known = written
    for what, questionnaire in (("reads here", written), ("is stored here", known)):
        description = described(questionnaire)
        strange = [
            name
            for name, value in (given.model_extra or {}).items()
            if name not in description or description[name] != value
        ]
        if strange:
            raise Refused(
                "invalid",
                f"the questionnaire {given.id} {what} with other {', '.join(strange)} than in the "
                "file; answers to it would mean something else",
            )
    return written


def store_questionnaires(document: StudyDocument) -> None:
    """Store those that are not here yet."""
    for given in document.questionnaires:
        try:
            load_questionnaire(given.id)
        except QuestionnaireError:
            name, _, version = given.id.partition("@")
            StoredQuestionnaire.objects.create(name=name, version=int(version), text=given.text)


def check_whole(document: StudyDocument, questionnaires: Questionnaires) -> None:
    """Refuse a document that contradicts itself; the first problems are named."""
    problems = []
    for problem in _problems(document, questionnaires):
        problems.append(problem)
        if len(problems) == MOST_PROBLEMS:
            break
    if problems:
        raise Refused("invalid", "; ".join(problems))


def _problems(document: StudyDocument, questionnaires: Questionnaires) -> Iterator[str]:
    items = {item.number: item for item in document.items}
    raters = {person.rater for person in document.people}
    for what, keys in (
        ("item", [item.number for item in document.items]),
        ("rater", [person.rater for person in document.people]),
        ("number of a rater", [person.number for person in document.people]),
        ("place", [place.number for place in document.places]),
        ("rater of a place", [place.rater for place in document.places if place.rater]),
        ("text", [(text.kind, text.version) for text in document.texts]),
        (
            "position",
            [
                (assignment.rater, assignment.part, assignment.position)
                for assignment in document.assignments
            ],
        ),
    ):
        for key in duplicates(keys):
            yield f"{what} {key} stands twice"
    yield from _place_problems(document, set(items), raters)
    texts = {(text.kind, text.version) for text in document.texts}
    for person in document.people:
        for consent in person.consents:
            if (consent.kind, consent.version) not in texts:
                yield f"{person.rater} answered a text that the file does not hold"
    for number, assignment in enumerate(document.assignments, 1):
        item = items.get(assignment.item)
        if item is None or assignment.rater not in raters:
            who = "item" if item is None else "rater"
            name = getattr(assignment, who)
            yield f"seat {number} names the {who} {name}, which is not in the file"
        elif PARTS[Item.Use(item.use)] != assignment.part:
            yield f"seat {number} is in the part {assignment.part}, and its item is for {item.use}"
        else:
            yield from _assignment_problems(document, questionnaires, number, assignment, item)
    for number, row in enumerate(document.adjudications, 1):
        if row.item not in items:
            yield f"adjudication {number} names the item {row.item}, which is not in the file"
        elif row.value is None and row.chosen is None:
            yield f"adjudication {number} decides nothing"


def _place_problems(document: StudyDocument, items: set[int], raters: set[str]) -> Iterator[str]:
    for place in document.places:
        if place.rater is not None and place.rater not in raters:
            yield f"place {place.number} names the rater {place.rater}, which is not in the file"
        if missing := sorted(set(place.items) - items):
            yield f"place {place.number} names the item {missing[0]}, which is not in the file"
        for key in duplicates(place.items):
            yield f"place {place.number} holds the item {key} twice"


def _assignment_problems(
    document: StudyDocument,
    questionnaires: Questionnaires,
    number: int,
    assignment: AssignmentIn,
    given: ItemIn,
) -> Iterator[str]:
    study = document.study
    background = assignment.part == Assignment.Part.BACKGROUND
    questionnaire = questionnaires.get(study.background if background else study.questionnaire)
    if questionnaire is None:
        yield f"seat {number} is about annotators, and the study asks nothing about them"
        return
    item = Item(asked=given.asked, subjects=given.subjects)
    undone: set[int] = set()
    for place, edit in enumerate(assignment.edits, 1):
        problem = (
            _undo_problem(assignment, place, edit, undone)
            if edit.undoes is not None
            else _answer_problem(item, questionnaire, edit)
        )
        if problem:
            yield f"seat {number}, edit {place}: {problem}"


def _undo_problem(
    assignment: AssignmentIn, place: int, edit: DocumentEditIn, undone: set[int]
) -> str:
    """Return what is wrong with taking something back."""
    number = edit.undoes or 0
    if not 1 <= number < place or number in undone:
        return f"undoes {number}, which is no earlier edit that stands"
    before = assignment.edits[number - 1]
    if _place(before) != _place(edit) or before.undoes is not None:
        return f"undoes {number}, which was said elsewhere"
    undone.add(number)
    standing = [
        earlier
        for n, earlier in enumerate(assignment.edits[: place - 1], 1)
        if earlier.undoes is None and n not in undone and _place(earlier) == _place(edit)
    ]
    leads_to = (standing[-1].value, standing[-1].chosen, standing[-1].text) if standing else None
    if (edit.value, edit.chosen, edit.text) != (leads_to or (None, None, "")):
        return f"undoes {number} and leads to something else than what was said before"
    return ""


def _place(edit: DocumentEditIn) -> tuple[str, str, str]:
    return edit.question, edit.subject, edit.aspect


def _answer_problem(item: Item, questionnaire: Questionnaire, edit: DocumentEditIn) -> str:
    """Return what is wrong with an answer; one that says nothing was blanked and is no problem."""
    if edit.aspect == Aspect.FLAG and edit.value and not edit.text:
        return ""
    try:
        check_answer(
            item=item, questionnaire=questionnaire, question=edit.question, subject=edit.subject,
            aspect=edit.aspect, value=edit.value, chosen=edit.chosen, text=edit.text,
        )  # fmt: skip
    except Refused as refused:
        return refused.reason
    return ""
