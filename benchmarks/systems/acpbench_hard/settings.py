"""The settings of a run: what the agent is shown, which score counts, and how far a search goes."""

from benchmarks.core.system import Setting

NL, PDDL, BOTH = "nl", "pddl", "nl+pddl"
CONTEXTS = (NL, PDDL, BOTH)
REFERENCE, CORRECTED = "reference", "corrected"
SCORES = (REFERENCE, CORRECTED)
OWN, PAPER = "own", "paper"
MOST_SHOTS = 2

SETTINGS = (
    Setting("prompt", "choice", OWN,
            "Whose wording and worked examples the agent is shown. The published ones need a "
            "dataset that was imported with the repository's configs/tasks.", (OWN, PAPER),
            title="Prompt"),
    Setting("context", "choice", NL,
            "How the question's domain and state are described to the agent.", CONTEXTS,
            title="Form of the context"),
    Setting("shots", "int", MOST_SHOTS, "Worked examples before the question.",
            minimum=0, maximum=MOST_SHOTS, title="Worked examples"),
    Setting("counts", "choice", REFERENCE,
            "Which score is the accuracy. Both are computed and shown for every answer.", SCORES,
            title="Score that counts"),
    Setting("nodes", "int", 200_000,
            "States that one search may visit before it gives up without a verdict.",
            minimum=100, maximum=5_000_000, title="States per search"),
)  # fmt: skip
