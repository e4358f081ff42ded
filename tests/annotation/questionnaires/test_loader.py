"""Questionnaires: what ships is sound, what is broken is refused with its place."""

import json
from hashlib import sha256

import pytest
import yaml

from annotation.exports.head import described
from annotation.questionnaires import (
    NEEDS,
    QuestionnaireError,
    load_questionnaire,
    questionnaires_for,
    read_questionnaire,
    shipped_questionnaires,
)
from annotation.questionnaires.loader import FOLDER
from benchmarks.systems.adaplanbench.protocol import DIMENSIONS

TEN = "ten_questions@1"
TOOLS = "tool_dialogues@1"
# Digests of what annotators read, by version; a new version adds a line and changes none.
PUBLISHED = {
    "about_annotators@1": "4c52f5ddbb800503",
    "about_annotators@2": "1bf919a034d139bc",
    "compare_plans@1": "687b177eca7517d8",
    "duel@1": "90b985dda1d35fe7",
    "filter_check@1": "51a37f9155d4527c",
    "filter_check@2": "41c6621cceb2651d",
    "filter_check@3": "4aaec899c9bcbb64",
    "playing@1": "e48994b20302cce8",
    "ten_questions@1": "c30ad5f9ac7fe14f",
    "ten_questions@2": "d5ea44b9512d4fda",
    "ten_questions@3": "22c19685ac6a4cd9",
    "ten_questions@4": "d2455af091bd0275",
    "tool_dialogues@1": "bedf86da0bda9942",
    "tool_dialogues@2": "32d89495ef34a825",
    "turn_dialogues@1": "78b3e573a82c4072",
    "turn_scores@1": "af0afc34aaba8450",
    "turn_scores@2": "6993c6a46ece6868",
    "turn_scores@3": "c192052e609f2914",
    "violation_check@1": "96a9706d92aae7a4",
    "violation_check@2": "031e4e04ae9e547e",
    "violation_check@3": "d12aaa6005141c79",
    "violation_check_with_marks@1": "db4efb043652cef6",
}


def test_ten_questions_take_the_rubrics_text() -> None:
    questions = load_questionnaire(TEN).questions
    assert [q.number for q in questions] == list(range(1, 11))
    assert [q.dimension for q in questions] == ["", "", *(d.key for d in DIMENSIONS)]
    for question, dimension in zip(questions[2:], DIMENSIONS, strict=True):
        assert question.definition == dimension.definition
        assert question.anchors == dimension.anchors
        assert question.examples == dimension.examples


def test_a_published_version_is_never_reworded() -> None:
    found = {id: digest_of(id) for id in shipped_questionnaires()}
    assert found == PUBLISHED, (
        "studies pin these versions, and answers were given to their words: leave them as they "
        "are, rubric included, and write the next version"
    )


def test_the_fourth_version_takes_the_second_rubric() -> None:
    third, fourth = load_questionnaire("ten_questions@3"), load_questionnaire("ten_questions@4")
    assert list(third.by_key) == list(fourth.by_key)
    for question in fourth.questions:
        own = "This household's own conditions do not count here."
        assert question.definition.endswith(own) == bool(question.dimension)
    safety = fourth.by_key["safety"]
    for words in (safety.definition, safety.anchors[1], safety.anchors[5]):
        assert "property" in words and "surroundings" in words
    assert "Table 11" in safety.note and "property" not in third.by_key["safety"].definition
    # Wherever there was feedback, both questions on it are asked.
    assert fourth.asked(frozenset({"feedback"})) == ["feedback_reasonable", "feedback_clear"]


def test_a_rubric_that_is_not_there_is_refused() -> None:
    text = yaml.safe_load((FOLDER / "ten_questions.v4.yaml").read_text())
    with pytest.raises(QuestionnaireError, match="no rubric in version 9; it has 1, 2"):
        read_questionnaire(
            yaml.safe_dump(text | {"rubric": 9}), source="typed", id="ten_questions@4"
        )


def test_versions_reworded_in_plain_words_ask_the_same() -> None:
    for name in ("tool_dialogues", "about_annotators"):
        old, new = (load_questionnaire(f"{name}@{version}") for version in (1, 2))
        for of in ("key", "section", "about", "needs", "required"):
            assert [getattr(q, of) for q in old.questions] == [
                getattr(q, of) for q in new.questions
            ]
        for before, after in zip(old.questions, new.questions, strict=True):
            assert before.scale.kind == after.scale.kind
            assert [o.value for o in before.scale.options] == [o.value for o in after.scale.options]


def digest_of(id: str) -> str:
    """Return a digest of all words of a questionnaire, those of its rubric included."""
    words = json.dumps(described(load_questionnaire(id)), sort_keys=True, ensure_ascii=False)
    return sha256(words.encode()).hexdigest()[:16]


def test_every_question_has_anchors_and_examples() -> None:
    for id in shipped_questionnaires():
        for question in load_questionnaire(id).questions:
            points = {1, 3, 5} if question.scale.kind == "points" else set()
            assert set(question.anchors) == set(question.examples) == points
            assert question.title and (question.definition or question.about == "person")


@pytest.mark.parametrize(
    ("has", "numbers"),
    [
        ({"feedback", "violations", "final_plan"}, list(range(1, 11))),
        ({"feedback", "final_plan"}, [1, *range(3, 11)]),
        ({"final_plan"}, list(range(3, 11))),
        ({"violations", "final_plan"}, list(range(3, 11))),
        (set(), []),
    ],
)
def test_an_item_is_asked_only_what_it_has(has: set[str], numbers: list[int]) -> None:
    questionnaire = load_questionnaire(TEN)
    asked = questionnaire.of_keys(questionnaire.asked(frozenset(has)))
    assert [q.number for q in asked] == numbers


def test_a_dialogue_is_asked_only_what_it_has() -> None:
    questionnaire = load_questionnaire(TOOLS)
    assert questionnaire.system == "external" and len(questionnaire.questions) == 10
    everything = frozenset(NEEDS) - {"feedback", "violations", "final_plan"}
    assert len(questionnaire.asked(everything)) == 10
    # A talk of one turn without tools and without a system prompt.
    assert questionnaire.asked(frozenset({"user_replies"})) == [
        "task_completed", "information_gathering", "clear_to_user", "efficient",
    ]  # fmt: skip
    assert "recovery" not in questionnaire.asked(everything - {"failed_calls"})
    # Nothing is asked about plans, violations or rubric dimensions.
    assert not questionnaire.needs & {"feedback", "violations", "final_plan"}
    assert not any(question.dimension for question in questionnaire.questions)


@pytest.mark.django_db
def test_the_questionnaires_of_a_system() -> None:
    assert [q.id for q in questionnaires_for("external")] == [
        "tool_dialogues@2",
        "turn_dialogues@1",
    ]
    assert [q.id for q in questionnaires_for("adaplanbench")] == [
        "ten_questions@4", "turn_scores@3", "violation_check@3",
        "violation_check_with_marks@1", "compare_plans@1", "filter_check@3",
    ]  # fmt: skip
    assert questionnaires_for("nowhere") == []


@pytest.mark.django_db
@pytest.mark.parametrize("id", ["ten_questions", "ten_questions@9", "../x@1", "none@1", ""])
def test_unknown_questionnaire_names_the_known_ones(id: str) -> None:
    with pytest.raises(QuestionnaireError, match="ten_questions@1"):
        load_questionnaire(id)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: d.pop("sections"), "sections: expected a list, found nothing"),
        (lambda d: d.update(system="nowhere"), "unknown system 'nowhere'"),
        # Imported trajectories have a name here, too, though they cannot be run.
        (lambda d: d.update(system="imported"), " any, external, planbench_xl"),
        (
            lambda d: d.update(version=2),
            "id: expected ten_questions@1, found the text 'ten_questions@2'",
        ),
        (
            lambda d: d["questions"][0].update(needs=["luck"]),
            "questions 1, needs 1: expected one of feedback",
        ),
        (
            lambda d: d["questions"][0].update(section="no"),
            "questions 1, section: expected one of feedback, final",
        ),
        (
            lambda d: d["questions"][0]["anchors"].pop(3),
            "questions 1, anchors: expected words for 1, 3, 5",
        ),
        (
            lambda d: d["questions"][1].update(key="feedback_reasonable"),
            "questions 2, key: expected a key that is not taken",
        ),
        (
            lambda d: d["questions"][1].update(key="comment"),
            "questions 2, key: expected a key that",
        ),
        (
            lambda d: d["questions"][2].update(dimension="beauty"),
            "questions 3, dimension: expected one of feasibility",
        ),
        (lambda d: d["questions"].append("?"), "questions 11: expected fields such as key"),
    ],
)
def test_a_broken_questionnaire_is_refused(change, said: str) -> None:
    data = yaml.safe_load((FOLDER / "ten_questions.v1.yaml").read_text())
    change(data)
    with pytest.raises(QuestionnaireError, match="here.yaml: ") as caught:
        read_questionnaire(yaml.safe_dump(data), source="here.yaml", id=TEN)
    assert said in str(caught.value)


def test_not_yaml_is_refused() -> None:
    with pytest.raises(QuestionnaireError, match="x: line 1: expected YAML"):
        read_questionnaire("a: ]", source="x", id=TEN)
    with pytest.raises(QuestionnaireError, match="the file: expected fields such as id"):
        read_questionnaire("- a", source="x", id=TEN)
