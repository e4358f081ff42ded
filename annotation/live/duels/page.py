"""The page of a duel: the dialogues of two sessions in one room, with one form at a time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest
from typing import Any

from django.http import HttpRequest

from annotation.blinding import blind_studies
from annotation.live.access import fetch_session
from annotation.live.duels.selectors import DuelProgress, find_duel, other_side, read_progress
from annotation.live.play.dialogue import DialogueLine, load_session_dialogue, without_newest
from annotation.live.play.services import note_end
from annotation.live.play.session_state import LATER, SOON, SessionState, read_session_state
from annotation.live.play.status import Headline, ended_text
from annotation.models import Duel, DuelVote, LiveSession

LEFT, RIGHT = "left", "right"


@dataclass(frozen=True)
class DuelSide:
    """One side as its player sees it: ``lines`` turn by turn, after what the player said first."""

    name: str
    state: SessionState
    intro: Sequence[DialogueLine]
    turns: Sequence[Sequence[DialogueLine]]

    @property
    def ending(self) -> str:
        """Return why the side does not go on, in words; empty while it does."""
        if self.state.over:
            return ended_text(self.state)
        if self.state.turn.standing == "stuck":
            return (
                "This agent did not respond. The study’s manager can see this and may try again. "
                "The other side does not wait for it."
            )
        return ""


@dataclass(frozen=True)
class DuelTurn:
    """The replies of both agents in a turn, and the vote on them."""

    number: int
    left: Sequence[DialogueLine]
    right: Sequence[DialogueLine]
    vote: DuelVote | None
    votes: bool


@dataclass(frozen=True)
class DuelPage:
    """A duel as its player sees it."""

    duel: Duel
    progress: DuelProgress
    left: DuelSide
    right: DuelSide
    votes: Mapping[int, DuelVote]

    @property
    def sides(self) -> tuple[DuelSide, DuelSide]:
        return self.left, self.right

    @cached_property
    def turns(self) -> list[DuelTurn]:
        """The turns that are shown."""
        newest = self.progress.turn
        return [
            DuelTurn(
                number, left, right, self.votes.get(number),
                number == newest and self.progress.compares and not self.progress.over,
            )
            for number, (left, right) in enumerate(
                zip_longest(self.left.turns, self.right.turns, fillvalue=()), 1
            )
        ]  # fmt: skip

    @property
    def ends_in_vote(self) -> bool:
        """Return whether there is something to compare at the end."""
        return self.progress.over and min(self.progress.replies.values()) > 0

    @property
    def ended(self) -> bool:
        """Return whether both sides are over. One whose agent failed may still be continued."""
        return all(side.state.over for side in self.sides)

    @property
    def end_vote(self) -> DuelVote | None:
        return self.votes.get(0)

    @property
    def token(self) -> str:
        """Changes whenever the page has to."""
        return "-".join([self.left.state.token, self.right.state.token, str(len(self.votes))])

    @property
    def every(self) -> str:
        """The interval after which the page asks again."""
        mine = any(side.state.own for side in self.sides)
        return f"{LATER if mine else SOON:g}s"


def read_duel_page(request: HttpRequest, state: SessionState) -> DuelPage:
    """Return the duel of which a session (``state``) is a side."""
    duel = find_duel(state.session.pk)
    assert duel is not None
    other = fetch_session(request, other_side(duel, state.session.pk).pk, played=True)
    states = {each.session.pk: each for each in (state, read_session_state(other))}
    votes = {vote.turn: vote for vote in duel.votes.all()}
    left, right = (_side(name, states[pk]) for name, pk in
                   ((LEFT, duel.left_id), (RIGHT, duel.right_id)))  # fmt: skip
    return DuelPage(duel, read_progress(duel), left, right, votes)


def _side(name: str, state: SessionState) -> DuelSide:
    if state.over:
        note_end(session=state.session)
    lines: Sequence[DialogueLine] = []
    if state.turn.standing != "gathering" and state.place is not None:
        lines = load_session_dialogue(state.place, state.plan.system, over=state.over)
    turns: list[list[DialogueLine]] = [[]]
    for line in without_newest(lines) if state.held else lines:
        turns[-1].append(replace(line, side=f"{name}-"))
        if line.own:
            turns.append([])
    return DuelSide(name, state, turns[0], [turn for turn in turns[1:] if turn])


def session_to_answer(request: HttpRequest, state: SessionState) -> int:
    """Return the session whose form a player needs next: this one, if it asks them or neither does.

    Of two that ask nothing it is one that goes on.
    """
    page = read_duel_page(request, state)
    other = next(side.state for side in page.sides if side.state.session.pk != state.session.pk)
    moves = (bool(other.own), not other.over) > (bool(state.own), not state.over)
    return int((other if moves else state).session.pk)


def duel_context(page: DuelPage, shown: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the template of a duel needs beside the context of the session with the form."""
    state: SessionState = shown["state"]
    own = next(side for side in page.sides if side.state.session.pk == state.session.pk)
    asked = [side for side in page.sides if side.state.own]
    return {
        "duel": page,
        "side": own,
        "headline": _headline(page, own, shown["headline"]),
        "asked": asked,
        "asks": [ask.pk for side in asked for ask in side.state.own],
        "choices": DuelVote.Choice,
        "agents": _agents(page) if page.progress.over and page.end_vote else None,
    }


def _headline(page: DuelPage, own: DuelSide, usual: Headline) -> Headline:
    """Return whose turn it is, for a duel."""
    if page.progress.over:
        return Headline("Duel over", tone="idle")
    if own.state.own and own.state.turn.standing == "asked":
        return Headline(f"Your turn: {own.name} agent", "", usual.since, "ok")
    if own.state.turn.standing == "background" and page.progress.turn:
        together = "The replies of both agents appear together."
        return Headline("The agents are writing", together, usual.since, waits=True)
    return usual


def _agents(page: DuelPage) -> dict[str, str] | None:
    """Return the agent of each side after the last vote; None where the study is blinded."""
    study = page.duel.left.study_id
    if page.left.state.session.study.blinded or study in blind_studies(page.left.state.access.user):
        return None
    runs = LiveSession.objects.filter(pk__in=[page.duel.left_id, page.duel.right_id])
    names = dict(runs.values_list("pk", "trajectory__run__agent__title"))
    return {LEFT: names[page.duel.left_id], RIGHT: names[page.duel.right_id]}
