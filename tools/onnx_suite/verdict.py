"""What came of a test, and how outputs are compared."""

import collections
import dataclasses

import numpy as np

# The tolerances of the ONNX project's own runner (onnx.backend.test).
RELATIVE, ABSOLUTE = 1e-3, 1e-7

PASSED, FAILED, REFUSED = "passed", "failed", "refused"


@dataclasses.dataclass
class Verdict:
    status: str
    reason: str = ""


def difference(name, expected, found):
    """Why an output is not the expected one; empty when it is."""
    if found is None:
        return f"output `{name}` is missing"
    if found.dtype != expected.dtype:
        return f"output `{name}` is {found.dtype}, not {expected.dtype}"
    if found.shape != expected.shape:
        return f"output `{name}` has shape {list(found.shape)}, not {list(expected.shape)}"
    if np.issubdtype(expected.dtype, np.floating):
        wrong = ~np.isclose(found, expected, rtol=RELATIVE, atol=ABSOLUTE, equal_nan=True)
    else:
        wrong = found != expected
    if not wrong.any():
        return ""
    at = tuple(int(i) for i in np.argwhere(wrong)[0]) if wrong.ndim else ()
    return (f"output `{name}`: {int(wrong.sum())} of {expected.size} values differ, the first at {list(at)}: "
            f"{found[at]}, not {expected[at]}")


def of_exit(tool, code, message, operators):
    """The verdict of a tool that did not end with 0: a refusal must name an operator of the model."""
    line = " ".join(message.split())
    if code < 0:
        return Verdict(FAILED, f"{tool} was killed by signal {-code}: {line[-300:]}")
    if code != 2:
        return Verdict(FAILED, f"{tool} ended with {code}: {line[-300:]}")
    if not any(operator in line for operator in operators):
        return Verdict(FAILED, f"{tool} refuses without naming an operator: {line}")
    return Verdict(REFUSED, line)


def by_operator(results):
    """Counts of the three verdicts, by operator; results: (case, verdict) pairs."""
    counts = collections.defaultdict(collections.Counter)
    for case, verdict in results:
        counts[case.operator][verdict.status] += 1
    return dict(sorted(counts.items()))
