import pytest

from tests.end_to_end.machine import clean_machine

machine = pytest.fixture(clean_machine)
