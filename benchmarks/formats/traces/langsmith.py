"""Runs of LangSmith: what its SDK sends (``post`` and ``patch``), or a list or lines of runs.

Calls of a model in one trace, or in one thread where it is named, that go on from one another are a
trajectory; the others stand apart.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks.core.problems import Problems, Unquoted
from benchmarks.formats.sessions.exchanges import Chains, Exchange, with_figures
from benchmarks.formats.sessions.lines import decoded, session_lines
from benchmarks.formats.sessions.parts import amount, as_list, as_mapping, string
from benchmarks.formats.sessions.parts import whole as count
from benchmarks.formats.sessions.transcript import (
    Transcript,
    finished,
    leave_out,
    tool_definitions,
)
from benchmarks.formats.shape import Shape, shape_of
from benchmarks.formats.source import FileSource, Spot
from benchmarks.formats.traces.frameworks import messages_of
from benchmarks.formats.trajectory import ImportedTrajectory

MOST_RUNS = 100_000
_THREADS = ("session_id", "thread_id", "conversation_id")


def recognises(shape: Shape) -> bool:
    if shape.kind not in ("object", "list", "lines"):
        return False
    return {"run_type", "inputs"} <= shape.names and bool(
        {"run_type", "post", "patch", "runs"} & shape.top
    )


def read(
    source: FileSource, problems: Problems, header: dict[str, Any]
) -> Iterator[ImportedTrajectory]:
    """Yield the trajectories of a file of runs; faults are noted."""
    runs: dict[str, tuple[Spot, dict[str, Any]]] = {}
    for spot, row in _rows(source, problems, header):
        id = row.get("id")
        if not isinstance(id, str) or not id:
            spot.at("id").fault("the id of a run", id)
        elif id in runs:  # a patch tells what came later
            runs[id][1].update({k: v for k, v in row.items() if v not in (None, {}, [], "")})
        elif len(runs) < MOST_RUNS:
            runs[id] = (spot, dict(row))
        else:
            spot.fault(f"at most {MOST_RUNS} runs", Unquoted("more; split the file"))
            return
    log = Chains()
    ordered = sorted(runs.values(), key=lambda one: _order(one[1]))
    models = [one for one in ordered if one[1].get("run_type") == "llm"]
    for spot, run in models or [one for one in ordered if not one[1].get("parent_run_id")]:
        if log.add(_exchange(spot, run)) is None:
            return
    if models and len(runs) > len(models):
        leave_out(header, "run that is no call of a model", len(runs) - len(models))
    if problems.total:
        return
    first: set[str] = set()
    for chain in log.all:
        if chain.group in first:
            leave_out(header, "call of a model that stands apart", chain.calls)
            continue
        first.add(chain.group)
        transcript = Transcript(chain.group or source.name)
        transcript.model, transcript.tools = chain.model, chain.tools
        transcript.termination = chain.ending
        if not any("failed" in message.extra for message in chain.messages):
            transcript.counts["errors"] = None
        if (made := finished(transcript, chain.messages, chain.spot)) is not None:
            yield made


def _rows(
    source: FileSource, problems: Problems, header: dict[str, Any]
) -> Iterator[tuple[Spot, dict[str, Any]]]:
    top = Spot(problems, source.name)
    if shape_of(source).kind == "lines":
        for spot, line in session_lines(source, problems, header):
            batches = [as_list(line.get(name)) for name in ("post", "patch")]
            inner = [run for batch in batches for run in batch if isinstance(run, dict)]
            for run in inner or [line]:
                yield spot, run
        return
    one: dict[str, Any] = {}
    for field, index, item in source.entries():
        if index is None:
            one[field] = item
        elif not isinstance(item, dict):
            top.at(field or index).fault("a run: an object", item)
        elif field in ("", "post", "patch", "runs"):
            yield (top.at(field) if field else top).at(index), item
    if "run_type" in one:
        yield top, one


def _order(run: Mapping[str, Any]) -> str:
    return string(run.get("dotted_order")) or string(run.get("start_time"))


def _exchange(spot: Spot, run: Mapping[str, Any]) -> Exchange:
    inputs, outputs = as_mapping(decoded(run.get("inputs"))), decoded(run.get("outputs"))
    out, extra = as_mapping(outputs), as_mapping(run.get("extra"))
    about = as_mapping(extra.get("metadata"))
    inner = as_mapping(as_mapping(out.get("llm_output")).get("token_usage"))
    usage = {
        **inner,
        **as_mapping(out.get("usage")),
        **as_mapping(out.get("usage_metadata")),
        **run,
    }
    thread = next((about[n] for n in _THREADS if isinstance(about.get(n), str)), "")
    model = string(out.get("model")) or string(about.get("ls_model_name"))
    parameters = as_mapping(extra.get("invocation_params"))
    reply = messages_of(spot.at("outputs"), outputs, "assistant")
    return Exchange(
        spot,
        messages_of(spot.at("inputs"), inputs, "user"),
        with_figures(
            reply,
            at=string(run.get("end_time")),
            tokens_in=_first(usage, "input_tokens", "prompt_tokens"),
            tokens_out=_first(usage, "output_tokens", "completion_tokens"),
            cost=amount(run.get("total_cost")),
        ),
        model=model or string(inputs.get("model")) or string(parameters.get("model")),
        tools=tool_definitions(inputs.get("tools") or parameters.get("tools")),
        ending="error" if run.get("error") else "",
        group=thread or string(run.get("trace_id")) or string(run.get("id")),
    )


def _first(usage: Mapping[str, Any], *names: str) -> int | None:
    return next((number for n in names if (number := count(usage.get(n))) is not None), None)
