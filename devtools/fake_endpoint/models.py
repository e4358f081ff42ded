"""The models of the fake endpoint: one that works, and one for each way in which others do not."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Fault = Literal[
    "", "stall", "429", "quota", "500", "503", "400", "401", "redirect", "not-json", "not-a-chat",
    "error-inside", "hang-up", "drip", "flood", "compressed", "echo", "cut",
]  # fmt: skip
Style = Literal["", "nonsense", "empty", "cut-off", "filtered", "thinks", "think-tags", "no-usage",
                "echo", "repeats", "contradicts"]  # fmt: skip


@dataclass(frozen=True)
class Model:
    """The behaviour of a fake model.

    ``fault`` happens to the first ``tries`` tries of each request, 0 for every one. ``shares`` are
    chances of faults by try. ``latency`` is in seconds. ``style`` is how an answer looks. ``pause``
    is the time in seconds between two pieces of a streamed reply, None where all of it comes at
    once, streamed or not; ``refuses_streams``: a request for a stream is refused.
    """

    about: str
    fault: Fault = ""
    tries: int = 0
    shares: Mapping[Fault, float] | None = None
    latency: float = 0.0
    style: Style = ""
    share: float = 1.0
    scores: bool = True
    logprobs: bool = True
    pause: float | None = 0.0
    refuses_streams: bool = False


MODELS: Mapping[str, Model] = {
    "fake": Model("answers at once"),
    "chat-only": Model("serves no completions, so it scores no texts", scores=False),
    "no-logprobs": Model("echoes a text without log probabilities", logprobs=False),
    "slow": Model("takes two seconds", latency=2.0),
    "rough": Model(
        "fails one call in ten, and is now and then too busy, silent or gone",
        shares={"500": 0.1, "429": 0.05, "hang-up": 0.02, "stall": 0.02},
    ),
    "stall": Model("never answers", "stall"),
    "stall-once": Model("does not answer the first try", "stall", 1),
    "flaky-429": Model("too busy at the first try, with Retry-After", "429", 1),
    "flaky-500": Model("fails at the first two tries", "500", 2),
    "busy": Model("always too busy", "429"),
    "down": Model("always 503", "503"),
    "quota": Model("says that the account is used up", "quota"),
    "refuses": Model("always 400", "400"),
    "unauthorized": Model("always 401, showing a part of the key", "401"),
    "redirect": Model("redirects to another path", "redirect"),
    "hang-up": Model("breaks off in the middle of a reply", "hang-up"),
    "hang-up-once": Model("breaks off in the middle of the first try", "hang-up", 1),
    "writes": Model("streams some twenty words a second", pause=0.05),
    "creeps": Model("streams a character a minute", pause=60.0),
    "cut-once": Model("breaks a stream off in the middle, once", "cut", 1),
    "cut-twice": Model("breaks a stream off in the middle, twice", "cut", 2),
    "cut": Model("breaks every stream off in the middle", "cut"),
    "no-streams": Model("refuses to stream", refuses_streams=True),
    "unstreamed": Model("answers at once, whether it shall stream or not", pause=None),
    "drip": Model("sends its reply byte by byte, for ever", "drip"),
    "flood": Model("sends more than anybody wants", "flood"),
    "compressed": Model("sends a compressed reply unasked", "compressed"),
    "not-json": Model("sends a page of HTML", "not-json"),
    "not-a-chat": Model("sends JSON that is no completion", "not-a-chat"),
    "error-inside": Model("reports an error as if all were well", "error-inside", 1),
    "garbage": Model("answers nonsense", style="nonsense"),
    "mumbles": Model("answers every other request with nonsense", style="nonsense", share=0.5),
    "repeats": Model("says everything twice", style="repeats"),
    "wavers": Model("contradicts itself in every other reply", style="contradicts", share=0.5),
    "contradicts": Model("contradicts itself in every reply", style="contradicts"),
    "empty": Model("answers with nothing", style="empty"),
    "cut-off": Model("stops in the middle, out of tokens", style="cut-off"),
    "filtered": Model("is stopped by a content filter", style="filtered"),
    "thinks": Model("gives its reasoning in a field of its own", style="thinks"),
    "think-tags": Model("thinks aloud before the answer", style="think-tags"),
    "no-usage": Model("does not say what it used", style="no-usage"),
    "echo": Model("hostile: repeats the key in its reply", style="echo"),
    "echo-error": Model("hostile: repeats the key and the question in an error", "echo"),
}


def model_named(name: str) -> Model:
    """Return a model by name; any unknown name works as ``fake`` does."""
    return MODELS.get(name, MODELS["fake"])
