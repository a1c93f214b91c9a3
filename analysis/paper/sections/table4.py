"""Table 4: how long planning takes, and how far plans may be from the best."""

from evidence_page import gap_of
from markdown_page import table
from section import Section
from sections.phone_points import make, papers_phone


def solver_text(point):
    solver = point.get("solver") or {}
    if "solver_seconds" not in solver:
        return "", ""
    gap = gap_of(solver)
    return f"{solver['solver_seconds']:.3f}", "" if gap is None else f"{gap:.1%}"


def lines(found, study, published):
    phone = papers_phone(study, found)
    yield ("\n## Table 4: solver, s, and the proven gap\n\nThe paper: CP-SAT on 128 threads, 150 s at most; here one thread of this "
           "computer. Larger language models of table 4: [lc-opg.md](lc-opg.md).\n")
    rows = []
    for network, flashmem, ours in phone.with_policies("flashmem", "ours"):
        paper = published["solver"].get(network, {})
        rows.append([network, f"{paper.get('solve_s', '')}", paper.get("status", "").lower(), *solver_text(flashmem),
                     *solver_text(ours)])
    yield from table(["network", "paper s", "paper's status", f"`{phone.study['flashmem']}` s", "gap",
                      f"`{phone.study['ours']}` s", "gap"], rows)


SECTION = Section("table4", make, lines)
