#pragma once
// The command line of fmplan and `fmplan queue`: options of making a plan.

#include <boost/program_options.hpp>
#include <string>
#include <vector>

#include "planner/make_plan.hpp"

namespace fm {

/// Throws UserError for what `options` does not have. `positional`: the option that words without
/// one belong to; "": none may be.
boost::program_options::variables_map parsed(
    const std::vector<std::string>& words,
    const boost::program_options::options_description& options, const std::string& positional = "");

/// Throws UserError when the option is missing.
std::string required(const boost::program_options::variables_map& values, const std::string& flag);
/// Values of an option that may be given several times.
std::vector<std::string> texts_of(const boost::program_options::variables_map& values,
                                  const std::string& flag);

/// All but --model.
void add_plan_flags(const std::string& default_policy,
                    boost::program_options::options_description* flags);

/// "x=1,3,224,224" and "batch=1". These throw UserError.
void bind_shape(const std::string& text, ShapeBindings* bindings);
void bind_dimension(const std::string& text, ShapeBindings* bindings);
/// "axes=0,-1": the input's numbers; none after the sign for an input without elements.
void bind_value(const std::string& text, ShapeBindings* bindings);
/// --shape, --dim and --value.
ShapeBindings shape_bindings(const boost::program_options::variables_map& values);

/// All but the bindings of shapes.
PlanOptions plan_options(const boost::program_options::variables_map& values);

}  // namespace fm
