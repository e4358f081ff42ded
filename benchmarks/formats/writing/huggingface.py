"""The card of a data set folder as Hugging Face reads it."""

CARD = """---
license: {licence}
doi: ""
tags:
- format:agent-traces
configs:
- config_name: default
  data_files: trajectories.{ending}
{more}---
# {title}

Trajectories of {agent} on {dataset}, written by PlanJury. One row is one trajectory: `messages`
and `tools` in the chat format, `system` what the agent was told first, `hidden` what it was not
told, `reward` and `scores` as stored, `undefined` why a score is missing, `rubric` what judges made
of each turn (`kind` says what a judge is; a scripted one only plays a judge's part), `termination`
how it ended.{note}

The tasks of {dataset}: {tasks}.
"""
RATINGS = """- config_name: ratings
  data_files: ratings.{ending}
"""
NOTE = """

In `ratings.{ending}` one row is what one rater said to one question about the trajectory with the
same `task_id` and `attempt`; without a `turn` it is about all of it. `value` is a score or a choice
(`label` says it in words), `chosen` what was marked (an empty list: nothing is to be marked),
`text` an answer in words, `comment` a remark beside it. Raters have pseudonyms; `simulated` ones
are programs."""


def card(
    title: str, *, agent: str, dataset: str, ending: str, rated: bool, licence: str, tasks: str
) -> str:
    """Return the text of ``README.md``; ``tasks`` is the licence of the tasks, in words."""
    return CARD.format(
        title=title,
        agent=agent,
        dataset=dataset,
        ending=ending,
        licence=licence,
        tasks=tasks,
        more=RATINGS.format(ending=ending) if rated else "",
        note=NOTE.format(ending=ending) if rated else "",
    )
