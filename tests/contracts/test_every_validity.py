"""Every system that ranks agents says what certificates of validity play, and all of it plays."""

from dataclasses import replace

import pytest

from benchmarks.core.registry import SYSTEMS, get_system
from benchmarks.validity.trials import Trials, certificate_content

RANKED = [key for key in SYSTEMS if get_system(key).labels.headlines]


@pytest.mark.parametrize("key", RANKED)
def test_sample_tasks_are_certified(key: str) -> None:
    system = get_system(key)
    tasks = [
        replace(task, profile=profile)
        for task, profiles in system.sample_tasks()[:3]
        for profile in profiles or (task.profile,)
    ]
    content = certificate_content(Trials(system, tasks, {}))
    assert content["reference"]["checked"] == len(tasks)
    assert [one for one in content["reference"]["unsolved"] if not one["usable"]] == []
    played = {policy["key"]: policy for policy in content["policies"]}
    assert "nothing" in played and "constant" in played
    for policy in played.values():
        assert not any("broke off" in reason for reason in policy["undefined"])
    assert content["bracket"] and content["forms"]["as_written"] is not None
    # The same is played again.
    assert certificate_content(Trials(system, tasks, {})) == content
