// The catalogue's promises: every entry has its source, and launches that do not fit it are refused
// by name.
#include "kernels/catalogue.hpp"

#include <gmock/gmock.h>

#include "core/diagnostics.hpp"
#include "kernels/embedded_sources.hpp"
#include "tests/kernels/kernel_runner.hpp"

namespace fm {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(Catalogue, HasASourceForEveryEntryAndAnEntryForEverySource) {
  std::set<std::string> names;
  for (const KernelEntry& entry : kernel_catalogue()) {
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name << " twice";
    const std::string source = kernel_source(entry.name);
    EXPECT_THAT(source, AllOf(HasSubstr("__kernel void " + entry.name + "("),
                              Not(HasSubstr("#include \""))));
    EXPECT_FALSE(entry.operations.empty()) << entry.name;
  }
  for (const auto& [file, text] : embedded_sources()) {
    const std::size_t dot = file.rfind('.');
    if (file.substr(dot) != ".cl") continue;
    EXPECT_EQ(names.count(file.substr(0, dot)), 1u) << file;
  }
  EXPECT_THROW(catalogue_entry("matmull"), std::out_of_range);
  EXPECT_THROW(kernel_source("matmull"), std::out_of_range);
}

TEST(Catalogue, CountsMoreRegistersForLargerTiles) {
  const KernelEntry& entry = catalogue_entry("matmul");
  EXPECT_LT(entry.registers({{"TILE_M", "2"}, {"TILE_N4", "2"}, {"B_TRANSPOSED", "0"}}),
            entry.registers({{"TILE_M", "4"}, {"TILE_N4", "2"}, {"B_TRANSPOSED", "0"}}));
  // 4 x 2 texels of sums, 4 of a, 2 of b; a texel is four registers.
  EXPECT_GE(entry.registers({{"TILE_M", "4"}, {"TILE_N4", "2"}, {"B_TRANSPOSED", "0"}}), 56u);
}

/// A plan of one launch: y = relu(x), x an image, y a buffer.
struct OneLaunch {
  HostTensor x = make_tensor("t1", Layout::rows, {3, 10}, half_image);
  HostTensor y = make_tensor("t2", Layout::rows, {3, 10}, float_buffer);
  Plan plan;
  OneLaunch() {
    Epilogue epilogue;
    epilogue.activation = Activation::relu;
    plan.tensors = {x.plan, y.plan};
    plan.launches = {build_unary(x.plan, y.plan, epilogue)};
    plan.launches[0].id = "L7";
  }
  PlanLaunch& launch() { return plan.launches[0]; }
  std::string refusal() const {
    try {
      validate_launches(plan);
    } catch (const UserError& error) {
      return error.what();
    }
    return "accepted";
  }
};

TEST(Catalogue, MakesCompileOptionsFromParametersAndStorage) {
  OneLaunch one;
  const std::string plain = compile_options(one.plan, one.launch(), false);
  EXPECT_THAT(plain, AllOf(HasSubstr("-DACTIVATION=RELU"), HasSubstr("-DFM_KIND_x=image"),
                           HasSubstr("-DFM_KIND_y=buffer_float"), Not(HasSubstr("FM_RECORDING")),
                           Not(HasSubstr("FM_ACCUMULATE_HALF"))));
  const std::string recording = compile_options(one.plan, one.launch(), true);
  EXPECT_THAT(recording, AllOf(HasSubstr("-DFM_RECORDING"), HasSubstr("-DFM_ARGUMENT_x=0"),
                               HasSubstr("-DFM_ARGUMENT_y=2")));
  one.plan.accumulate = DataType::f16;
  EXPECT_THAT(compile_options(one.plan, one.launch(), false), HasSubstr("-DFM_ACCUMULATE_HALF"));
}

TEST(Catalogue, AcceptsWhatTheBuildersMake) { EXPECT_EQ(OneLaunch().refusal(), "accepted"); }

TEST(Catalogue, RefusesUnknownKernelsAndParameters) {
  OneLaunch one;
  one.launch().kernel = "unari";
  EXPECT_THAT(one.refusal(), AllOf(HasSubstr("L7"), HasSubstr("unari"), HasSubstr("unary")));
  one = OneLaunch();
  one.launch().parameters["ACTIVATION"] = "RELLU";
  EXPECT_THAT(one.refusal(), AllOf(HasSubstr("ACTIVATION"), HasSubstr("RELU")));
  one = OneLaunch();
  one.launch().parameters.erase("RESIDUAL");
  EXPECT_THAT(one.refusal(), HasSubstr("RESIDUAL"));
  one = OneLaunch();
  one.launch().parameters["TILE"] = "4";
  EXPECT_THAT(one.refusal(), HasSubstr("no parameter 'TILE'"));
}

TEST(Catalogue, RefusesArgumentsThatDoNotFit) {
  OneLaunch one;
  one.launch().arguments.pop_back();
  EXPECT_THAT(one.refusal(), AllOf(HasSubstr("takes"), HasSubstr("arguments")));
  one = OneLaunch();
  std::swap(one.launch().arguments[0], one.launch().arguments[1]);
  EXPECT_THAT(one.refusal(), AllOf(HasSubstr("argument x "), HasSubstr("must be a tensor")));
  one = OneLaunch();
  std::get<TensorArgument>(one.launch().arguments[2]).write = false;
  EXPECT_THAT(one.refusal(), AllOf(HasSubstr("argument y "), HasSubstr("written")));
  one = OneLaunch();
  one.plan.tensors[0].layout = Layout::linear;
  EXPECT_THAT(one.refusal(), AllOf(HasSubstr("argument x "), HasSubstr("linear")));
  one = OneLaunch();
  one.plan.tensors[1].dtype = DataType::u8;
  EXPECT_THAT(one.refusal(), HasSubstr("u8"));
  one = OneLaunch();
  one.launch().global[0] += 1;
  EXPECT_THAT(one.refusal(), HasSubstr("multiple"));
}

}  // namespace
}  // namespace fm
