"""A study with two annotators and a manager."""

import pytest
from django.contrib.auth.models import User

from annotation.models import Assignment, Study
from tests.annotation.rows import make_person, make_study
from tests.visitors import reader, researcher, stranger  # noqa: F401


@pytest.fixture
def ann(db: None) -> User:
    """An annotator."""
    return make_person("ann")


@pytest.fixture
def bob(db: None) -> User:
    """Another annotator."""
    return make_person("bob")


@pytest.fixture
def manager(db: None) -> User:
    """Return the manager, who made the study."""
    return make_person("mia")


@pytest.fixture
def study(ann: User, bob: User, manager: User) -> Study:
    """Two items each for ann and bob."""
    return make_study(annotators=[ann, bob], manager=manager)


@pytest.fixture
def item(study: Study, ann: User) -> Assignment:
    """Ann's first item."""
    return study.assignments.get(annotator=ann, position=1)
