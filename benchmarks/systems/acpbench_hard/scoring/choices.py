"""Scores of yes-or-no and multiple-choice answers: the option that is read is the stored one.

The harness reads such replies by filters of its own, which are not imitated here; so there is no
reference score, and the corrected one counts.
"""

from benchmarks.systems.acpbench_hard.corrected_reading import read_choice
from benchmarks.systems.acpbench_hard.questions import PlanningQuestion
from benchmarks.systems.acpbench_hard.scoring.verdict import AnswerVerdict, CheckedElement

NO_REFERENCE = "the published evaluator of this form of question is not imitated"


def score_choice(question: PlanningQuestion, response: str) -> AnswerVerdict:
    """Return the score of a reply to a question whose answers are given."""
    given, right = read_choice(response, question.options), str(question.answer)
    if given is None:
        reason = f"The reply names none of {', '.join(question.options)}."
        return AnswerVerdict(question.task, None, 0, (reason,), failure="unparsed")
    text = dict(question.choices).get(given, "")
    mark = CheckedElement(given, given == right, text)
    if given == right:
        reason = f"Answered {given}, which is correct."
        return AnswerVerdict(question.task, None, 1, (reason,), (mark,), read=given)
    reason = f"Answered {given}; correct is {right}."
    return AnswerVerdict(question.task, None, 0, (reason,), (mark,), "wrong_value", read=given)
