"""Stored answers: the form that each task's has in the published files."""

from typing import Any

_PARTS = {"land": ("yes", "no"), "nexta": ("yes", "no", "maybe"), "prog": ("pos", "neg")}
MOST = 100_000


def _texts(value: Any) -> bool:
    return isinstance(value, list) and len(value) <= MOST and all(isinstance(v, str) for v in value)


def answer_fault(task: str, answer: Any) -> str:
    """Why an answer is not of the form that its task's have: its expectation, or ''."""
    match task:
        case "app" | "areach" | "reach":
            return "" if _texts(answer) else "a list of texts"
        case "val":
            whole = isinstance(answer, int) and not isinstance(answer, bool)
            return "" if whole and answer >= 0 else "a whole number from 0"
        case "just":
            rows = isinstance(answer, list) and len(answer) <= MOST
            return "" if rows and all(map(_texts, answer)) else "a list of lists of texts"
    parts = _PARTS[task]
    if not isinstance(answer, dict) or not all(_texts(answer.get(name)) for name in parts):
        return f"an object with lists of texts under {', '.join(parts)}"
    if task == "nexta" and not str(answer.get("opt", "")).isdecimal():
        return "an object with the length of a shortest plan under opt, as text"
    return ""


def shown_answers(task: str, answer: Any) -> list[tuple[str, list[str]]]:
    """A stored answer as (what it is, its entries), for pages; nothing stands for None."""
    match task:
        case "app":
            return [("All applicable actions", answer)]
        case "areach":
            return [("One action that can never be applied", answer or ["None"])]
        case "reach":
            listed = [text if text.startswith("(") else f"({text})" for text in answer]
            return [("Propositions that can never hold", listed or ["None"])]
        case "val":
            return [("Index of the first action that cannot be applied", [str(answer)])]
        case "just":
            return [("May be left out", [" ".join(row[:-1]) for row in answer])]
        case "prog":
            return [("Becomes true", answer["pos"]), ("Becomes false", answer["neg"])]
        case "land":
            return [("Landmarks", answer["yes"] or ["None"]), ("No landmarks", answer["no"])]
    return [
        ("Bring the goal closer", answer["yes"]),
        ("Do not", answer["no"]),
        ("Not stored: the validator searches", answer["maybe"]),
        ("Length of a shortest plan", [answer["opt"]]),
    ]
