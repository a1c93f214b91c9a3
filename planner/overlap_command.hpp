#pragma once
// `fmplan --policy optimal` and `lc-opg`: the options, one plan or a front of them, and what is
// said about them.

#include <boost/program_options.hpp>
#include <optional>
#include <string>

#include "core/device_config.hpp"
#include "planner/make_plan.hpp"

namespace fm {

/// A given option's size, e.g. "32MiB". Throws UserError.
Bytes size_of_option(const boost::program_options::variables_map& values, const std::string& flag);

/// True for policies that decide by what launches cost: `optimal` and `lc-opg`.
bool has_overlap_options(const std::string& policy);

/// --budget, --minimize, --slowdown, --pareto, --runs, --profile, --solver-seconds, --lambda,
/// --m-peak, --transforms, --alpha, --learn-from.
void add_overlap_options(boost::program_options::options_description* flags);

/// What they ask for. Throws UserError.
OverlapRequest overlap_request(const boost::program_options::variables_map& values);
/// --profile and --learn-from.
ProfileFiles profile_files(const boost::program_options::variables_map& values);
/// Empty for --policy optimal. Options of the one policy are refused for the other.
std::optional<LcOpgRequest> lc_opg_request(const boost::program_options::variables_map& values);

/// Throws UserError when one of those options is given for another policy; a queue has a budget
/// (`budget_allowed`) whatever its policy.
void refuse_overlap_options(const boost::program_options::variables_map& values,
                            const std::string& policy, bool budget_allowed = false);

/// Plans, writes and reports: one plan to `output`, or with --pareto one for each point of the
/// front to `output` with its number before the extensions. Throws UserError.
void run_overlap_policy(const boost::program_options::variables_map& values,
                        const std::string& model, const std::string& output,
                        const DeviceConfig& config, PlanOptions options);

}  // namespace fm
