"""LC-OPG for OR-Tools CP-SAT, written from FlashMem's constraints (arXiv 2602.15379, section 3.1) and
not from the planner's code."""

from ortools.sat.python import cp_model


def solve(problem, effort):
    """`problem`: chunks (S = 1) as `capacity` by layer, `m_peak`, `weights` as (layer, chunks,
    forced), lambda in tenths. `effort`: CP-SAT's deterministic time, about seconds. Returns (status, ten times the objective, its bound)."""
    model = cp_model.CpModel()
    objective = []
    used = [[] for _ in problem["capacity"]]
    for index, (consumer, chunks, forced) in enumerate(problem["weights"]):
        preloaded = model.NewBoolVar(f"preloaded{index}")
        objective.append(problem["lambda_tenths"] * chunks * preloaded)
        if forced or consumer == 0:
            model.Add(preloaded == 1)
        first = model.NewIntVar(0, consumer, f"z{index}")  # z_w
        model.Add(first == consumer).OnlyEnforceIf(preloaded)
        objective.append((10 - problem["lambda_tenths"]) * (consumer - first))
        shares = []
        for layer in range(consumer):
            share = model.NewIntVar(0, min(chunks, problem["capacity"][layer], problem["m_peak"]),
                                    f"x{index},{layer}")
            some = model.NewBoolVar(f"some{index},{layer}")
            model.Add(share == 0).OnlyEnforceIf(some.Not())
            model.Add(first <= layer).OnlyEnforceIf(some)  # C1
            shares.append(share)
            used[layer].append(share)
        model.Add(sum(shares) == chunks).OnlyEnforceIf(preloaded.Not())  # C0
        model.Add(sum(shares) == 0).OnlyEnforceIf(preloaded)
    for layer, capacity in enumerate(problem["capacity"]):
        model.Add(sum(used[layer]) <= min(capacity, problem["m_peak"]))  # C2, C3
    model.Minimize(sum(objective))
    solver = cp_model.CpSolver()
    solver.parameters.max_deterministic_time = effort
    solver.parameters.num_workers = 1
    status = solver.Solve(model)
    return solver.StatusName(status), solver.ObjectiveValue(), solver.BestObjectiveBound()
