"""Plans as files: a strict format, problems with their path, and nothing stored on error."""

from io import StringIO
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from annotation.annotator_quality.rule import GoldRule
from annotation.designs.sampling import Sample
from annotation.models import Study
from annotation.plans.plan_files import PLANS, read_plan, write_plan
from annotation.plans.study_plan import ItemSource, PlanError, SpecialItem, StudyPlan
from tests.annotation.rows import make_runs

pytestmark = pytest.mark.either

WHOLE = """
name: Violation check
questionnaire: violation_check@1
items:
  dataset: Tests
  levels: [mid]
  sample: {way: per_model, count: 2}
annotators: [ann, bob]
raters: 2
order: blocks
seed: 7
training:
  - task: task-0
    agent: zebra-7b
    expected:
      world_violated.turn-1: {chosen: [w1], why: It takes the hammer.}
      world_violated.turn-2: {chosen: []}
consent: I take part of my own free will.
closes_at: 2099-03-01T18:00
"""


def problems(text: str) -> dict[str, str]:
    with pytest.raises(PlanError) as caught:
        read_plan(text)
    return {problem.path: problem.words for problem in caught.value.problems}


def test_a_file_becomes_a_plan() -> None:
    plan = read_plan(WHOLE)
    sample = Sample(way="per_model", count=2)
    assert plan.items == ItemSource(dataset="Tests", levels=("mid",), sample=sample)
    assert (plan.annotators, plan.raters, plan.seed) == (("ann", "bob"), 2, 7)
    assert plan.training[0].expected["world_violated.turn-2"] == {"chosen": []}
    assert plan.closes_at is not None and plan.closes_at.year == 2099


@pytest.mark.parametrize(
    "plan",
    [
        StudyPlan("A", "ten_questions@1", ItemSource(runs=(1, 2)), order="queries", queries_each=3),
        StudyPlan(
            "B", "filter_check@1",
            ItemSource(
                dataset="Tests@2", tasks=("x", "17"),
                sample=Sample("stratified", 9, ("level", "model"), "equal"),
            ),
            raters=3, dealing="pool", lease_minutes=15, gold_each=2, pass_mark=0.5, blinded=False,
            gold=(SpecialItem(task="x", expected={"keep.candidate-c1": {"values": [1]}}),),
            gold_rule=GoldRule("pause", 6),
            information="One.\n\n- Two: 3\n", background="about_annotators@1",
        ),
    ],
)  # fmt: skip
def test_a_plan_that_is_written_reads_as_it_was(plan: StudyPlan) -> None:
    read = read_plan(write_plan(plan))
    assert write_plan(read) == write_plan(plan)
    assert read.items == plan.items and read.gold == plan.gold
    assert read.gold_rule == plan.gold_rule


def test_every_problem_of_the_form_is_named_with_its_path() -> None:
    found = problems(
        """
name: ""
questionnaire: [1]
items:
  dataset: Tests
  level: mid
  sample: {way: some, count: many, strata: level}
raters: true
dealing: maybe
pass_mark: 75
blinded: "no"
closes_at: soon
training:
  - trajectory: one
    expected: {safety: {value: 3}}
colour: red
"""
    )
    assert set(found) == {
        "name", "questionnaire", "items.level", "items.sample.way", "items.sample.count",
        "items.sample.strata", "raters", "dealing", "pass_mark", "blinded", "closes_at",
        "training[1].trajectory", "training[1].expected.safety.value", "colour",
    }  # fmt: skip
    assert found["raters"] == "expected a whole number from 1 to 200, found true"
    assert "expected a field among name, questionnaire" in found["colour"]


@pytest.mark.parametrize(
    ("text", "path", "said"),
    [
        ("", "", "expected fields such as name"),
        ("- a", "", "expected fields such as name"),
        ("name: ]", "line 1", "expected YAML"),
        ("name: a\nname: b", "line 2", "'name' again"),
        ("name: a\nquestionnaire: b@1", "items", "expected fields such as trajectories, runs"),
        (
            "name: a\nquestionnaire: b@1\nitems: [1]",
            "items",
            "expected fields such as trajectories, runs",
        ),
    ],
)
def test_what_is_no_plan_is_refused(text: str, path: str, said: str) -> None:
    assert said in problems(text)[path]


def test_each_problem_says_its_line() -> None:
    with pytest.raises(PlanError) as caught:
        read_plan(f"{WHOLE}raters: 2\n")
    assert str(caught.value) == "line 20: expected each name once, found 'raters' again"
    with pytest.raises(PlanError) as caught:
        read_plan(WHOLE.replace("count: 2", "count: two").replace("task: task-0", "task: []"))
    assert [str(problem) for problem in caught.value.problems] == [
        "line 7, items.sample.count: expected a whole number from 0, or nothing, "
        "found the text 'two'",
        "line 13, training[1].task: expected a text, found a list of 0",
    ]


@pytest.mark.parametrize("year", ["0001-01-01T00:00+14:00", "9999-12-31T23:59-12:00"])
def test_moments_that_no_database_keeps_are_refused(year: str) -> None:
    assert "a day or a time" in problems(f"{WHOLE}".replace("2099-03-01T18:00", year))["closes_at"]


def test_every_field_is_documented() -> None:
    page = (Path(settings.BASE_DIR) / "docs" / "making-studies.md").read_text(encoding="utf-8")
    objects = [PLANS.schema, *PLANS.schema["$defs"].values()]
    known = [name for one in objects for name in one.get("properties", ())]
    missing = [name for name in known if f"`{name}`" not in page]
    assert len(known) > 50
    assert not missing


# --- The command ----------------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "plan.yaml"
    path.write_text(WHOLE, encoding="utf-8")
    return path


def run(*args: object) -> str:
    out = StringIO()
    call_command("create_study", *map(str, args), stdout=out)
    return out.getvalue()


@pytest.mark.django_db
def test_the_command_tells_then_makes(file: Path, ann: User, bob: User, manager: User) -> None:
    make_runs(tasks=4)
    told = run(file, "--dry-run")
    assert "items 4, tasks" in told and "assignments 8; training 1, gold 0" in told
    assert "annotator × model: 2 to 2; all counts match" in told
    assert "  Annotator 1 (ann): 4 items" in told
    assert "Differences between agents: " in told and "Confounded effects: " in told
    assert not Study.objects.exists()
    made = run(file, "--manager", "mia", "--draft")
    study = Study.objects.get()
    assert f"study {study.pk} is draft" in made
    assert study.settings["design"]["sha256"] in told
    assert study.memberships.filter(user=manager, role="manager").exists()
    assert study.items.get(use="training").trajectory is not None


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("count: 2", "count: 99"), "items.sample.count: model "),
        (("[ann, bob]", "[ann, zoe]"), "annotators: no account with this name: zoe"),
        (("chosen: [w1]", "chosen: [w9]"), r"training\[1\].expected.world_violated.turn-1.chosen"),
        (("seed: 7", "seed: x"), "seed: expected a whole number from 0, found the text 'x'"),
    ],
)
def test_the_command_stores_nothing_on_error(
    file: Path, ann: User, bob: User, change: tuple[str, str], said: str
) -> None:
    make_runs(tasks=3)
    file.write_text(WHOLE.replace(*change), encoding="utf-8")
    with pytest.raises(CommandError, match=f"(?s)nothing was stored.*{said}"):
        run(file)
    assert not Study.objects.exists()


@pytest.mark.django_db
def test_the_command_names_files_and_managers_that_are_not_there(file: Path) -> None:
    with pytest.raises(CommandError, match="there is no account 'nobody'"):
        run(file, "--manager", "nobody")
    with pytest.raises(CommandError, match="nothing was stored"):
        run(file.with_name("other.yaml"))
