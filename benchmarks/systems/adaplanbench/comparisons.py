"""The factors of AdaPlanBench (paper, sections 4 and C), and its participants."""

from collections.abc import Mapping

from benchmarks.core.ports.comparisons import (
    Caption,
    Comparisons,
    Factor,
    SimulatedUser,
    filled,
)
from benchmarks.core.ports.labels import Measure
from benchmarks.systems.adaplanbench.published import TEMPERATURES

# The setting that grants extra turns with feedback on the rubric.
REFINEMENT = "refinement"

JUDGES, RUBRIC, SIMULATOR = ("world_judge", "user_judge"), "rubric_judge", "simulator"
PLAY = "play sessions with the same agent on the same tasks"

# Of the ten questions those on feedback.
FEEDBACK_RATINGS: Mapping[str, Measure] = {
    "feedback_reasonable": Measure(
        "Feedback reasonable", "Question 1: how reasonable people find the feedback, 1 to 5."
    ),
    "feedback_clear": Measure(
        "Constraints clear", "Question 2: how clearly it says what was violated, 1 to 5."
    ),
}

FACTORS: tuple[Factor, ...] = (
    Factor(
        "level",
        "Level of the profile",
        "level",
        {
            "low": Caption("Low", "Constraints of the first round."),
            "mid": Caption("Mid", "Constraints of the first two rounds."),
            "high": Caption("High", "Constraints of the first three rounds."),
        },
        steps=True,
        where="Figure 2",
        finding="accuracy and valid plan rate fall from low to mid to high",
    ),
    Factor(
        "constraints",
        "Kinds of constraints",
        "setting",
        {
            "both": Caption("Both kinds", "World and user constraints."),
            "world_only": Caption("World only", "The user wants nothing in particular."),
            "user_only": Caption("User only", "Nothing in the world is missing."),
        },
        pairs=(("world_only", "user_only"),),
        where="Figure 6",
        finding="both kinds are hardest, and user constraints alone are harder than world "
        "constraints alone",
    ),
    Factor(
        "tracking",
        "Tracking of constraints",
        "setting",
        {
            False: Caption("Without", "The agent has the dialogue alone."),
            True: Caption("With", "All disclosed constraints stand in front of its input."),
        },
        where="Figure 4",
        finding="accuracy gains less than 3 points for three of four models, the valid plan rate "
        "mostly 5 to 15 points",
    ),
    Factor(
        "temperature",
        "Temperature",
        "parameter",
        where="Table 5",
        published={
            (measure, value): f"{measure}@temperature={value}"
            for measure in ("accurate", "valid")
            for value in TEMPERATURES
        },
        finding="between temperatures of 0 and 1 neither measure moves by much more than 3 points",
        advice="add the same model as another endpoint with the other temperature among its "
        "parameters, and run it as an agent on the same tasks",
    ),
    Factor(
        "user",
        "Who speaks for the user",
        "people",
        {
            "": Caption("Script or model", "No person takes part beside the agent."),
            filled([SIMULATOR]): Caption(
                "Person", "Scripts or models judge; a person words the feedback."
            ),
            filled([*JUDGES, SIMULATOR]): Caption(
                "Person who judges", "A person judges what is violated, and words the feedback."
            ),
        },
        advice=PLAY,
        roles=(*JUDGES, SIMULATOR),
    ),
    Factor(
        "judges",
        "Who judges",
        "people",
        {
            "": Caption("Script or model", "No person judges."),
            filled(JUDGES): Caption("Person", "A person judges what is violated."),
            filled([*JUDGES, RUBRIC]): Caption(
                "Person, rubric too", "A person judges what is violated, and scores the plan."
            ),
        },
        advice=PLAY,
        roles=(*JUDGES, RUBRIC),
    ),
)

COMPARISONS = Comparisons(
    factors=FACTORS,
    refinement=REFINEMENT,
    feedback_ratings=FEEDBACK_RATINGS,
    user=SimulatedUser(SIMULATOR),
)
