"""What AdaPlanBench varies (paper, sections 4 and C): levels, ablation, tracking, temperature."""

from benchmarks.core.comparisons import Factor, Named
from benchmarks.systems.adaplanbench.published import TEMPERATURES

# The setting that grants extra turns with feedback on the rubric.
REFINEMENT = "refinement"

FACTORS: tuple[Factor, ...] = (
    Factor(
        "level",
        "Level of the profile",
        "level",
        {
            "low": Named("Low", "Constraints of the first round."),
            "mid": Named("Mid", "Constraints of the first two rounds."),
            "high": Named("High", "Constraints of the first three rounds."),
        },
        steps=True,
        where="Figure 2",
        said="accuracy and valid plan rate fall from low to mid to high",
    ),
    Factor(
        "constraints",
        "Kinds of constraints",
        "setting",
        {
            "both": Named("Both kinds", "World and user constraints."),
            "world_only": Named("World only", "The user wants nothing in particular."),
            "user_only": Named("User only", "Nothing in the world is missing."),
        },
        where="Figure 6",
        said="both kinds are hardest, and user constraints alone are harder than world constraints "
        "alone",
    ),
    Factor(
        "tracking",
        "Tracking of constraints",
        "setting",
        {
            False: Named("Without", "The agent has the dialogue alone."),
            True: Named("With", "All disclosed constraints stand in front of its input."),
        },
        where="Figure 4",
        said="accuracy gains less than 3 points for three of four models, the valid plan rate "
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
        said="between temperatures of 0 and 1 neither measure moves by much more than 3 points",
        advice="add the same model as another endpoint with the other temperature among its "
        "parameters, and run it as an agent on the same tasks",
    ),
)
