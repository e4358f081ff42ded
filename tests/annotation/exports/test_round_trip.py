"""An exported study can be made anew where the same trajectories are, and is the same then."""

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.management.base import CommandError

from annotation.errors import Refused
from annotation.exports.document import document_text
from annotation.exports.scope import Scope
from annotation.imports.reading import check_document, digest_of
from annotation.imports.services import ImportResult, import_study
from annotation.models import Participant, Rating, RatingEdit, StoredQuestionnaire, Study
from annotation.questionnaires import load_questionnaire, questionnaire_text
from annotation.ratings.selectors import human_scores
from annotation.studies.setup import NewItem, store_study
from annotation.submissions.services import refill_assignments
from benchmarks.models import Candidate, Dataset, Run, Task, Trajectory, Turn
from tests.annotation.exports.worlds import World, make_world, say
from tests.annotation.rows import SECRETS, make_person, make_runs

pytestmark = pytest.mark.django_db


@pytest.fixture
def world(db: None) -> World:
    return make_world()


def text_of(study: Study, **wishes: Any) -> str:
    return "".join(document_text(Scope(study, **wishes)))


def portable(text: str) -> str:
    """The file without what it declares to have a meaning on one installation alone."""
    (line,) = re.findall(r'^"local": \{.*\},$', text, re.MULTILINE)
    text = text.replace(line, "")
    for column in json.loads(line.removeprefix('"local": ').removesuffix(","))["columns"]:
        text = re.sub(rf'"{column}": (\d+|null)', "", text)
    return text


def brought(text: str, folder: Path, **how: Any) -> ImportResult:
    path = folder / "study.json"
    path.write_text(text, encoding="utf-8")
    return import_study(path=path, **how)


def elsewhere(run_first: bool = True) -> None:
    """Change ids, the order of runs and their number, as on another installation."""
    Dataset.objects.update(name="Old", checksum="old")
    first, second = make_runs()
    ids = [first.pk, second.pk]
    agents = [first.agent_id, second.agent_id]
    for pk, agent in zip(ids, reversed(agents), strict=True):
        Run.objects.filter(pk=pk).update(agent=agent)
    extra = Run.objects.create(dataset=first.dataset, agent=first.agent, level="mid", seed=5)
    assert extra.pk not in ids


def test_the_same_study_byte_for_byte(world: World, tmp_path: Path) -> None:
    text = text_of(world.study)
    elsewhere()
    made = brought(text, tmp_path, by=world.mia)
    assert made.created and made.study and made.study.pk != world.study.pk
    again = text_of(made.study)
    assert portable(again) == portable(text)
    assert again != text  # so that the comparison above leaves something out
    ids = {item.trajectory_id for item in made.study.items.exclude(trajectory=None)}
    assert not ids & set(world.study.items.values_list("trajectory", flat=True))
    assert made.match.notes == []


def test_lists_that_nobody_claimed_are_exported_and_imported(tmp_path: Path) -> None:
    ann, runs = make_person("ann"), make_runs()
    ids = Trajectory.objects.filter(run__in=runs).order_by("pk").values_list("pk", flat=True)
    study = Study(name="Lists", questionnaire="ten_questions@1", status=Study.Status.OPEN)
    items = [NewItem(trajectory=pk) for pk in ids[:4]]
    store_study(study=study, items=items, lists=[[1, 0], [3, 2]], people=[ann])
    text = text_of(study)
    assert [place["items"] for place in json.loads(text)["places"]] == [[2, 1], [4, 3]]
    elsewhere()
    made = brought(text, tmp_path)
    assert made.study is not None
    places = made.study.places.order_by("number")
    assert [place.ranks for place in places] == [[2, 1], [4, 3]]
    holder = made.study.participants.get()
    assert [place.user for place in places] == [holder.user, None]
    assert portable(text_of(made.study)) == portable(text)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rater": "rater-000000000000"}, "names the rater rater-000000000000"),
        ({"items": [9]}, "place 2 names the item 9, which is not in the file"),
        ({"items": [1, 1]}, "place 2 holds the item 1 twice"),
        ({"number": 1}, "place 1 stands twice"),
        ({"items": ["x"]}, "places 2, items 1"),
    ],
)
def test_a_place_that_contradicts_the_file_is_refused(
    world: World, tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    data = json.loads(text_of(world.study))
    data["places"][1].update(change)
    with pytest.raises(Refused, match=re.escape(words)):
        brought(json.dumps(data), tmp_path)


def test_it_is_closed_and_its_people_are_nobody_who_could_sign_in(
    world: World, tmp_path: Path
) -> None:
    made = brought(text_of(world.study), tmp_path, by=world.mia)
    assert made.study and made.study.status == "closed"
    assert (made.items, made.people, made.assignments) == (5, 2, 7)
    people = Participant.objects.filter(study=made.study).select_related("user")
    for person in people:
        assert person.user.username.startswith("rater-")
        assert not person.user.is_active and not person.user.has_usable_password()
    assert made.study.memberships.get(role="manager").user == world.mia
    original = Participant.objects.filter(study=world.study)
    counters = ("number", "assigned", "submitted", "skipped", "returned", "active_ms", "training")
    assert list(people.values_list(*counters)) == list(original.values_list(*counters))
    assignments = ("rank", "wanted", "given", "done")
    assert list(made.study.items.values_list(*assignments)) == list(
        world.study.items.values_list(*assignments)
    )


def test_all_edits_and_what_they_come_to(world: World, tmp_path: Path) -> None:
    made = brought(text_of(world.study), tmp_path)
    said = ("question", "subject", "aspect", "value", "chosen", "text")
    order = ("assignment__annotator", "assignment__part", "assignment__position")
    for model, more in ((Rating, ("version", "updated_at")), (RatingEdit, ("edited_at",))):
        before, after = (
            list(
                model.objects.filter(assignment__study=study)
                .order_by(*order, "pk" if model is RatingEdit else "edit")
                .values_list(*said, *more)
            )
            for study in (world.study, made.study)
        )
        assert before == after and before
    undone = RatingEdit.objects.filter(assignment__study=made.study, undoes__isnull=False).get()
    assert undone.undoes and undone.undoes.assignment_id == undone.assignment_id


def test_twice_is_once(world: World, tmp_path: Path) -> None:
    first = brought(text_of(world.study), tmp_path)
    second = brought(text_of(world.study), tmp_path)
    assert (second.created, second.study) == (False, first.study)
    from_there = brought(text_of(first.study), tmp_path)  # type: ignore[arg-type]
    assert (from_there.created, from_there.study) == (False, first.study)


@pytest.mark.parametrize(
    "system", ["ten", "filter"],
)  # fmt: skip
def test_scores_and_choices_go_round(system: str, tmp_path: Path) -> None:
    ann = make_person("ann")
    runs = make_runs()
    if system == "ten":
        questionnaire, pk = "ten_questions@1", Trajectory.objects.filter(run=runs[0])[0].pk
        new, said = NewItem(trajectory=pk), {"question": "safety", "subject": "", "value": 4}
    else:
        task = Task.objects.all()[0]
        Candidate.objects.create(task=task, key="c1", kind="world", text="No glue here.")
        questionnaire, new = "filter_check@1", NewItem(task=task.pk)
        said = {"question": "keep", "subject": "candidate-c1", "value": 0}
    study = Study(name="One", questionnaire=questionnaire, status="open", seed=2)
    store_study(study=study, items=[new], people=[ann], lists=[[0]])
    say(study.assignments.get(), **said)  # type: ignore[arg-type]
    text = text_of(study)
    made = brought(text, tmp_path)
    assert made.study and portable(text_of(made.study)) == portable(text)
    rows = json.loads(text)["rows"]
    assert [(row["value"], row["label"]) for row in rows] == [
        (4, "") if system == "ten" else (0, "Remove")
    ]


def test_imported_answers_count_in_analyses_as_they_did(tmp_path: Path) -> None:
    ann = make_person("ann")
    pk = Trajectory.objects.filter(run=make_runs()[0])[0].pk
    study = Study(name="One", questionnaire="ten_questions@1", status="open")
    store_study(study=study, items=[NewItem(trajectory=pk)], people=[ann], lists=[[0]])
    say(study.assignments.get(), "safety", "", value=4)
    study.assignments.update(state="submitted")
    made = brought(text_of(study), tmp_path)
    before, after = (list(human_scores(studies=[one.pk])) for one in (study, made.study) if one)
    assert [(s.trajectory, s.dimension, s.value) for s in before] == [(pk, "safety", 4)]
    assert [(s.trajectory, s.dimension, s.value) for s in after] == [(pk, "safety", 4)]


# --- What cannot be matched -----------------------------------------------------------------------


def test_nothing_is_stored_unless_all_is_here(world: World, tmp_path: Path) -> None:
    text = text_of(world.study)
    turn = Turn.objects.filter(trajectory__run__agent__name=SECRETS[2])[0]
    Turn.objects.filter(pk=turn.pk).update(text="Something else.")
    before = Study.objects.count(), User.objects.count()
    (tmp_path / "study.json").write_text(text)
    with pytest.raises(CommandError, match=r"(?s)1 of 5 items are not here.*said something else"):
        call_command("import_study", str(tmp_path / "study.json"))
    assert (Study.objects.count(), User.objects.count()) == before
    out = io.StringIO()
    call_command("import_study", str(tmp_path), partial=True, stdout=out)
    assert "4 items" in out.getvalue() and "said something else" in out.getvalue()
    made = Study.objects.latest("pk")
    assert made.items.count() == 4 and made.settings["imported"]["items_missing"] == 1


def test_what_is_missing_is_named(world: World, tmp_path: Path) -> None:
    text = text_of(world.study)
    Dataset.objects.update(checksum="other")
    made = brought(text, tmp_path)
    assert made.study is None
    (reason,) = made.match.reasons
    assert reason.startswith("4 items (2, 3, 4, …): no dataset of adaplanbench with checksum mid")
    Dataset.objects.update(checksum="mid")
    run = Run.objects.get(agent__name=SECRETS[2])
    Run.objects.filter(pk=run.pk).update(level="low")
    made = brought(text, tmp_path)
    (reason,) = made.match.reasons
    assert f"no run of {SECRETS[2]} at level mid" in reason


def test_a_run_with_another_seed_stands_in_and_that_is_said(world: World, tmp_path: Path) -> None:
    text = text_of(world.study)
    Run.objects.filter(agent__name=SECRETS[0]).update(seed=99)
    made = brought(text, tmp_path)
    assert made.created and "has seed 99, and that of the file 0" in made.match.notes[0]


def test_a_questionnaire_that_was_written_on_a_page_comes_along(tmp_path: Path) -> None:
    text = questionnaire_text("filter_check@1").replace("id: filter_check", "id: own_check")
    StoredQuestionnaire.objects.create(name="own_check", version=1, text=text)
    ann, task = make_person("ann"), make_runs()[0].dataset.tasks.all()[0]
    Candidate.objects.create(task=task, key="c1", kind="world", text="No glue here.")
    study = Study(name="Own", questionnaire="own_check@1", status="open")
    store_study(study=study, items=[NewItem(task=task.pk)], people=[ann], lists=[[0]])
    document = text_of(study)
    StoredQuestionnaire.objects.all().delete()
    load_questionnaire.cache_clear()
    assert brought(document, tmp_path).created
    assert StoredQuestionnaire.objects.get().text == text
    other = document.replace("Keep or remove", "Keep or drop")
    with pytest.raises(Refused, match="own_check@1 is stored here with other"):
        brought(other.replace('"seed": 0', '"seed": 1', 1), tmp_path)
    load_questionnaire.cache_clear()


# --- Documents that are none ----------------------------------------------------------------------


def changed(text: str, change: Any) -> str:
    data = json.loads(text)
    change(data)
    return json.dumps(data)


def _strange(data: Any) -> None:
    data["seats"][0]["colour"] = "red"


def _no_time(data: Any) -> None:
    del data["seats"][0]["edits"][0]["at"]


def _no_mark(data: Any) -> None:
    data["seats"][1]["edits"][0]["chosen"] = ["nowhere"]


def _no_rater(data: Any) -> None:
    data["seats"][0]["rater"] = "rater-000000000000"


def _twice(data: Any) -> None:
    data["items"].append(data["items"][0])


def _wrong_undo(data: Any) -> None:
    data["seats"][1]["edits"][2]["chosen"] = []


def _more_raters(data: Any) -> None:
    data["items"][1]["wanted"] = 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda data: data.update(format="other"), "this is no exported study"),
        (lambda data: data.update(schema_version=2), "schema version 2"),
        (_strange, "seats 1, colour"),
        (_no_time, "seats 1, edits 1, at: Field required"),
        (_no_mark, "seat 2, edit 1: marks must be a list from w1"),
        (_no_rater, "seat 1 names the rater rater-000000000000"),
        (_twice, "item 1 stands twice"),
        (_wrong_undo, "undoes 2 and leads to something else"),
        (_more_raters, "item 2 has more raters than it has assignments"),
        (lambda data: data.pop("people"), "people: Field required"),
    ],
)
def test_a_document_that_contradicts_itself_is_refused(
    world: World, tmp_path: Path, change: Any, said: str
) -> None:
    before = Study.objects.count(), User.objects.count()
    with pytest.raises(Refused, match=re.escape(said)):
        brought(changed(text_of(world.study), change), tmp_path)
    assert (Study.objects.count(), User.objects.count()) == before


def test_own_answers_of_somebody_blind_are_no_study(world: World, tmp_path: Path) -> None:
    text = text_of(world.study, only=world.ann)
    assert not [secret for secret in SECRETS if secret in text]
    with pytest.raises(Refused, match="one annotator's answers alone"):
        brought(text, tmp_path)


def test_a_file_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "study.json").write_text("{")
    with pytest.raises(CommandError, match=r"Nothing was changed: .* is not JSON"):
        call_command("import_study", str(tmp_path))
    with pytest.raises(CommandError, match="cannot be read"):
        call_command("import_study", str(tmp_path / "gone.json"))
    with pytest.raises(CommandError, match="there is no account 'nobody'"):
        call_command("import_study", str(tmp_path), manager="nobody")


def test_an_account_of_a_person_is_never_taken_for_a_pseudonym(
    world: World, tmp_path: Path
) -> None:
    text = text_of(world.study)
    make_person(json.loads(text)["people"][0]["rater"])
    with pytest.raises(Refused, match="is a person's"):
        brought(text, tmp_path)
    assert Study.objects.count() == 1


# --- What stands in the document ------------------------------------------------------------------


def test_no_name_of_an_account_is_in_it(world: World) -> None:
    text = text_of(world.study)
    assert json.loads(text)["study"]["settings"]["design"]["annotators"][0].startswith("rater-")
    whole = "".join(document_text(Scope(world.study), events=True))
    for one in (text, whole):
        assert not re.search(r'"(ann|bob|mia)"', one)
    events = json.loads(whole)["events"]
    assert {"created", "submitted", "skipped"} <= {event["kind"] for event in events}
    named = "".join(document_text(Scope(world.study, names=True)))
    assert [p["annotator"] for p in json.loads(named)["people"]] == ["ann", "bob"]


def test_it_is_what_the_schema_says_and_events_are_no_part_of_the_study(world: World) -> None:
    plain = text_of(world.study)
    whole = "".join(document_text(Scope(world.study), events=True))
    for text in (plain, whole, text_of(world.study, names=True)):
        check_document(json.loads(text), text)
    assert digest_of(json.loads(plain)) == digest_of(json.loads(whole))


def test_who_withdrew_stays_counted_after_the_journey(world: World, tmp_path: Path) -> None:
    Participant.objects.filter(study=world.study, user=world.ann).update(state="withdrawn")
    text = text_of(world.study)
    made = brought(text, tmp_path)
    assert made.study and json.loads(text_of(made.study))["left_out"]["withdrawn"] == 1
    assert portable(text_of(made.study)) == portable(text)


def test_an_item_that_was_opened_again_wants_what_the_design_says(
    world: World, tmp_path: Path
) -> None:
    """Who left is not in the file, so no item there waits for somebody in their place."""
    before = [item["wanted"] for item in json.loads(text_of(world.study))["items"]]
    Participant.objects.filter(study=world.study, user=world.ann).update(state="withdrawn")
    assert refill_assignments(study=world.study, user=world.ann, by=None) > 0
    text = text_of(world.study)
    assert [item["wanted"] for item in json.loads(text)["items"]] == before
    made = brought(text, tmp_path)
    assert made.study and portable(text_of(made.study)) == portable(text)
    audit = "".join(document_text(Scope(world.study, withdrawn=True)))
    assert sum(item["wanted"] for item in json.loads(audit)["items"]) > sum(before)
