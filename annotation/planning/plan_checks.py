"""What can be said of a plan before anything is looked up: wishes that no study could meet."""

from collections.abc import Iterator

from django.utils import timezone

from annotation.planning.plans import (
    BOUNDS,
    DEALINGS,
    MOST_ANNOTATORS,
    ORDERS,
    PlanError,
    PlanProblem,
    StudyPlan,
)
from annotation.questionnaires import Questionnaire, QuestionnaireError, load_questionnaire


def planned_questionnaire(plan: StudyPlan) -> Questionnaire:
    try:
        found = load_questionnaire(plan.questionnaire)
    except QuestionnaireError as error:
        raise PlanError([PlanProblem("questionnaire", str(error))]) from None
    if found.unit == "person":
        words = f"{found.id} asks about annotators; give it as background"
        raise PlanError([PlanProblem("questionnaire", words)])
    return found


def simple_problems(plan: StudyPlan) -> Iterator[PlanProblem]:
    if not plan.name.strip() or len(plan.name) > 160:
        yield PlanProblem("name", "give the study a name of at most 160 characters")
    for name, (least, most) in BOUNDS.items():
        if not least <= getattr(plan, name) <= most:
            yield PlanProblem(name, f"a whole number from {least:,} to {most:,} is expected")
    if not 0 <= plan.pass_mark <= 1:
        yield PlanProblem("pass_mark", "a share from 0 to 1 is expected, such as 0.75")
    if plan.dealing not in DEALINGS:
        yield PlanProblem("dealing", f"expected one of {', '.join(DEALINGS)}")
    if plan.order not in ORDERS:
        yield PlanProblem("order", f"expected one of {', '.join(ORDERS)}")
    if plan.closes_at is not None and plan.closes_at <= timezone.now():
        yield PlanProblem("closes_at", "the study would be closed already")
    named = plan.dealing == "named"
    if named and not plan.annotators or len(set(plan.annotators)) != len(plan.annotators):
        yield PlanProblem("annotators", "name at least one annotator, and nobody twice")
    elif named and plan.raters > len(plan.annotators):
        count = len(plan.annotators)
        words = f"an item can have 1 to {count} of the annotators named here, not {plan.raters}"
        yield PlanProblem("raters", words)
    if len(plan.annotators) > MOST_ANNOTATORS:
        yield PlanProblem("annotators", f"at most {MOST_ANNOTATORS} annotators at once")
    if plan.order == "queries":
        yield from _query_problems(plan)
    elif plan.queries_each is not None:
        yield PlanProblem("queries_each", "this belongs to the order queries alone")
    if not named and plan.whole_tasks:
        yield PlanProblem("whole_tasks", "in a pool everybody takes single items")
    if plan.gold and named and not plan.gold_each:
        yield PlanProblem("gold_each", "say how many gold items each annotator gets")
    if plan.gold_each and not plan.gold:
        yield PlanProblem("gold", "there are no gold items to give")


def _query_problems(plan: StudyPlan) -> Iterator[PlanProblem]:
    if plan.queries_each is None or not 1 <= plan.queries_each <= 1000:
        yield PlanProblem("queries_each", "each annotator needs at least one query, at most 1,000")
    if plan.dealing == "pool":
        yield PlanProblem("order", "a pool cannot be dealt in queries; take another order")


def background_problems(plan: StudyPlan) -> Iterator[PlanProblem]:
    if not plan.background:
        return
    try:
        asks = load_questionnaire(plan.background)
    except QuestionnaireError as error:
        yield PlanProblem("background", str(error))
    else:
        if asks.unit != "person":
            yield PlanProblem("background", f"{plan.background} does not ask about annotators")
