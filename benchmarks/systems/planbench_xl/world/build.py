"""Builds the dataset of the small world from ``world.yaml``: the eight files that the loader reads.

``python -m benchmarks.systems.planbench_xl.world.build`` writes them to ``data/``. Records, noisy
and blocking tools follow rules, paths are found by search; the same text gives the same files.
"""

import gzip
import json
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.core.digests import derive_seed
from benchmarks.core.yaml_files import read_yaml_file
from benchmarks.systems.planbench_xl.environment.catalogue import BLOCKER_TYPES, EXPLICIT, IMPLICIT
from benchmarks.systems.planbench_xl.environment.paths import paths_to

FOLDER = Path(__file__).parent
LONGEST_PATH = 9
# Cases that end at the door: nobody complained.
_QUIET = (13, 14, 15)
_CLAIMS = ("wilt_report", "wilt_state", "leaf_check", "leaf_finding", "replant_code", "repay_note",
           "repay_amount", "seed_voucher")  # fmt: skip
# By type of noise: how the name ends, and what the description owns up to.
_NOISY = {
    "deprecated": ("retired", "Kept for old programs; it answers nothing any more."),
    "condition_limited": ("partners", "For partner shops only."),
    "stale": ("snapshot", "Reads last season's copy of the books."),
    "miswired_or_unreliable": ("adjacent", "May pick up the neighbouring record."),
    "non_authoritative_value": ("guess", "Gives a likely value that nobody has checked."),
}
_ERRORS = {
    "deprecated": "error: this service was switched off",
    "condition_limited": "error: not open to this account",
    EXPLICIT: "error: the service does not respond",
}
_BLOCKING = dict(zip(BLOCKER_TYPES, ("fetch", "trace", "read"), strict=True))
_GARBLED = ("##", "n/a n/a", "undefined", "-1", "<blank>")


def build() -> dict[str, Any]:
    """Return the content of the eight files, by name."""
    spec = read_yaml_file(FOLDER / "world.yaml")
    rows = {f"case-{n:02}": _row(spec, n) for n in range(1, spec["cases"] + 1)}
    return files_of(spec, rows)


def files_of(
    spec: Mapping[str, Any], rows: Mapping[str, Any], longest: int = LONGEST_PATH
) -> dict[str, Any]:
    """Return the content of the eight files for records by case (``case-01`` and on).

    ``spec`` names the data types, tools and tasks as ``world.yaml`` does; ``longest`` is the most
    tools of a path.
    """
    aliases = {name: [name.replace("_", " "), *about[3:]] for name, about in _types(spec)}
    tools = list(_tools(spec, aliases))
    noisy = [_noisy(tool, kind, rows, aliases) for tool in tools for kind in _NOISY]
    blockers = [_blocking(tool, kind, rows, aliases) for tool in tools for kind in BLOCKER_TYPES]
    tasks, queries, paths = [], [], {}
    for key, (case, inputs, target, question) in spec["tasks"].items():
        row = rows[f"case-{case:02}"]
        found = paths_to(target, inputs, tools, longest)
        paths[f"task-{key}"] = [{"tool_set": sorted(p), "steps": len(p)} for p in found]
        common = {"input_datatypes": inputs, "target_datatype": target, "task_id": f"task-{key}"}
        tasks.append({**common, "one_available_path": found[0], "steps": len(found[0])})
        queries.append(
            {
                "query_id": key,
                **common,
                "query_text": question.format(**{name: f"`{row[name]}`" for name in inputs}),
                "correct_answer": str(row[target]),
                "input_type": "single_input" if len(inputs) == 1 else "two_inputs",
            }
        )
    return {
        "datatypes": [_datatype(name, about, rows) for name, about in _types(spec)],
        "database": {"order_cases": rows},
        "baseline_tools": tools,
        "noisy_tools": noisy,
        "blocker_tools": blockers,
        "tasks": tasks,
        "queries": queries,
        "paths_set_catalog": paths,
    }


def _types(spec: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    yield from spec["datatypes"].items()


def _datatype(name: str, about: Sequence[str], rows: Mapping[str, Any]) -> dict[str, Any]:
    category, value_type, description, *aliases = about
    return {
        "name": name,
        "category": category,
        "value_type": value_type,
        "description": description,
        "example": rows["case-01"][name],
        "aliases": aliases,
    }


# --- records -------------------------------------------------------------------------------------


def _row(spec: Mapping[str, Any], case: int) -> dict[str, Any]:
    """Return one sale from wish list to repayment. Codes are unique, so that lookups are."""
    rng = random.Random(derive_seed("nursery", case))
    plant = rng.choice(sorted(spec["plants"]))
    about = spec["plants"][plant]
    pot = rng.choice(sorted(about["pots"]))
    tour = rng.choice(sorted(spec["tours"]))
    price, count = about["pots"][pot], rng.randint(1, 6)
    row: dict[str, Any] = {}
    for name, (_, value_type, *_) in _types(spec):
        if name in spec["states"]:
            row[name] = rng.choice(spec["states"][name])
        elif value_type == "string":
            letters = "".join(part[0] for part in name.split("_")).upper()
            row[name] = f"{letters}{name[-1].upper()}-{rng.randint(100, 899) * 20 + case}"
    row |= {
        "advisor_name": rng.choice(spec["advisors"]),
        "plant_code": plant,
        "pot_size": pot,
        "greenhouse_bay": about["bay"],
        "grower_name": about["grower"],
        "price_tag": price,
        "tour_code": tour,
        "depot_name": spec["tours"][tour],
        "bill_total": round(price * count + 4.9, 2),
        "arrival_time": f"2031-05-{case:02}T{rng.randint(8, 18):02}:{rng.randint(0, 59):02}:00Z",
        "repay_amount": round(price * rng.randint(1, count), 2),
    }
    if case in _QUIET:
        row |= dict.fromkeys(_CLAIMS)
    return {name: row[name] for name, _ in _types(spec)}


# --- tools ---------------------------------------------------------------------------------------


def _tools(
    spec: Mapping[str, Any], aliases: Mapping[str, Sequence[str]]
) -> Iterator[dict[str, Any]]:
    for output, alternatives in spec["tools"].items():
        for inputs in alternatives:
            name = f"look_up_{output}_by_{'_and_'.join(inputs)}"
            given = " and ".join(_words(aliases[one][0]) for one in inputs)
            what = spec["datatypes"][output][2]
            text = f"Takes the {given} and looks up the {_words(aliases[output][0])}. {what}"
            yield _tool(name, text, inputs, output, {one: one for one in inputs}, spec)


def _tool(
    name: str,
    description: str,
    inputs: Sequence[str],
    output: str,
    surface: Mapping[str, str],
    spec: Mapping[str, Any],
) -> dict[str, Any]:
    """Return a tool in the shape of the published files; ``surface`` names the arguments."""
    properties = {}
    for one in inputs:
        number = spec["datatypes"][one][1] == "number"
        about = {"type": "number" if number else "string", "description": spec["datatypes"][one][2]}
        properties[surface[one]] = about
    return {
        "type": "function",
        "name": name,
        "description": description,
        "parameters": {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        },
        "strict": True,
        "input_datatypes": list(inputs),
        "output_datatype": output,
        "surface_argument_to_datatype": {surface[one]: one for one in inputs},
    }


def _variant(
    tool: Mapping[str, Any], name: str, remark: str, aliases: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    """Return a tool that takes and claims to give the same, in other words."""
    rng = random.Random(derive_seed("nursery", name))
    properties, arguments = {}, {}
    for surface, datatype in tool["surface_argument_to_datatype"].items():
        other = _slug(rng.choice(aliases[datatype]))
        properties[other] = tool["parameters"]["properties"][surface]
        arguments[other] = datatype
    parameters = {**tool["parameters"], "properties": properties, "required": list(properties)}
    given = " and ".join(_words(rng.choice(aliases[one])) for one in tool["input_datatypes"])
    result = _words(rng.choice(aliases[tool["output_datatype"]]))
    return {
        **tool,
        "name": name,
        "description": f"From the {given} to the {result}. {remark}".strip(),
        "parameters": parameters,
        "surface_argument_to_datatype": arguments,
        "baseline_tool_name": tool["name"],
    }


def _noisy(
    tool: Mapping[str, Any], kind: str, rows: Mapping[str, Any], aliases: Mapping[str, Any]
) -> dict[str, Any]:
    ending, remark = _NOISY[kind]
    made = _variant(tool, f"{tool['name']}_{ending}", remark, aliases)
    value = _ERRORS.get(kind, _wrong(made, rows))
    if kind == "non_authoritative_value" and len(tool["input_datatypes"]) > 2:
        value = None  # the description speaks in its place
    tagged = {"tool_type": "noisy_misleading", "noise_type": kind, "return_value": value}
    return {**made, **tagged}


def _blocking(
    tool: Mapping[str, Any], kind: str, rows: Mapping[str, Any], aliases: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a tool that looks like the one in whose place it stands: nothing in its words
    warns.
    """
    made = _variant(tool, f"{_BLOCKING[kind]}_{tool['name'].removeprefix('look_up_')}", "", aliases)
    value: Any = _ERRORS.get(kind)
    if kind == IMPLICIT:
        rng = random.Random(derive_seed("nursery", made["name"], "garbled"))
        value = rng.choice(_GARBLED)
    elif value is None:
        made["output_datatype"] = f"related_{tool['output_datatype']}"
        value = f"rel-{_wrong({**made, 'output_datatype': tool['output_datatype']}, rows)}"
    return {**made, "noise_type": kind, "return_value": value}


def _wrong(tool: Mapping[str, Any], rows: Mapping[str, Any]) -> Any:
    """Return the value of some other record."""
    rng = random.Random(derive_seed("nursery", tool["name"], "value"))
    values = [row[tool["output_datatype"]] for row in rows.values()]
    return rng.choice([value for value in values if value is not None])


def _words(alias: str) -> str:
    return f"`{alias}`"


def _slug(alias: str) -> str:
    return "_".join(alias.replace("-", " ").split())


# --- files ---------------------------------------------------------------------------------------


def text_of_file(content: Any) -> str:
    """Return the content of a file as text, one entry a line."""

    def line(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False)

    if isinstance(content, list):
        return "[\n" + ",\n".join(map(line, content)) + "\n]\n"
    return "{\n" + ",\n".join(f"{line(k)}: {line(v)}" for k, v in content.items()) + "\n}\n"


def write(folder: Path, files: Mapping[str, Any]) -> None:
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        packed = gzip.compress(text_of_file(content).encode(), mtime=0)
        (folder / f"{name}.json.gz").write_bytes(packed)


if __name__ == "__main__":
    write(FOLDER / "data", build())
    sys.stdout.write(f"written to {FOLDER / 'data'}\n")
