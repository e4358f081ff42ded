"""The builder as a generator: the student plays ADAPT, and each of its steps is looked at again.

At every step the teacher, who knows the preferences, acts on the student's own history; the scorer
says how probable both actions are for the student; where the teacher's is not the likelier one, the
student reflects on what it could have asked (paper, section 5 and Algorithm 1). What is found goes
into the step's turn; the student goes on with its own action.
"""

import random
from collections.abc import Generator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from benchmarks.core.system import PROMPTS
from benchmarks.core.types import Ask, Episode, Expect, Json, Message, Outcome, Reply, Task
from benchmarks.systems.adapt import episode as adapt
from benchmarks.systems.adapt.household.actions import ASK, UNREAD, Action, parse_action
from benchmarks.systems.adapt.metrics import LEAKED, names_of
from benchmarks.systems.adapt.settings import TEACHER as TOLD_ALL
from benchmarks.systems.adapt_reflection.decisions import mean_probability
from benchmarks.systems.adapt_reflection.metrics import outcome_metrics, undefined
from benchmarks.systems.adapt_reflection.prompts import PROMPTS as WORDS
from benchmarks.systems.adapt_reflection.scorers import ask_scorer
from benchmarks.systems.adapt_reflection.settings import play_settings, thresholds_of

STUDENT, TEACHER = adapt.AGENT, "teacher"
DECLINED, UNSCORED = adapt.DECLINED, "scorer_gave_nothing"
Asking = Generator[Sequence[Ask], Sequence[Reply], Any]


class _Unscored(Exception):
    """The scorer gave no probabilities; nothing is guessed, so the episode ends."""


def episode(task: Task, settings: Mapping[str, Any], rng: random.Random) -> Episode:
    """Play one trajectory of the student with the teacher's corrections. ``rng`` draws the
    scene.
    """
    builder = _Builder(adapt.AdaptPlay(task, play_settings(settings), rng), settings)
    try:
        return (yield from builder.build())
    except _Unscored as error:
        return builder.broken_off(UNSCORED, str(error))


class _Builder:
    """A trajectory under construction: the student's episode, and what was found at each step."""

    def __init__(self, play: adapt.AdaptPlay, settings: Mapping[str, Any]) -> None:
        self.play, self.settings = play, settings
        self.opening = [{"role": m.speaker, "content": m.text} for m in play.messages]
        self.taught = play.opening(TOLD_ALL)
        self.found: list[dict[str, Any]] = []
        # Version 1 of the scorer stored neither what was told nor whether the student asked.
        self.counts_more = LEAKED in names_of(settings)
        self.told = self.leaked = 0

    def build(self) -> Episode:
        play = self.play
        while True:
            student, teacher = (yield [play.ask_agent(), self._ask_teacher()]) or ()
            if not student.readable:
                return self.broken_off(DECLINED, f"the student gave no reply: {student.reason}")
            action = parse_action(student.value["action"])
            if action.kind == ASK and play.asked >= play.settings["max_questions"]:
                return self._outcome(adapt.MAX_QUESTIONS)
            step = yield from self._compare(action, teacher)
            answer: Reply | None = None
            if action.kind == ASK:
                answer = yield from adapt.put(play.ask_persona(action.x))
            turn = play.take(student, action, "", answer)
            self.found.append(step)
            yield replace(turn, payload={**turn.payload, "builder": step})
            if end := play.end(action):
                return self._outcome(end)

    def _ask_teacher(self) -> Ask:
        """Return the ask for the teacher's action: the same history, and the preferences."""
        opening = len(self.opening)
        messages = [*self.taught, *self.play.messages[opening:]]
        return self.play.ask_as(TEACHER, TOLD_ALL, messages)

    # --- One step ---------------------------------------------------------------------------------

    def _compare(self, action: Action, teacher: Reply) -> Asking:
        """Return what is stored about a step; decisions follow from it alone."""
        chosen = parse_action(teacher.value["action"]) if teacher.readable else None
        step: dict[str, Any] = {
            "student": action.text.strip() or adapt.EMPTY,
            **({"student_asks": action.kind == ASK} if self.counts_more else {}),
            "teacher": chosen.text if chosen else "",
            "same": False,
            "unusable": _why_unusable(teacher, chosen),
            "probabilities": {},
            "question": None,
            "answer": None,
            "no_question": "",
        }
        if chosen is None or step["unusable"]:
            return step
        step["same"] = action.kind != UNREAD and action.key == chosen.key
        if step["same"]:
            return step
        history = tuple(self.play.messages)
        student_probs, teacher_probs = yield from self._score(
            [(history, step["student"]), (history, step["teacher"])]
        )
        step["probabilities"] = {"student": student_probs, "teacher": teacher_probs}
        mean = self.settings["mean"]
        if mean_probability(teacher_probs, mean) <= mean_probability(student_probs, mean):
            yield from self._reflect(step, history)
        return step

    def _reflect(self, step: dict[str, Any], history: Sequence[Message]) -> Asking:
        """Have the student find a question, and score the teacher's action after its answer."""
        question = yield from adapt.put(self._ask_question(step, history))
        if not question.readable:
            step["no_question"] = f"the student gave no question: {question.reason}"
            return
        step["question"] = question.value
        answer = yield from adapt.put(self.play.ask_persona(question.value))
        if not answer.readable:
            step["no_question"] = f"the persona gave no answer: {answer.reason}"
            return
        step["answer"] = answer.value["answer"]
        told, leaked = self.play.told_by(
            question.value, step["answer"], answer.value["disclosed"], frozenset()
        )
        self.told += len(told)
        self.leaked += len(leaked)
        asked = (
            *history,
            Message("assistant", f"Ask {question.value}"),
            Message("user", self.play.answer_words(step["answer"])),
        )
        (given,) = yield from self._score([(asked, step["teacher"])])
        step["probabilities"]["given_question"] = given

    def _ask_question(self, step: Json, history: Sequence[Message]) -> Ask:
        """Return the reflection. It is added to the last message, since speakers take turns."""
        words = WORDS.fill(
            "reflection",
            {"student": step["student"], "teacher": step["teacher"]},
            str(self.settings.get(PROMPTS, "")),
        )
        last = replace(history[-1], text=f"{history[-1].text}\n\n{words}")
        context = {
            "task": self.play.task.prompt,
            "student": step["student"],
            "teacher": step["teacher"],
            "asked": [line["question"] for line in self.play.dialogue],
        }
        return Ask(STUDENT, (*history[:-1], last), Expect("question"), context=context)

    def _score(self, wanted: Sequence[tuple[Sequence[Message], str]]) -> Asking:
        """Return the token probabilities of each text after its messages."""
        form = self.settings["prompt_form"]
        replies = yield [ask_scorer(messages, text, form) for messages, text in wanted]
        for reply in replies:
            if not reply.readable:
                raise _Unscored(f"the scorer gave no probabilities: {reply.reason}")
        return [reply.value for reply in replies]

    # --- The outcome ------------------------------------------------------------------------------

    def _outcome(self, termination: str) -> Outcome:
        """Return the student's outcome with what was found; decisions are made when it is read."""
        played = self.play.outcome(termination)
        record = self._record(played.payload)
        metrics, why = outcome_metrics(played, record, thresholds_of(self.settings))
        return Outcome(termination, metrics, why, record)

    def broken_off(self, termination: str, reason: str) -> Outcome:
        """Return the outcome of an episode that somebody let down."""
        record = self._record({**self.play.about, "reason": reason})
        return Outcome(termination, *undefined(reason, self.settings), record)

    def _record(self, record: Json) -> dict[str, Any]:
        numbers = ("same", "unusable", "no_question", "probabilities", "student_asks")
        more = {"told": self.told, "leaked": self.leaked}
        return {
            **record,
            **({"reflection": more} if self.counts_more else {}),
            "opening": self.opening,
            "thresholds": asdict(thresholds_of(self.settings)),
            "found": [
                {name: step[name] for name in numbers if name in step} for step in self.found
            ],
        }


def _why_unusable(teacher: Reply, action: Action | None) -> str:
    """Return why the teacher's action is none to learn from; '' if it is one."""
    if action is None:
        return f"the teacher gave no reply: {teacher.reason}"
    if action.kind == UNREAD:
        return "the teacher's reply is no action"
    return "the teacher asked a question" if action.kind == ASK else ""
