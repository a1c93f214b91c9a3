"""Small models, one a group of operator forms, for test_operators.py. Importing a family's module adds its cases."""

from tests.end_to_end.operator_cases import (attention, bodies, elementwise, movement, products, rows,  # noqa: F401
                                             windows)
from tests.end_to_end.operator_cases.model import CASES, Model, floats  # noqa: F401
