"""What a process loads before its first launch, and how long that takes on the simulated phone."""


def programs_of(plan):
    """Kernels with their compile-time parameters, as a sorted list of texts."""
    return sorted({" ".join([launch["kernel"], *(f"-D{name}={value}" for name, value in sorted(launch.get("parameters", {}).items()))])
                   for launch in plan["launches"] if launch["kind"] == "kernel"})


def startup_costs(work):
    config = work.config()
    return {"context_ms": config.number("host.context_creation") / 1e6, "program_ms": config.number("host.program_load") / 1e6}


def startup_ms(costs, programs):
    """The context, and all distinct programs of several plans."""
    return costs["context_ms"] + costs["program_ms"] * len(set().union(*programs))
