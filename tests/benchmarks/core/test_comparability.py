"""Comparisons of runs with the setting of published figures, and what every system declares."""

from dataclasses import replace

import pytest

from benchmarks.core.ports.comparability import (
    ASPECTS,
    AnswererFacts,
    PublishedAspect,
    PublishedSetting,
    RunFacts,
    compare_run,
    dataset_is,
    decoding,
    models_fill,
    setting_for,
    settings_are,
    whole_split,
)
from benchmarks.core.registry import SYSTEMS, find_system

FACTS = RunFacts("Tests 1", "abc", 10, settings={"patience": 2, "tau": 3.5})


def model(name: str = "m", **parameters: object) -> AnswererFacts:
    return AnswererFacts("endpoint", name, name, parameters)


def agent(who: AnswererFacts) -> RunFacts:
    return replace(FACTS, roles={"agent": [who]})


@pytest.mark.parametrize(
    ("who", "verdict"),
    [
        (model(temperature=0, max_tokens=1000), "same"),
        (model(temperature=0, max_completion_tokens=1000), "same"),
        (model(temperature=0.7, max_tokens=1000), "different"),
        (model(temperature=0, max_tokens=500), "different"),
        # What is not sent is the endpoint's choice, which nobody knows.
        (model(temperature=0), "unknown"),
        (model(), "unknown"),
        (AnswererFacts("scripted", "Explorer"), "different"),
        (AnswererFacts("human", "a person"), "different"),
        (AnswererFacts("simulated", "Fake", "fake", {"temperature": 0}), "different"),
    ],
)
def test_decoding(who: AnswererFacts, verdict: str) -> None:
    assert decoding(0.0, 1000)(agent(who)).verdict == verdict


def test_decoding_that_a_paper_does_not_state_is_unknown() -> None:
    found = decoding(None)(agent(model(temperature=0.3)))
    assert (found.verdict, found.here) == ("unknown", "m: temperature 0.3")


def test_settings() -> None:
    assert settings_are({"patience": 2, "tau": 3.5})(FACTS).verdict == "same"
    changed = settings_are({"patience": 3})(FACTS)
    assert (changed.verdict, changed.here) == ("different", "patience 2")
    # A run of an earlier release may lack a setting: it is not taken for the default.
    assert settings_are({"novelty": "disclosed"})(FACTS).verdict == "unknown"


def test_models_that_fill_roles() -> None:
    wanted = models_fill({"judge": ("gpt-4.1", "deepseek-v3.2")})
    both = [model("openai/gpt-4.1-2025-04"), model("DeepSeek-V3.2")]
    assert wanted(replace(FACTS, roles={"judge": both})).verdict == "same"
    assert wanted(replace(FACTS, roles={"judge": both[:1]})).verdict == "different"
    assert wanted(replace(FACTS, roles={"judge": [both[0], both[0]]})).verdict == "different"
    scripted = [*both, AnswererFacts("scripted", "Even")]
    assert wanted(replace(FACTS, roles={"judge": scripted})).verdict == "different"


def test_a_split_is_told_by_its_name_and_its_size() -> None:
    split = whole_split(10, "test")
    assert split(replace(FACTS, splits={"test": 10})).verdict == "same"
    assert split(replace(FACTS, splits={"dev": 10})).verdict == "different"
    assert split(replace(FACTS, splits={"test": 9}, tasks=9)).verdict == "different"
    assert split(FACTS).verdict == "unknown"  # as many tasks, but no name
    assert split(replace(FACTS, splits={"test": 10}, demo=True)).verdict == "different"


def test_a_dataset_is_the_same_by_its_digest_alone() -> None:
    assert dataset_is("abc")(FACTS).verdict == "same"
    assert dataset_is("other")(FACTS).verdict == "different"
    assert dataset_is()(FACTS).verdict == "unknown"
    assert dataset_is()(replace(FACTS, demo=True)).verdict == "different"


def test_what_is_not_stated_or_made_elsewhere_is_unknown() -> None:
    setting = PublishedSetting(
        "Paper", {"turns": PublishedAspect("patience 2", settings_are({"patience": 2}))}
    )
    rows = {row.aspect: row for row in compare_run(setting, FACTS)}
    assert list(rows) == list(ASPECTS)
    assert rows["turns"].verdict == "same"
    assert (rows["judges"].verdict, rows["judges"].published) == ("unknown", "not stated")
    elsewhere = {r.aspect: r for r in compare_run(setting, replace(FACTS, imported=True))}
    assert (elsewhere["turns"].verdict, elsewhere["turns"].here) == ("unknown", "made elsewhere")


def test_the_setting_of_a_source() -> None:
    usual = PublishedSetting("Paper", {})
    other = PublishedSetting("Paper", {}, sources=("Table 5",))
    assert setting_for([usual, other], "Table 5") is other
    assert setting_for([usual, other], "Table 1") is usual
    assert setting_for([other], "Table 1") is None


@pytest.mark.parametrize("key", SYSTEMS)
def test_every_published_row_has_a_setting(key: str) -> None:
    """Published rows never stand without a certificate, so each source needs a setting."""
    system = find_system(key)
    for entry in system.published:
        setting = setting_for(system.comparability, entry.source)
        assert setting is not None, entry
        assert set(setting.aspects) == set(ASPECTS), "each aspect says what the paper states"
        # Whatever an earlier release stored of a run, comparing it breaks nothing.
        assert len(compare_run(setting, RunFacts("", "", 0))) == len(ASPECTS)
