"""Tables of the real models' runs."""

import dataclasses

import findings

BEGIN, END = "<!-- real-models: written by ./fm real-models --write-docs -->", "<!-- /real-models -->"


@dataclasses.dataclass
class Result:
    model: object
    reading: list  # of ONNX Runtime
    outcomes: list


def verdict(outcome):
    if outcome.equal and outcome.within:
        return "equal"
    return "numbers differ" if outcome.equal else "reading differs"


def lines(result):
    """A result for the terminal."""
    found = [f"  {findings.summary(result.reading)}"]
    for outcome in result.outcomes:
        found.append(f"  {outcome.setting} {outcome.policy:8} error {outcome.absolute:.1e} (largest), "
                     f"{outcome.relative:.1e} (relative)  {verdict(outcome)}")
    return "\n".join(found)


def models_table(results):
    rows = ["| model | what it is and tells | wheel | licence | read on both sides |", "|---|---|---|---|---|"]
    for result in results:
        model = result.model
        rows.append(f"| {model.name} | {model.what} | {model.wheel.requirement} | {model.wheel.licence} | "
                    f"{findings.summary(result.reading)} |")
    return "\n".join(rows)


def errors_table(results):
    """Policies are one row: the larger error of them, equal where all are."""
    rows = ["| model | storage | largest error | relative error | against ONNX Runtime |", "|---|---|---|---|---|"]
    for result in results:
        for setting in dict.fromkeys(outcome.setting for outcome in result.outcomes):
            runs = [outcome for outcome in result.outcomes if outcome.setting == setting]
            worst = next((verdict(run) for run in runs if verdict(run) != "equal"), "equal")
            rows.append(f"| {result.model.name} | {setting} | {max(run.absolute for run in runs):.1e} | "
                        f"{max(run.relative for run in runs):.1e} | {worst} |")
        if result.model.beyond_half:
            rows.append(f"| {result.model.name} | f16 | | | not run: {result.model.beyond_half} |")
    return "\n".join(rows)


def write_docs(path, results):
    before, rest = path.read_text().split(BEGIN)
    after = rest.split(END)[1]
    path.write_text(f"{before}{BEGIN}\n{models_table(results)}\n\n{errors_table(results)}\n{END}{after}")
