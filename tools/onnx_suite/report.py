"""Tables of a run of the suite."""

import collections

from verdict import FAILED, PASSED, REFUSED, by_operator

BEGIN, END = "<!-- onnx-suite: written by ./fm onnx-suite --write-docs -->", "<!-- /onnx-suite -->"


def counts(results):
    found = collections.Counter(verdict.status for _, verdict in results)
    return found[PASSED], found[FAILED], found[REFUSED]


def plain_results(results):
    """Of the tests with float32, int32, int64 and bool only."""
    return [(case, verdict) for case, verdict in results if case.is_plain()]


def summary(results):
    passed, failed, refused = counts(results)
    plain = plain_results(results)
    return (f"{len(results)} tests: {passed} passed, {failed} failed, {refused} refused; "
            f"of the {len(plain)} with only float32, int32, int64 and bool {counts(plain)[0]} passed")


def table(results):
    lines = ["| operator | passed | failed | refused |", "|---|---|---|---|"]
    for operator, found in by_operator(results).items():
        lines.append(f"| {operator} | {found[PASSED]} | {found[FAILED]} | {found[REFUSED]} |")
    passed, failed, refused = counts(results)
    lines.append(f"| all | {passed} | {failed} | {refused} |")
    return "\n".join(lines)


def as_json(results, seconds):
    passed, failed, refused = counts(results)
    plain = plain_results(results)
    return {
        "totals": {"tests": len(results), PASSED: passed, FAILED: failed, REFUSED: refused},
        "plain_types": {"tests": len(plain), **dict(zip((PASSED, FAILED, REFUSED), counts(plain)))},
        "seconds": round(seconds, 1),
        "operators": {name: {status: found[status] for status in (PASSED, FAILED, REFUSED)}
                      for name, found in by_operator(results).items()},
        "tests": [{"name": case.name, "operator": case.operator, "plain_types": case.is_plain(),
                   "status": verdict.status, "reason": verdict.reason} for case, verdict in results],
    }


def write_docs(path, results):
    text = path.read_text()
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    path.write_text(f"{before}{BEGIN}\n{summary(results)}.\n\n{table(results)}\n{END}{after}")
