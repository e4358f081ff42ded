"""People beside judges, worked out by hand."""

import pytest
from django.contrib.auth.models import User

from analysis.filters import Filters
from analysis.filters.studies import select_study
from analysis.reports.content import Report
from analysis.stats.rater_agreement.alpha import krippendorff_alpha
from analysis.stats.rater_agreement.answers import answers_of_scores
from analysis.stats.rater_agreement.kappas import cohen_kappa
from annotation.designs.hold_out import sees_marks
from annotation.models import Study
from tests.analysis.page_reports import report_of
from tests.analysis.rows import (
    flat,
    make_dataset,
    make_person,
    make_ratings,
    make_run,
    make_study,
    make_trajectory,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def root(db: None) -> User:
    return make_person("root", superuser=True)


@pytest.fixture
def study(root: User) -> Study:
    """Four items, each of another task; judges on safety 4, 4, 4 and on autonomy 3, 4, 4."""
    run = make_run(make_dataset(), "ada")
    study, ann = make_study(), make_person("ann")
    for task, safety in ((1, 4), (2, 4), (3, 5), (4, 2)):
        item = make_trajectory(run, task, scores=[{**flat(4), "autonomy": (3, 4, 4)}])
        answers = {"safety": safety, "autonomy": 4, "feedback_reasonable": 5, "feedback_clear": 4}
        make_ratings(study, ann, item, answers)
    return study


def report(user: User, **words: str) -> Report:
    return report_of("agreement", select_study(Filters(**words), user))


def row(made: Report, name: str, table: str = "agreement") -> dict[str, object]:
    found = made.table(table)
    assert found is not None
    (record,) = [r for r in found.records() if str(r[0]).startswith(name)]
    return dict(zip(found.header, record, strict=True))


def test_no_study(root: User) -> None:
    made = report(root)
    assert made.empty is not None and made.empty.title == "No study yet"


def test_nobody_answered(root: User) -> None:
    make_study()
    made = report(root)
    assert made.empty is not None and made.empty.title == "No answers yet"


def test_shares_and_bias(root: User, study: Study) -> None:
    made = report(root)
    safety = row(made, "Safety")
    # Differences |4 − h|: 0, 0, 1, 2. Bias: mean of 4 − h = (0 + 0 − 1 + 2) / 4.
    assert (safety["n"], safety["equal"], safety["within one"]) == (4, 0.5, 0.75)
    assert (safety["bias"], safety["mean difference"]) == (0.25, 0.75)
    autonomy = row(made, "Autonomy")
    # 11/3 is a third below 4: never equal, equal when rounded.
    assert (autonomy["equal"], autonomy["equal when rounded"]) == (0, 1)
    assert autonomy["bias"] == pytest.approx(-1 / 3, abs=1e-6)
    counts = row(made, "Autonomy", "differences")
    assert counts["1/3"] == 4 and counts["0"] == 0
    both = row(made, "All")
    assert (both["n"], both["equal"], both["within one"]) == (8, 0.25, 0.875)


def test_sentence_beside_the_papers_statements(root: User, study: Study) -> None:
    said = report(root).sentence
    # Rounded: equal on 2 of 4 answers on safety, and on all of autonomy, where 11/3 becomes 4.
    assert said.startswith(
        "The judges' mean, rounded, equals the score of 1 person on 75.0 % of 8 answers"
    )
    assert "unrounded, it is within one point on 87.5 %." in said
    assert (
        "On 1 of 2 dimensions at least 60 % of answers are equal; in the paper on six of eight, by "
        "the same rule."
    ) in [notice.text for notice in report(root).notices]


def test_alpha_and_kappa_stand_beside_the_shares(root: User) -> None:
    run = make_run(make_dataset(), "ada")
    study, ann, bob = make_study(), make_person("ann"), make_person("bob")
    for task, (first, second, judges) in enumerate(
        [(4, 4, (4, 4, 4)), (5, 4, (5, 5, 4)), (2, 3, (2, 3, 2)), (1, 1, (2, 2, 1))], 1
    ):
        item = make_trajectory(run, task, scores=[{**flat(4), "safety": judges}])
        for person, score in ((ann, first), (bob, second)):
            make_ratings(study, person, item, {"safety": score})
    made = report(root)
    found = row(made, "Safety")
    # The panel, rounded: 4, 5, 2, 2; beside ann's and bob's scores.
    pairs = [[4, 4], [4, 4], [5, 5], [4, 5], [2, 2], [3, 2], [1, 2], [1, 2]]
    alpha = krippendorff_alpha(answers_of_scores(pairs, scale=(1, 5)), seed=1).value
    people, panel = zip(*pairs, strict=True)
    kappa = cohen_kappa(people, panel, weights="linear").value
    assert alpha is not None and kappa is not None
    assert found["alpha"] == pytest.approx(alpha, abs=1e-6)
    assert found["kappa"] == pytest.approx(kappa, abs=1e-6)
    among = krippendorff_alpha(
        answers_of_scores([[4, 4], [5, 4], [2, 3], [1, 1]], scale=(1, 5)), seed=1
    ).value
    assert among is not None and found["alpha, people"] == pytest.approx(among, abs=1e-6)
    assert f"ordinal alpha is {alpha:.2f} and linear kappa {kappa:.2f}" in made.sentence
    assert f"among people, alpha is {among:.2f}" in made.sentence
    # Several dimensions are not mixed in one coefficient.
    assert row(made, "All")["alpha"] is None


def test_questions_on_the_feedback(root: User, study: Study) -> None:
    made = report(root)
    first = row(made, "1 ", "questions")
    assert (first["mean"], first["mean n"], first["published"]) == (5, 4, 4.45)
    assert row(made, "2 ", "questions")["published"] == 4.66


def test_simulated_annotators_are_labelled_and_can_be_left_out(root: User, study: Study) -> None:
    run = make_run(make_dataset("Other"), "bob")
    sim = make_person("sim")
    make_ratings(
        study, sim, make_trajectory(run, 1, scores=[flat(4)]), {"safety": 1}, simulated=True
    )
    without = report(root)
    assert not without.banners and row(without, "Safety")["n"] == 4
    assert any("1 simulated annotator left out" in line for line in without.how)
    counted = report(root, simulated="include")
    assert counted.banners[0].title == "Simulated annotators"
    assert "1 of 2 annotators is a script" in counted.banners[0].text
    assert row(counted, "Safety")["n"] == 5
    assert "1 person and 1 simulated annotator" in counted.sentence


def test_only_simulated_ones(root: User) -> None:
    item = make_trajectory(make_run(make_dataset(), "ada"), 1, scores=[flat(4)])
    study = make_study()
    make_ratings(study, make_person("sim"), item, {"safety": 4}, simulated=True)
    made = report(root)
    assert made.empty is not None and made.empty.action == "Count them"
    assert "simulated=include" in made.empty.action_url


def test_without_judges_there_are_still_the_questions(root: User) -> None:
    item = make_trajectory(make_run(make_dataset(), "ada"), 1, texts=["1. Do it."])
    study = make_study()
    make_ratings(study, make_person("ann"), item, {"safety": 4, "feedback_clear": 3})
    made = report(root)
    assert (
        made.sentence == "1 person answered, but no final plan of theirs was scored by every judge."
    )
    assert not made.figures and row(made, "2 ", "questions")["mean"] == 3


def test_a_dimension_that_no_judge_scored(root: User) -> None:
    run = make_run(make_dataset(), "ada")
    study, ann = make_study(), make_person("ann")
    for task in (1, 2):
        scores = {**flat(4), "safety": (None, None, None)}
        make_ratings(
            study, ann, make_trajectory(run, task, scores=[scores]), {"safety": 4, "autonomy": 4}
        )
    made = report(root)
    safety = row(made, "Safety")
    assert safety["equal"] is None and safety["left out"] == "2 (a judge's score is missing)"
    assert row(made, "Autonomy")["equal"] == 1


def test_several_people_on_one_item_count_each(root: User, study: Study) -> None:
    item = study.assignments.order_by("pk")[0].trajectory
    make_ratings(study, make_person("ben"), item, {"safety": 4})
    made = report(root)
    assert row(made, "Safety")["n"] == 5
    assert not any("one annotator" in notice.text for notice in made.notices)
    # Ben was not asked about autonomy.
    assert row(made, "Autonomy")["left out"] == "1 (no human score)"


def influenced_study(*, pull: int) -> Study:
    """Forty items of eight tasks; who sees the marks gives the judges' score, else ``pull`` off."""
    run = make_run(make_dataset(tasks=8), "ada")
    study = make_study()
    Study.objects.update(verdicts="random", seed=3)
    people = [make_person(f"ann{n}") for n in range(5)]
    for number, person in enumerate(people, 1):
        for position in range(1, 9):
            item = make_trajectory(run, position, scores=[flat(4)], attempt=number)
            seen = sees_marks(seed=3, number=number, position=position)
            answers = {"safety": 4 if seen or position % 4 else 4 - pull, "feedback_clear": 5}
            given = make_ratings(study, person, item, answers)
            given.verdicts = "earlier" if seen else "none"
            given.save(update_fields=["verdicts"])
    study.refresh_from_db()
    return study


def test_marks_withheld_at_random_show_whether_they_move_people(root: User) -> None:
    influenced_study(pull=2)
    made = report(root)
    text = " ".join(notice.text for notice in made.notices)
    assert "Seeing the judges’ marks changes the distance of people’s scores" in text
    everything = row(made, "All questions", "influence-judges")
    assert everything["distance, seen"] == 0 and everything["distance, withheld"] > 0
    scores = row(made, "8 Safety", "influence")
    assert scores["seen"] == 4 and scores["withheld"] < 4
    # Judges are not asked about the feedback.
    assert row(made, "2 Constraints clear", "influence")["seen"] == 5


def test_a_study_that_withholds_nothing_has_no_such_table(root: User, study: Study) -> None:
    assert report(root).table("influence") is None
