"""Finding a system by its key."""

import pytest

from benchmarks.core.errors import CoreError, UnknownName
from benchmarks.core.registry import SYSTEMS, get_system


@pytest.mark.parametrize("key", SYSTEMS)
def test_every_entry_leads_to_a_system_of_that_key_and_title(key):
    system = get_system(key)

    assert (system.key, system.title) == (key, SYSTEMS[key][0])
    assert get_system(key) is system


def test_an_unknown_key_names_the_ones_that_there_are():
    with pytest.raises(UnknownName) as caught:
        get_system("adaplan")

    assert str(caught.value) == (f"unknown system 'adaplan'; known: {', '.join(sorted(SYSTEMS))}")
    assert isinstance(caught.value, CoreError)


def test_a_list_of_known_names_may_be_empty():
    assert str(UnknownName("level", "low", [])) == "unknown level 'low'; known: none"
