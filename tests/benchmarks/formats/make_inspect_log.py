"""Write `inspect_mock.eval` with Inspect itself, its mock model and two scorers.

    pip install inspect-ai
    python tests/benchmarks/formats/make_inspect_log.py TARGET

The texts are our own. The second question is answered wrongly; one scorer gives letters, the other
a value for each of two dimensions.
"""

import sys
import tempfile
from pathlib import Path
from shutil import copyfile
from typing import Any

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, Target, match, mean, scorer
from inspect_ai.solver import TaskState

MODEL = "mockllm/example"


@scorer(metrics={"*": [mean()]})
def rubric() -> Any:
    """A value for each dimension."""

    async def score(state: TaskState, target: Target) -> Score:
        right = state.output.completion.endswith(target.text)
        return Score(value={"brief": 5, "right": 5 if right else 1}, explanation="Scripted.")

    return score


def main(target: str) -> None:
    replies = ["The bag is in Oslo", "It leaves from platform 5"]
    task = Task(
        name="bags",
        dataset=[
            Sample(id="bag", input="Where is my bag?", target="Oslo", metadata={"topic": "bags"}),
            Sample(id="platform", input="Which platform?", target="4"),
        ],
        scorer=[match(location="end"), rubric()],
    )
    outputs = [ModelOutput.from_content(MODEL, reply) for reply in replies]
    for output in outputs:
        output.usage = ModelUsage(input_tokens=9, output_tokens=5, total_tokens=14)
    model = get_model(MODEL, custom_outputs=outputs)
    with tempfile.TemporaryDirectory() as folder:
        (log,) = eval(task, model=model, log_dir=folder, log_format="eval", display="none",
                      max_samples=1)  # fmt: skip
        copyfile(Path(log.location.removeprefix("file://")), target)


if __name__ == "__main__":
    main(sys.argv[1])
