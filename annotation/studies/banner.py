"""What must be said above every page of a study: that agents, judges or annotators are scripts."""

from collections.abc import Mapping

from annotation.models import Study

MADE_UP = "This study shows how studies work; nothing in it is a finding."


def study_banner(study: Study) -> Mapping[str, str] | None:
    """Title and text of the banner. It speaks of the whole study, never of one item's agent."""
    labels = study.settings.get("labels", {})
    agents, others = set(labels.get("agents", ())), set(labels.get("others", ()))
    said = []
    if agents == {"scripted"} and "scripted" in others and "human" not in others:
        said.append("agents, judges and the simulated user are scripts")
    else:
        if "scripted" in agents:
            said.append("agents are scripts" if len(agents) == 1 else "some agents are scripts")
        if "scripted" in others and "human" in others:
            said.append("roles that people do not play are filled by scripts")
        elif "scripted" in others:
            said.append("judges and the simulated user are scripts")
    if "recorded" in agents:
        said.append("agents repeat recorded answers")
    if "lexicon" in others:
        said.append("what was violated was decided by word lists")
    if "simulated" in agents | others:
        said.append("some answers come from a fake endpoint, a program that makes them up")
    if not said and not study.is_demo:
        return None
    text = "; ".join(said)
    return {
        "title": "Demo data" if study.is_demo else "Scripts",
        "text": f"{text[:1].upper()}{text[1:]}." if text else MADE_UP,
    }
