#include "planner/overlap/linear_program.hpp"

#include <ClpSimplex.hpp>
#include <ClpSolve.hpp>
#include <CoinPackedMatrix.hpp>
#include <stdexcept>

namespace fm {
namespace {

/// Many times what programs of this kind take: a few for each row.
constexpr int iterations_a_row = 50;

}  // namespace

int LinearProgram::column(double lower, double upper, double cost) {
  lower_.push_back(lower);
  upper_.push_back(upper);
  cost_.push_back(cost);
  return static_cast<int>(lower_.size()) - 1;
}

void LinearProgram::row(const std::vector<Term>& terms, double at_least) {
  for (const Term& term : terms) {
    if (term.column < 0) continue;
    rows_.push_back(static_cast<int>(row_lower_.size()));
    columns_.push_back(term.column);
    factors_.push_back(term.factor);
  }
  row_lower_.push_back(at_least);
}

bool LinearProgram::solve(double seconds, std::vector<double>* values, double* objective) const {
  const CoinPackedMatrix matrix(true, rows_.data(), columns_.data(), factors_.data(),
                                static_cast<CoinBigIndex>(factors_.size()));
  const std::vector<double> row_upper(row_lower_.size(), COIN_DBL_MAX);
  ClpSimplex model;
  model.setLogLevel(0);
  model.loadProblem(matrix, lower_.data(), upper_.data(), cost_.data(), row_lower_.data(),
                    row_upper.data());
  model.setMaximumSeconds(seconds);
  model.setMaximumIterations(1000 + iterations_a_row * static_cast<int>(row_lower_.size()));
  ClpSolve method;
  method.setSolveType(ClpSolve::useDual);
  method.setPresolveType(ClpSolve::presolveOn);
  model.initialSolve(method);
  if (model.isProvenPrimalInfeasible()) throw std::logic_error("the linear program is infeasible");
  if (!model.isProvenOptimal()) return false;
  values->assign(model.primalColumnSolution(), model.primalColumnSolution() + lower_.size());
  *objective = model.objectiveValue();
  return true;
}

}  // namespace fm
