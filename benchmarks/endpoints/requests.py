"""An endpoint as the API, the form and the command take it."""

from pydantic import ConfigDict, Field

from benchmarks.llm.config import EndpointFields


class EndpointRequest(EndpointFields):
    """A new endpoint. The key is never sent: it is in the environment."""

    model_config = ConfigDict(extra="forbid")

    title: str = Field(
        "", title="Title", max_length=120,
        description="What pages call it, such as “Example 70B, mild”. Left empty, the model’s "
        "name.",
    )  # fmt: skip
    name: str = Field(
        "", title="Name", max_length=60,
        description="For the terminal, as in --agent NAME, and the log. Left empty, it is made of "
        "the title. It stays as it is.",
    )  # fmt: skip
    simulated: bool = Field(
        False, title="Answers are simulated",
        description="A program answers in place of a model, such as `manage.py fake_endpoint`. "
        "All results are labelled so. A trial notices that endpoint by itself.",
    )  # fmt: skip
