"""Limits of the formats of exports: what each cannot hold, or holds where other programs ignore it.

Pages, the API and the command name them before anything is written; the tests of exports hold each
format to its sentence.
"""

_WHOLE = "Holds all of a trajectory, and people's ratings."
LIMITS: dict[str, str] = {
    "openai-chat": "Holds all of a trajectory; no ratings of people.",
    "atif": "Tool results move into the step of their call. Scores, files and messages hidden from "
    "the agent are under extra, images in files beside it; no ratings of people.",
    "inspect": "Leaves out undefined scores and ratings of people. Hidden conditions become lines "
    "of the target; tool definitions, tokens of a message and files are metadata.",
    "session-traces": "The Hub shows texts, reasoning, calls and results; the rest is in a header "
    "that it ignores. Leaves out the content of images and ratings of people.",
    "huggingface": _WHOLE,
    "huggingface-parquet": _WHOLE,
}
