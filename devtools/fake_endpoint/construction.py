"""Replies of the fake endpoint in the construction of a dataset; some repeat or contradict.

It knows the roles by the JSON that their prompts ask for. It brings up things of a household, keeps
most of them, and never learns what a problem is about: enough for rounds that grow, and no more.
"""

import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

_KEYED = re.compile(r"^- (\S+): (.+)$", re.MULTILINE)
_LISTED = re.compile(r"^- (.+)$", re.MULTILINE)
_COUNT = re.compile(r"with (\d+) plans")
_GROUND = "vague"


def reply_about(
    brief: str, asked: str, things: Mapping[str, str], rng: random.Random
) -> dict[str, Any] | None:
    """Return the JSON of whoever ``brief`` describes, about what was ``asked``; None for anybody
    else.

    ``things`` are what plans may use, each with a step in which it is used.
    """
    for name, reply in _REPLIES.items():
        if f'{{"{name}"' in brief:
            return reply(brief, asked, things, rng)
    return None


def asked_in_words(brief: str, asked: str) -> str | None:
    """Return a request out of a problem text, where one is wanted: its first sentence."""
    if "Reply with the request alone" not in brief:
        return None
    return re.split(r"(?<=[.?!])\s", " ".join(asked.split()))[0][:300]


def repeated(text: str) -> str:
    """Return a reply with each list in it said twice, and all of it twice; plain words as they
    are.
    """
    value = _loaded(text)
    if value is None:
        return text
    twice = json.dumps({k: v * 2 if isinstance(v, list) else v for k, v in value.items()})
    return f"{twice}\n\nTo say it again:\n{twice}"


def contradicted(text: str) -> str:
    """Return a reply that cannot hold together with itself, where it is one of a construction."""
    value = _loaded(text) or {}
    if "fit" in value:
        value["fit"] = not value["fit"]
    elif value.get("candidates"):
        value["tools"] = value["tools"][:-1]
    elif value.get("constraints"):
        row = value["constraints"][0]
        value["constraints"].append({"text": f"Or else: {row['text']}", "from": row["from"]})
    elif value.get("decisions"):
        row = value["decisions"][0]
        other = "remove" if row["decision"] == "keep" else "keep"
        value["decisions"].append({**row, "decision": other, "ground": _GROUND})
    return json.dumps(value) if value else text


def _loaded(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _verdict(brief: str, asked: str, things: Any, rng: random.Random) -> dict[str, Any]:
    failed = [rng.choice(_KEYED.findall(brief))[0]] if rng.random() < 0.1 else []
    return {"fit": not failed, "failed": failed, "reason": "decided by the fake endpoint"}


def _plans(brief: str, asked: str, things: Mapping[str, str], rng: random.Random) -> dict[str, Any]:
    known = " ".join(_LISTED.findall(brief)).lower()
    free = [name for name in things if name not in known] or list(things)
    counted = _COUNT.search(brief)
    rows = []
    for _ in range(int(counted[1]) if counted else 1):
        chosen = rng.sample(free, min(2, len(free)))
        steps = [things[name] for name in chosen] + ["Check the result."]
        plan = "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))
        rows.append({"plan": plan, "probability": round(rng.uniform(0.05, 0.3), 2)})
    return {"plans": rows}


def _candidates(
    brief: str, asked: str, things: Mapping[str, str], rng: random.Random
) -> dict[str, Any]:
    used = [name for name, step in things.items() if step in asked]
    if '"attribute"' in brief:
        rows = [
            {"text": f"I do not want to handle a {name}.", "tool": name, "attribute": f"a {name}"}
            for name in used
        ]
    else:
        rows = [{"text": f"There is no {name} here.", "tool": name} for name in used]
    return {"tools": used, "candidates": rows}


def _merged(brief: str, asked: str, things: Any, rng: random.Random) -> dict[str, Any]:
    rows: dict[str, list[str]] = {}
    for name, text in _KEYED.findall(brief):
        rows.setdefault(text, []).append(name)
    return {
        "constraints": [
            {"text": text, "from": names}
            for text, names in rows.items()
            if any(name.startswith("n") for name in names)
        ]
    }


def _decisions(brief: str, asked: str, things: Any, rng: random.Random) -> dict[str, Any]:
    return {"decisions": [_decision(key, rng) for key in _proposed(brief)]}


def _proposed(brief: str) -> Sequence[str]:
    keys = [name for name, _ in _KEYED.findall(brief)]
    return [key for key in keys if re.fullmatch(r"c\d+", key)]


def _decision(key: str, rng: random.Random) -> dict[str, str]:
    if rng.random() < 0.75:
        return {"key": key, "decision": "keep", "ground": "", "reason": ""}
    reason = "removed by the fake endpoint"
    return {"key": key, "decision": "remove", "ground": _GROUND, "reason": reason}


_REPLIES: Mapping[str, Callable[..., dict[str, Any]]] = {
    "fit": _verdict,
    "plans": _plans,
    "tools": _candidates,
    "constraints": _merged,
    "decisions": _decisions,
}
