"""Tests of the effects of levels, ablations, tracking and temperature, against sums by hand."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from analysis.filters import Filters
from analysis.pages.catalogue import PAGES, select
from analysis.reports.content import Report, Table
from annotation.models import Study
from benchmarks.models import Agent, Constraint, Dataset, Endpoint, Profile, Run
from tests.analysis.human_rows import answer, make_item, make_kind_study
from tests.analysis.page_reports import report_of
from tests.analysis.rows import make_dataset, make_person, make_run, make_trajectory
from tests.analysis.tool_rows import make_query, make_tool_run, make_world

pytestmark = pytest.mark.django_db


def report(**words: str) -> Report:
    reader = make_person(f"reader-{User.objects.count()}", superuser=True)
    selection = select(PAGES["effects"], Filters(**words), reader)  # type: ignore[arg-type]
    return report_of("effects", selection)


def lines(table: Table | None) -> list[dict[str, object]]:
    assert table is not None
    return [dict(zip(table.header, record, strict=True)) for record in table.records()]


def make_outcomes(dataset: Dataset, agent: str, right: int, **more: object) -> Run:
    """A finished run of ten tasks, the first ``right`` of them accurate."""
    run = make_run(dataset, agent, **more)  # type: ignore[arg-type]
    for task in range(1, 11):
        make_trajectory(run, task, accurate=float(task <= right))
    return run


def make_setting(dataset: Dataset, agent: str, right: int, **settings: object) -> Run:
    """A run with settings that differ from the defaults, called as such runs are."""
    name = ", ".join(f"{key}={value}" for key, value in settings.items()) or "standard"
    run = make_outcomes(dataset, agent, right, condition=name)
    run.settings = settings
    run.save()
    return run


@pytest.fixture
def dataset(db: None) -> Dataset:
    return make_dataset(tasks=10)


def test_nothing_yet_and_systems_that_vary_nothing(dataset: Dataset) -> None:
    assert report().empty is not None
    make_query(make_tool_run(make_world(), "tia"), 0)
    empty = report(dataset=str(Dataset.objects.get(system="planbench_xl").pk)).empty
    assert empty is not None and "/analysis/conditions/" in empty.action_url


def test_levels_each_against_the_one_before(dataset: Dataset) -> None:
    for agent, counts in (("ada", (9, 9, 1)), ("bob", (5, 4, 4))):
        for level, right in zip(("low", "mid", "high"), counts, strict=True):
            make_outcomes(dataset, agent, right, level=level)
    made = report()
    ada, bob = lines(made.table("values"))
    assert [ada[name] for name in ("low", "mid", "high")] == [0.9, 0.9, 0.1]
    changes = {(row["agent"], row["from"], row["to"]): row for row in lines(made.table("changes"))}
    assert set(changes) == {(a, *c) for a in ("Ada", "Bob")
                            for c in (("Low", "Mid"), ("Mid", "High"))}  # fmt: skip
    fall = changes["Ada", "Mid", "High"]
    # Eight tasks lost, none won: z = 8/√8, p = 0.004678, four changes.
    assert (fall["change"], fall["wins"], fall["losses"]) == (-0.8, 0, 8)
    assert fall["p alone"] == pytest.approx(0.004678, abs=1e-6) and fall["clear"] == "yes"
    assert fall["p adjusted"] == pytest.approx(0.018711, abs=1e-6)
    overall = lines(made.table("overall"))
    # (0 − 0.1)/2 and (−0.8 + 0)/2, over two agents.
    assert [row["mean change"] for row in overall] == pytest.approx([-0.05, -0.4])
    assert overall[1]["mean change n"] == 2
    # Medium and low of Bob: 0.5 − 0.4.
    assert [row["range"] for row in lines(made.table("ranges"))] == pytest.approx([0.8, 0.1])
    # Bob loses one of ten tasks: the tasks' means are −0.5 once and 0, ± 2.262 · 0.05.
    assert made.sentence.startswith(
        "1 of 4 changes in Acc is clear after correction. It is that of Ada"
    )
    # That from low to mid is not clear and left to the details.
    assert (
        " On average over 2 agents, Acc changes from “Mid” to “High” by −40.0 points"
        in made.sentence
    )
    assert made.sentence.endswith("; 1 more average is in the details.")
    assert (
        "−80.0 points (95 % simultaneous interval" in made.sentence
        and "p = 0.019)." in made.sentence
    )
    assert [figure.name for figure in made.figures] == ["changes", "values"]
    assert any("mid to high" in line.lower() for line in made.how)


def test_odds_over_all_agents_by_logit_gee(dataset: Dataset) -> None:
    for level, right in (("low", 9), ("mid", 5), ("high", 0)):
        make_outcomes(dataset, "ada", right, level=level)
    made = report()
    mid, high = lines(made.table("odds"))
    # Five to five under mid, nine to one under low; every task has both, so margins are fitted.
    assert (mid["from"], mid["to"], mid["odds ratio n"]) == ("Low", "Mid", 10)
    assert mid["odds ratio"] == pytest.approx(1 / 9, abs=1e-6)
    assert isinstance(mid["odds ratio low"], float) and mid["odds ratio low"] > 0
    assert high["odds ratio"] is None and "is the same" in str(high["odds ratio note"])
    assert any(line.startswith("Odds ratios: GEE with a logit link") for line in made.how)


def test_profiles_beside_those_of_the_paper(dataset: Dataset) -> None:
    make_outcomes(dataset, "ada", 5, level="low")
    for task, (world, user) in zip(dataset.tasks.order_by("pk"), ((1, 2), (3, 0)), strict=False):
        profile = Profile.objects.create(task=task, level="low", rank=1)
        for kind, count in (("world", world), ("user", user)):
            for number in range(count):
                key = f"{kind}{number}"
                Constraint.objects.create(profile=profile, kind=kind, key=key, text="No.")
    (low,) = lines(report().table("profiles"))
    # World 1 and 3, user 2 and 0: means 2 and 1.
    assert (low["world"], low["world published"]) == (2, 9.76)
    assert (low["user"], low["user published"], low["user n"]) == (1, 10.91, 2)


def test_ablation_against_both_kinds(dataset: Dataset) -> None:
    make_setting(dataset, "ada", 4)
    make_setting(dataset, "ada", 9, constraints="world_only")
    make_setting(dataset, "ada", 6, constraints="user_only")
    # Made with tracking: not alike otherwise, so it does not belong here.
    make_setting(dataset, "ada", 1, constraints="user_only", tracking=True)
    made = report(factor="constraints")
    rows = [(row["from"], row["to"], row["change"]) for row in lines(made.table("changes"))]
    # Figure 6 holds user against world constraints, too: the same agent on the same tasks.
    assert rows == [
        ("Both kinds", "World only", 0.5),
        ("Both kinds", "User only", 0.2),
        ("World only", "User only", pytest.approx(-0.3)),
    ]
    overall = [(row["from"], row["to"]) for row in lines(made.table("overall"))]
    assert overall[-1] == ("World only", "User only")
    assert "and user only against world only" in " ".join(made.how)
    assert made.table("missing") is None
    (said,) = lines(made.table("said"))
    assert said["source"] == "Figure 6"


def test_the_answer_gives_the_pair_that_the_paper_asks_for(dataset: Dataset) -> None:
    for agent in ("ada", "bob"):
        make_setting(dataset, agent, 4)
        make_setting(dataset, agent, 9, constraints="world_only")
        make_setting(dataset, agent, 6, constraints="user_only")
    said = report(factor="constraints").sentence
    assert "from “World only” to “User only”" in said and "30.0 points" in said


def test_averages_are_over_those_who_can_be_compared(dataset: Dataset) -> None:
    make_setting(dataset, "ada", 4)
    short = make_setting(dataset, "ada", 9, constraints="user_only")
    short.trajectories.filter(task__external_id="t10").delete()
    for agent, right in (("bob", 4), ("cyd", 9)):
        make_setting(dataset, agent, right)
    make_setting(dataset, "bob", 9, constraints="user_only")
    made = report(factor="constraints")
    # Cyd, who was not run otherwise, counts nowhere: Ada 5/9, Bob 5/10.
    assert "On average over 2 agents, Acc changes from “Both kinds” to " in made.sentence
    assert "by +52.8 points" in made.sentence
    assert {row["agent"] for row in lines(made.table("values"))} == {"Ada", "Bob"}
    assert made.sentence.count("after correction") == 1
    said = " ".join(notice.text for notice in made.notices)
    assert "1 agent with one value alone is not shown" in said and "compare: Cyd." in said
    assert "different numbers of tasks (9 to 10)" in said
    (row,) = made.table("missing").rows[1:]  # type: ignore[union-attr]
    assert row[1].text == "Cyd"


def test_scripts_have_no_temperature(dataset: Dataset) -> None:
    run = make_setting(dataset, "ada", 4)
    assert report(factor="temperature").sentence.startswith(
        "No run here has a known temperature: these scripts take none."
    )
    endpoint = Endpoint.objects.create(name="e", base_url="http://localhost/v1", model="m")
    Agent.objects.filter(pk=run.agent_id).update(kind="endpoint", endpoint=endpoint)
    said = report(factor="temperature", published="hide").sentence
    assert said.startswith("No run here has a known temperature, so")


def test_tracking_that_nobody_was_run_with(dataset: Dataset) -> None:
    run = make_setting(dataset, "ada", 4)
    made = report(factor="tracking")
    assert made.sentence == (
        "All runs here have the same tracking of constraints (“Without”), so there is nothing to "
        "compare."
    )
    assert made.table("changes") is None
    table = made.table("missing")
    assert table is not None
    ((value, missing, start),) = table.rows
    assert (value.text, missing.text) == ("With", "Ada")
    for part in (f"dataset={dataset.pk}", "agents=ada", "set_tracking=true", "levels=mid",
                 "role_rubric_judge_1=even", "seed=7"):  # fmt: skip
        assert part in start.url
    run.delete()


def test_the_way_to_a_missing_run_is_a_form_that_is_filled_in(
    dataset: Dataset, client: Client
) -> None:
    agent = Agent.objects.create(
        name="blunt", title="Blunt", kind="scripted", system="adaplanbench"
    )
    Profile.objects.create(task=dataset.tasks.all()[0], level="mid", rank=1)
    make_setting(dataset, agent.name, 4)
    table = report(factor="tracking").table("missing")
    assert table is not None
    client.force_login(make_person("sam", "start_runs", "view_results"))
    page = client.get(table.rows[0][2].url)
    assert page.status_code == 200
    form = page.context["form"]
    assert form["set_tracking"].value() == "true" and form["agents"].value() == ["blunt"]


def make_endpoint(name: str, temperature: float, model: str = "gpt-x") -> Agent:
    endpoint = Endpoint.objects.create(
        name=name, title=name, base_url="https://example.org/v1", model=model,
        parameters={"temperature": temperature},
    )  # fmt: skip
    return Agent.objects.create(name=name, title=name, kind="endpoint", endpoint=endpoint)


def test_temperature_pairs_endpoints_of_one_model(dataset: Dataset) -> None:
    for name, temperature, right in (("hot", 1.0, 3), ("cold", 0.0, 5), ("warm", 0.7, 5)):
        make_endpoint(name, temperature)
        make_outcomes(dataset, name, right, kind="endpoint")
    make_outcomes(dataset, "script", 9)
    made = report(factor="temperature")
    (row,) = lines(made.table("values"))
    assert (row["agent"], row["0"], row["0.7"], row["1"]) == ("gpt-x", 0.5, 0.5, 0.3)
    assert [line["to"] for line in lines(made.table("changes"))] == ["0.7", "1"]
    # Highest minus lowest: 0.5 − 0.3.
    assert lines(made.table("ranges"))[0]["range"] == pytest.approx(0.2)


def test_published_temperatures_stand_alone_without_runs(dataset: Dataset) -> None:
    make_outcomes(dataset, "script", 9)
    made = report(factor="temperature", measure="valid")
    assert made.sentence.startswith("No run here has a known temperature")
    assert made.table("values") is None and [f.name for f in made.figures] == ["published"]
    rows = {row["model"]: row for row in lines(made.table("published"))}
    # Table 5: 83.71, 81.09, 84.23; range 3.14.
    llama = rows["Llama-3.3-70B-Instruct"]
    assert (llama["0"], llama["0.7"], llama["1"], llama["range"]) == (0.8371, 0.8109, 0.8423, 3.14)
    (missing,) = lines(made.table("missing"))
    assert "endpoint" in str(missing["missing"])
    hidden = report(factor="temperature", published="hide")
    assert hidden.table("published") is None and hidden.table("said") is None


def test_words_that_mean_nothing_and_a_mean_measure(dataset: Dataset) -> None:
    for level in ("low", "mid"):
        make_outcomes(dataset, "ada", 5, level=level)
    made = report(factor="weather", measure="turns")
    assert made.sentence.startswith(
        "The one change in Turns is not clear: that of Ada from “Low” to “Mid”, 0.00 (n = 10 tasks"
    )


def with_people(run: Run, *roles: str) -> Run:
    """The run with people in these roles, called as such runs are."""
    run.roles = {**run.roles, **{role: [{"kind": "human", "label": "human"}] for role in roles}}
    run.condition = ", ".join(f"{role}=person" for role in roles) or "standard"
    run.save()
    return run


JUDGES = ("world_judge", "user_judge")


def test_a_person_in_the_users_place_against_scripts_and_models(dataset: Dataset) -> None:
    make_outcomes(dataset, "ada", 4)
    with_people(make_outcomes(dataset, "ada", 9, condition="x"), "simulator")
    with_people(make_outcomes(dataset, "ada", 6, condition="y"), *JUDGES, "simulator")
    # A person judges the rubric too: not alike otherwise.
    with_people(make_outcomes(dataset, "ada", 1, condition="z"), "rubric_judge", "simulator")
    made = report(factor="user")
    rows = [(row["from"], row["to"], row["change"]) for row in lines(made.table("changes"))]
    base = "Script or model"
    assert rows == [(base, "Person", 0.5), (base, "Person who judges", 0.2)]
    assert made.table("missing") is None and made.table("said") is None


def test_a_person_as_judge_beside_a_person_as_user(dataset: Dataset) -> None:
    with_people(make_outcomes(dataset, "ada", 4, condition="x"), "simulator")
    with_people(make_outcomes(dataset, "ada", 9, condition="y"), *JUDGES, "simulator")
    made = report(factor="judges", condition="simulator=person")
    (row,) = lines(made.table("changes"))
    assert (row["from"], row["to"], row["change"]) == ("Script or model", "Person", 0.5)


def test_without_sessions_it_says_how_to_get_some(dataset: Dataset) -> None:
    make_outcomes(dataset, "ada", 4)
    made = report(factor="user")
    assert "nothing to compare" in made.sentence
    (row,) = lines(made.table("missing"))
    assert row["missing"] == "Play sessions with the same agent on the same tasks."


def test_what_was_played_by_several_is_left_out_and_counted(dataset: Dataset) -> None:
    make_outcomes(dataset, "ada", 4)
    played = with_people(make_outcomes(dataset, "ada", 9, condition="x"), "simulator")
    played.trajectories.filter(task__external_id="t10").update(
        role_changes={"simulator": [{"kind": "scripted"}]}
    )
    made = report(factor="user")
    (row,) = lines(made.table("changes"))
    # Nine tasks are left: 4 of them accurate before, 9 now.
    assert row["change"] == pytest.approx(5 / 9) and row["change n"] == 9
    assert any("mixed: somebody else took a role over on the way" in line for line in made.how)


def rate_feedback(run: Run, scores: list[int], **more: bool) -> None:
    """Two people say the same of the first trajectories of a run."""
    study = Study.objects.filter(name="Ten").first() or make_kind_study("ten_questions@1", "Ten")
    people = [
        User.objects.filter(username=name).first() or make_person(name) for name in ("ann", "bob")
    ]
    for trajectory, score in zip(run.trajectories.order_by("pk"), scores, strict=False):
        item = make_item(study, trajectory=trajectory, asked=["feedback_reasonable"], wanted=2)
        for person in people:
            answer(item, person, {"feedback_reasonable": score}, **more)


def test_how_people_rated_the_feedback_of_each(dataset: Dataset) -> None:
    scripts = make_outcomes(dataset, "ada", 4)
    people = with_people(make_outcomes(dataset, "ada", 9, condition="x"), "simulator")
    rate_feedback(scripts, [2, 3, 2, 3])
    rate_feedback(people, [4, 4, 5])
    made = report(factor="user")
    first, second = lines(made.table("feedback_reasonable"))
    assert (first["rating"], first["rating n"], first["change"]) == (2.5, 4, None)
    # On the three tasks that are rated under both: (2 + 1 + 3)/3.
    assert (second["rating"], second["change"], second["change n"]) == (pytest.approx(13 / 3), 2, 3)
    table = made.table("feedback_reasonable")
    assert table is not None and "13 (nobody rated the feedback)" in table.note
    assert made.table("feedback_clear") is None
    assert report(factor="level").table("feedback_reasonable") is None


def test_made_up_ratings_count_in_demos_alone(dataset: Dataset) -> None:
    rate_feedback(make_outcomes(dataset, "ada", 4), [2, 3], simulated=True)
    assert report(factor="user").table("feedback_reasonable") is None
    Study.objects.update(is_demo=True)
    table = report(factor="user").table("feedback_reasonable")
    assert table is not None and "Of 2 trajectories the annotators are simulated" in table.note


# --- a bracket of scripts -------------------------------------------------------------------------


def make_planner_runs(dataset: Dataset, policy: str, **right: int) -> None:
    """Runs of a script with each planner, the first ``right`` of ten tasks accurate."""
    for planner, count in right.items():
        run = make_setting(dataset, policy, count, planner=planner)
        run.roles["agent"][0]["policy"] = policy
        run.save()


def test_an_order_follows_only_where_both_sides_of_a_bracket_agree(dataset: Dataset) -> None:
    Dataset.objects.filter(pk=dataset.pk).update(system="sda_planner")
    make_planner_runs(dataset, "errors-60", sda=9, local=4, **{"global": 10}, tree=1)
    alone = report(factor="planner")
    assert "No order follows from fresh scripts alone: run stubborn ones, too." in alone.sentence
    assert "On average" not in alone.sentence

    make_planner_runs(dataset, "stubborn-60", sda=9, local=10, **{"global": 4}, tree=1)
    made = report(factor="planner")
    rows = {row["to"]: row for row in lines(made.table("bracket"))}
    assert rows["Tree Planner"]["follows"] == "lower"
    assert (rows["Tree Planner"]["fresh"], rows["Tree Planner"]["stubborn"]) == (-0.8, -0.8)
    # Fresh scripts lose five of ten tasks with Local, stubborn ones win one.
    assert rows["Local"]["follows"] == rows["Global"]["follows"] == "no order"
    assert "Fresh and stubborn scripts agree that Success is lower with “Tree Planner”" in (
        made.sentence
    )
    assert made.sentence.endswith(
        "They agree on no order of “SDA-Planner” and “Local”, or of “SDA-Planner” and “Global”, "
        "so none follows."
    )
    assert "largest" not in made.sentence
    # Where they agree on nothing, the sentence says who.
    Run.objects.filter(condition="planner=tree").delete()
    assert "Fresh and stubborn scripts agree on no order" in report(factor="planner").sentence
    # A factor that is not of the bracket is said as everywhere.
    make_setting(dataset, "errors-60", 3, planner="sda", knowledge="none")
    assert report(factor="knowledge").table("bracket") is None


def test_agents_outside_a_bracket_are_compared_as_everywhere(dataset: Dataset) -> None:
    Dataset.objects.filter(pk=dataset.pk).update(system="sda_planner")
    for agent in ("ada", "bob"):
        make_setting(dataset, agent, 9, planner="sda")
        make_setting(dataset, agent, 3, planner="local")
    made = report(factor="planner")
    assert made.table("bracket") is None
    assert "On average over 2 agents" in made.sentence
