#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/plan.hpp"
#include "tests/core/error_message.hpp"
#include "tests/core/random_plan.hpp"

namespace fm {
namespace {

using testing::HasSubstr;

PlanTensor tensor(const std::string& id, TensorRole role, const std::string& first,
                  const std::string& last) {
  PlanTensor result;
  result.id = result.name = id;
  result.role = role;
  result.shape = {16, 32};
  result.bytes = Bytes(1024);
  result.first_use = first;
  result.last_use = last;
  return result;
}

PlanLaunch kernel(const std::string& id, std::vector<LaunchArgument> arguments) {
  PlanLaunch launch;
  launch.id = id;
  launch.kernel = launch.operation = "any";
  launch.arguments = std::move(arguments);
  return launch;
}

TensorArgument read(const std::string& id) { return {id, false}; }
TensorArgument write(const std::string& id) { return {id, true}; }

/// in -L0-> x -L1-> y -L2(w)-> out; w is an image streamed in two chunks: one inside L0, one by the
/// copy C.
Plan valid_plan() {
  Plan plan;
  plan.chunk_bytes = Bytes(512);
  plan.staging_ring_bytes = Bytes(2048);
  plan.pools = {{"p", Placement::buffer, Bytes(4096), {}, DataType::f16},
                {"i", Placement::image2d, Bytes(1024), {8, 16}, DataType::f16}};
  plan.tensors = {
      tensor("in", TensorRole::input, "L0", "L0"), tensor("x", TensorRole::activation, "L0", "L1"),
      tensor("y", TensorRole::activation, "L1", "L2"),
      tensor("out", TensorRole::output, "L2", "L2"), tensor("w", TensorRole::weight, "L2", "L2")};
  for (std::size_t i : {0, 1, 3}) {
    plan.tensors[i].pool = "p";
    plan.tensors[i].offset = Bytes(1024 * i);
  }
  plan.tensors[2].placement = plan.tensors[4].placement = Placement::image2d;
  plan.tensors[2].pool = "i";
  PlanLaunch copy;
  copy.id = "C";
  copy.kind = LaunchKind::copy;
  copy.operation = "Copy";
  copy.weight = "w";
  plan.launches = {kernel("L0", {read("in"), write("x")}), kernel("L1", {read("x"), write("y")}),
                   copy, kernel("L2", {read("y"), read("w"), write("out")})};
  plan.launches[3].depends = {"L1", "C"};
  plan.launches[1].parameters["STREAMS"] = "1";
  WeightSlice slice;
  slice.tensor = "w";
  slice.file_offset = Bytes(8192);
  slice.bytes = Bytes(1024);
  slice.residency = Residency::stream;
  slice.transforms = {{"L1", 0, 1}, {"C", 1, 1}};
  slice.earliest_launch = "L0";
  slice.release_after = "L2";
  plan.weights = {slice};
  return plan;
}

/// The error after one change to the valid plan.
std::string error_after(const std::function<void(Plan&)>& change) {
  Plan plan = valid_plan();
  change(plan);
  return user_error_of([&] { validate(plan); });
}

TEST(PlanValidation, AcceptsTheValidPlan) {
  EXPECT_EQ(error_after([](Plan&) {}), "");
}

TEST(PlanValidation, IdsAreUniqueAndNotEmpty) {
  EXPECT_THAT(error_after([](Plan& p) { p.tensors[1].id = "in"; }),
              HasSubstr("tensor 'in': its id is given twice"));
  EXPECT_THAT(error_after([](Plan& p) { p.pools[1].id = "p"; }), HasSubstr("pool 'p'"));
  EXPECT_THAT(error_after([](Plan& p) { p.launches[1].id = "L0"; }),
              HasSubstr("launch 'L0': its id is given twice"));
  EXPECT_THAT(error_after([](Plan& p) { p.tensors[0].id = ""; }), HasSubstr("id is empty"));
  EXPECT_THAT(error_after([](Plan& p) {
                p.models = {{"m", "", "", 1}, {"m", "", "", 1}};
              }),
              HasSubstr("two models"));
  EXPECT_THAT(error_after([](Plan& p) { p.launches[0].model = "m"; }),
              HasSubstr("not among the plan's models"));
}

TEST(PlanValidation, LaunchesAreSound) {
  EXPECT_THAT(error_after([](Plan& p) { p.launches[0].arguments[0] = read("none"); }),
              HasSubstr("'none', which the plan lacks"));
  EXPECT_THAT(error_after([](Plan& p) { p.launches[0].global[1] = 3, p.launches[0].local[1] = 2; }),
              HasSubstr("multiple of local"));
  EXPECT_THAT(error_after([](Plan& p) { p.launches[0].local[2] = 0; }),
              HasSubstr("multiple of local"));
  EXPECT_THAT(error_after([](Plan& p) { p.launches[0].kernel = ""; }),
              HasSubstr("kernel is empty"));
  EXPECT_THAT(error_after([](Plan& p) { p.launches[0].depends = {"L1"}; }),
              HasSubstr("not before it"));
  EXPECT_THAT(error_after([](Plan& p) { p.launches[0].depends = {"L0"}; }),
              HasSubstr("not before it"));
  EXPECT_THAT(error_after([](Plan& p) { p.launches[0].depends = {"no"}; }),
              HasSubstr("which the plan lacks"));
  EXPECT_THAT(error_after([](Plan& p) { p.launches[0].arguments.emplace_back(LocalArgument{}); }),
              HasSubstr("at least 1 B"));
  EXPECT_THAT(error_after([](Plan& p) { p.enqueue_ahead = 0; }), HasSubstr("enqueue_ahead"));
  EXPECT_THAT(error_after([](Plan& p) { p.storage = DataType::u8; }), HasSubstr("storage must be"));
}

TEST(PlanValidation, NothingIsReadBeforeItIsWritten) {
  EXPECT_THAT(error_after([](Plan& p) { p.launches[0].arguments.emplace_back(read("x")); }),
              HasSubstr("launch 'L0': reads tensor 'x', which no launch before it writes"));
  EXPECT_THAT(error_after([](Plan& p) { p.launches[0].arguments[1] = write("w"); }),
              HasSubstr("whose role is weight"));
  EXPECT_THAT(error_after([](Plan& p) { p.launches[0].arguments[1] = write("in"); }),
              HasSubstr("whose role is input"));
}

TEST(PlanValidation, DeclaredUsesCoverTheRealOnes) {
  EXPECT_THAT(error_after([](Plan& p) { p.tensors[1].last_use = "L0"; }),
              HasSubstr("touches it after last_use 'L0'"));
  EXPECT_THAT(error_after([](Plan& p) { p.tensors[1].first_use = "L1"; }),
              HasSubstr("touches it before first_use 'L1'"));
  EXPECT_THAT(error_after([](Plan& p) { p.tensors[1].first_use = p.tensors[1].last_use = ""; }),
              HasSubstr("first_use is empty"));
  EXPECT_THAT(error_after([](Plan& p) { p.tensors[1].last_use = ""; }), HasSubstr("go together"));
  EXPECT_THAT(error_after([](Plan& p) { p.tensors[1].last_use = "no"; }),
              HasSubstr("which the plan lacks"));
  EXPECT_THAT(
      error_after([](Plan& p) { std::swap(p.tensors[1].first_use, p.tensors[1].last_use); }),
      HasSubstr("comes after last_use"));
}

TEST(PlanValidation, TensorsFitTheirFormAndPool) {
  EXPECT_THAT(error_after([](Plan& p) { p.tensors[0].bytes = Bytes(1000); }),
              HasSubstr("layout, dtype and shape give 1024"));
  EXPECT_THAT(error_after([](Plan& p) { p.tensors[0].layout = Layout::channels; }),
              HasSubstr("needs rank 4"));
  EXPECT_THAT(error_after([](Plan& p) { p.tensors[2].layout = Layout::linear; }),
              HasSubstr("cannot be in an image2d"));
  EXPECT_THAT(error_after([](Plan& p) { p.tensors[0].pool = "q"; }),
              HasSubstr("not among the plan's pools"));
  EXPECT_THAT(error_after([](Plan& p) { p.tensors[0].pool = ""; }),
              HasSubstr("not among the plan's pools"));
  EXPECT_THAT(error_after([](Plan& p) { p.tensors[0].pool = "i"; }), HasSubstr("that of its pool"));
  EXPECT_THAT(error_after([](Plan& p) { p.tensors[4].pool = "i"; }), HasSubstr("have a pool"));
  EXPECT_THAT(error_after([](Plan& p) { p.tensors[1].offset = Bytes(1032); }),
              HasSubstr("multiple of 128"));
  EXPECT_THAT(error_after([](Plan& p) { p.tensors[3].offset = Bytes(3200); }),
              HasSubstr("ends at byte 4224"));
  EXPECT_THAT(error_after([](Plan& p) { p.tensors[2].offset = Bytes(128); }),
              HasSubstr("offset must be 0"));
  EXPECT_THAT(error_after([](Plan& p) {
                p.pools[1].extent = {16, 8};
              }),
              HasSubstr("8 x 16 texels do not fit"));
  EXPECT_THAT(error_after([](Plan& p) {
                p.pools[1].dtype = DataType::f32, p.pools[1].bytes = Bytes(2048);
              }),
              HasSubstr("dtype differs"));
  EXPECT_THAT(error_after([](Plan& p) { p.pools[1].bytes = Bytes(1000); }),
              HasSubstr("extent and dtype give 1024"));
  EXPECT_THAT(error_after([](Plan& p) { p.pools[0].bytes = Bytes(0); }), HasSubstr("above 0"));
  EXPECT_THAT(error_after([](Plan& p) { p.pools[0].placement = Placement::local; }),
              HasSubstr("buffer or image2d"));
}

TEST(PlanValidation, TensorsAliveAtOnceDoNotShareBytes) {
  // x is last read by the launch that writes out: both are alive then.
  const auto chain_out_to_l1 = [](Plan& p) {
    p.launches[1].arguments = {read("x"), write("y"), write("out")};
    p.launches[3].arguments = {read("y"), read("w")};
    p.tensors[3].first_use = p.tensors[3].last_use = "L1";
  };
  EXPECT_EQ(error_after(chain_out_to_l1), "");
  EXPECT_THAT(
      error_after([&](Plan& p) { chain_out_to_l1(p), p.tensors[3].offset = Bytes(1024 + 896); }),
      HasSubstr("tensor 'out': shares bytes of pool 'p' with tensor 'x' while both are alive, "
                "during launch 'L1'"));
  // In the unchanged plan x is dead when out is written: they may share.
  EXPECT_EQ(error_after([](Plan& p) { p.tensors[3].offset = Bytes(1024); }), "");
  EXPECT_THAT(error_after([](Plan& p) { p.tensors[1].offset = Bytes(896); }),
              HasSubstr("tensor 'x': shares bytes"));
}

TEST(PlanValidation, InputsAreThereFromTheStartAndOutputsStay) {
  EXPECT_THAT(error_after([](Plan& p) {
                p.launches[3].arguments.emplace_back(read("in"));
                p.tensors[0].first_use = p.tensors[0].last_use = "L2";
                p.launches[0].arguments = {write("x")};
                p.tensors[1].offset = Bytes(0);
              }),
              HasSubstr("shares bytes of pool 'p' with tensor 'in'"));
  EXPECT_THAT(error_after([](Plan& p) {
                p.tensors[1].role = TensorRole::output;
                p.tensors[3].offset = Bytes(1024);
              }),
              HasSubstr("tensor 'out': shares bytes of pool 'p' with tensor 'x'"));
}

TEST(PlanValidation, ImagesAliveAtOnceDoNotShareAPool) {
  EXPECT_THAT(error_after([](Plan& p) {
                p.tensors[1].placement = Placement::image2d;
                p.tensors[1].pool = "i";
                p.tensors[1].offset = Bytes(0);
              }),
              HasSubstr("shares bytes of pool 'i'"));
}

TEST(PlanValidation, WeightsLieInTheFileInOrder) {
  EXPECT_THAT(error_after([](Plan& p) {
                p.weights.clear(), p.launches.erase(p.launches.begin() + 2),
                    p.launches[2].depends.clear();
              }),
              HasSubstr("without a slice"));
  EXPECT_THAT(error_after([](Plan& p) { p.weights.push_back(p.weights[0]); }),
              HasSubstr("given twice"));
  EXPECT_THAT(error_after([](Plan& p) { p.weights[0].tensor = "x"; }), HasSubstr("of role weight"));
  EXPECT_THAT(error_after([](Plan& p) { p.weights[0].file_offset = Bytes(8200); }),
              HasSubstr("multiple of 4 KiB"));
  EXPECT_THAT(error_after([](Plan& p) { p.weights[0].file_offset = Bytes(0); }),
              HasSubstr("inside the header"));
  EXPECT_THAT(error_after([](Plan& p) { p.weights[0].bytes = Bytes(512); }),
              HasSubstr("differ from those of its tensor"));
}

TEST(PlanValidation, WeightsOfOneFormMayShareASlice) {
  const auto share = [](const Shape& shape) {
    return [shape](Plan& p) {
      PlanTensor other = tensor("v", TensorRole::weight, "L0", "L0");
      other.shape = shape;
      p.tensors.push_back(other);
      WeightSlice slice;
      slice.tensor = "v";
      slice.file_offset = p.weights[0].file_offset;
      slice.bytes = other.bytes;
      p.launches[0].arguments.emplace_back(read("v"));
      p.weights.push_back(slice);
    };
  };
  EXPECT_EQ(error_after(share({16, 32})), "");
  EXPECT_THAT(error_after(share({32, 16})), HasSubstr("has the file_offset of weight 'w', which"));
}

TEST(PlanValidation, LaunchesAndTensorsOfAQueueAreOfAModel) {
  const auto queue = [](Plan& p) {
    p.models = {{"a", "a.onnx", "d", 13}, {"b", "b.onnx", "e", 13}};
    for (PlanTensor& tensor : p.tensors) tensor.model = "a";
    for (PlanLaunch& launch : p.launches) launch.model = "a";
  };
  const auto after = [&](void (*change)(Plan&)) {
    return error_after([&](Plan& p) { queue(p), change(p); });
  };
  EXPECT_EQ(after([](Plan&) {}), "");
  EXPECT_EQ(after([](Plan& p) { p.tensors[4].model = "b"; }), "");  // a weight
  EXPECT_THAT(after([](Plan& p) { p.tensors[1].model = ""; }), HasSubstr("key model is missing"));
  EXPECT_THAT(after([](Plan& p) { p.launches[1].model = ""; }), HasSubstr("key model is missing"));
  EXPECT_THAT(after([](Plan& p) { p.tensors[1].model = "c"; }),
              HasSubstr("model 'c' is not among"));
  EXPECT_THAT(after([](Plan& p) { p.launches[1].model = "c"; }),
              HasSubstr("model 'c' is not among"));
  EXPECT_THAT(after([](Plan& p) { p.tensors[1].model = "b"; }),
              HasSubstr("is of model 'a', but touches tensor 'x' of model 'b'"));
}

TEST(PlanValidation, ChunksAreTransformedOnceEach) {
  EXPECT_THAT(error_after([](Plan& p) { p.weights[0].transforms[1].first_chunk = 0; }),
              HasSubstr("chunk 0 is transformed twice"));
  EXPECT_THAT(error_after([](Plan& p) { p.weights[0].transforms[0].chunk_count = 2; }),
              HasSubstr("chunk 1 is transformed twice"));
  EXPECT_THAT(
      error_after([](Plan& p) { p.weights[0].transforms.erase(p.weights[0].transforms.begin()); }),
      HasSubstr("chunk 0 of 2 is never"));
  EXPECT_THAT(error_after([](Plan& p) { p.weights[0].transforms[1].chunk_count = 2; }),
              HasSubstr("outside its 2 chunks"));
  EXPECT_THAT(error_after([](Plan& p) { p.weights[0].transforms[1].first_chunk = UINT64_MAX; }),
              HasSubstr("outside its 2 chunks"));
  EXPECT_THAT(error_after([](Plan& p) { p.chunk_bytes = Bytes(0); }),
              HasSubstr("chunk_bytes must be above 0"));
  EXPECT_THAT(error_after([](Plan& p) { p.staging_ring_bytes = Bytes(256); }),
              HasSubstr("cannot hold one chunk"));
  EXPECT_THAT(error_after([](Plan& p) { p.tensors[4].placement = Placement::buffer; }),
              HasSubstr("only a weight placed in an image2d"));
}

TEST(PlanValidation, StreamedWeightsComeInTime) {
  EXPECT_THAT(error_after([](Plan& p) { p.weights[0].transforms[0].launch = "L2"; }),
              HasSubstr("not before its first use"));
  EXPECT_THAT(error_after([](Plan& p) { p.weights[0].transforms[0].launch = "no"; }),
              HasSubstr("which the plan lacks"));
  EXPECT_THAT(error_after([](Plan& p) { p.weights[0].earliest_launch = "C"; }),
              HasSubstr("would wait for itself"));
  // Once all launches before it are finished.
  EXPECT_EQ(error_after([](Plan& p) { p.weights[0].earliest_launch = "L1"; }), "");
  EXPECT_THAT(error_after([](Plan& p) { p.weights[0].earliest_launch = "no"; }),
              HasSubstr("which the plan lacks"));
  EXPECT_THAT(error_after([](Plan& p) { p.weights[0].release_after = "C"; }),
              HasSubstr("before its last use"));
  EXPECT_THAT(error_after([](Plan& p) { p.weights[0].release_after = ""; }),
              HasSubstr("needs release_after"));
  EXPECT_THAT(error_after([](Plan& p) { p.weights[0].residency = Residency::preload; }),
              HasSubstr("belong to streamed weights"));
}

TEST(PlanValidation, PreloadsMayGoAfterTheirLastUse) {
  const auto error = [](const char* release, Residency residency) {
    return error_after([&](Plan& p) {
      p.weights[0].residency = residency;
      p.weights[0].transforms.clear();
      p.weights[0].earliest_launch = "";
      p.weights[0].release_after = release;
      p.launches.erase(p.launches.begin() + 2);
      p.launches[1].parameters.clear();
      p.launches.back().depends = {"L1"};
    });
  };
  EXPECT_EQ(error("", Residency::preload), "");
  EXPECT_EQ(error("L2", Residency::preload), "");
  EXPECT_THAT(error("L1", Residency::preload), HasSubstr("is before its last use"));
  EXPECT_THAT(error("L9", Residency::preload), HasSubstr("which the plan lacks"));
  EXPECT_THAT(error("L2", Residency::disk), HasSubstr("no memory to release"));
}

TEST(PlanValidation, CopiesMoveTheirWeight) {
  EXPECT_THAT(error_after([](Plan& p) { p.launches[2].weight = "x"; }),
              HasSubstr("not a weight of the plan"));
  EXPECT_THAT(error_after([](Plan& p) {
                p.weights[0].transforms = {{"L0", 0, 2}};
                std::swap(p.launches[0].parameters, p.launches[1].parameters);
                p.weights[0].earliest_launch = "";
              }),
              HasSubstr("no transform of weight 'w' names this copy"));
  EXPECT_THAT(error_after([](Plan& p) { p.launches[2].kernel = "k"; }), HasSubstr("has no kernel"));
}

/// Two more launches behind the valid plan: a copy of v, which takes over the image of w, and v's
/// user.
void add_reuse(Plan& plan) {
  plan.tensors[3].last_use = "L3";
  plan.tensors.push_back(tensor("v", TensorRole::weight, "L3", "L3"));
  plan.tensors.back().placement = Placement::image2d;
  plan.tensors.push_back(tensor("end", TensorRole::output, "L3", "L3"));
  plan.tensors.back().pool = "p";
  plan.tensors.back().offset = Bytes(1024);
  PlanLaunch copy = plan.launches[2];
  copy.id = "D";
  copy.weight = "v";
  plan.launches.push_back(copy);
  plan.launches.push_back(kernel("L3", {read("out"), read("v"), write("end")}));
  plan.launches.back().depends = {"L2", "D"};
  WeightSlice slice = plan.weights[0];
  slice.tensor = "v";
  slice.file_offset = Bytes(12288);
  slice.transforms = {{"D", 0, 2}};
  slice.release_after = "L3";
  slice.reuses = "w";
  plan.weights.push_back(slice);
}

TEST(PlanValidation, AnImageIsReusedWhenItsOwnerIsThroughWithIt) {
  const auto error = [](const std::function<void(Plan&)>& change) {
    return error_after([&](Plan& p) {
      add_reuse(p);
      change(p);
    });
  };
  EXPECT_EQ(error([](Plan&) {}), "");
  EXPECT_THAT(error([](Plan& p) { p.weights[1].reuses = "none"; }),
              HasSubstr("weight 'v': it reuses the memory of 'none'"));
  EXPECT_THAT(error([](Plan& p) { p.weights[0].release_after = "L3"; }),
              HasSubstr("launch 'D' fills it before launch 'L3', the other's release_after"));
  EXPECT_THAT(error([](Plan& p) {
                p.tensors[5].shape = {32, 16};
              }),
              HasSubstr("another extent or type"));
  EXPECT_THAT(error([](Plan& p) { p.weights[0].reuses = "w"; }),
              HasSubstr("fills it before"));  // its own
  EXPECT_THAT(error([](Plan& p) {
                p.weights[1].residency = Residency::preload;
                p.weights[1].transforms.clear();
                p.weights[1].earliest_launch = p.weights[1].release_after = "";
                p.launches.erase(p.launches.begin() + 4);
                p.launches.back().depends = {"L2"};
              }),
              HasSubstr("reuses belong to streamed weights"));
}

TEST(PlanValidation, LaunchesStreamWhatTheyHaveSlotsAndRoomFor) {
  EXPECT_THAT(error_after([](Plan& p) { p.launches[1].parameters.clear(); }),
              HasSubstr("inside launch 'L1', whose kernel streams none"));
  EXPECT_THAT(error_after([](Plan& p) { p.launches[1].parameters["STREAMS"] = "0"; }),
              HasSubstr("whose kernel streams none"));
  EXPECT_THAT(error_after([](Plan& p) { p.launches[0].parameters["STREAMS"] = "2"; }),
              HasSubstr("no weight's transforms name it"));
  EXPECT_THAT(error_after([](Plan& p) {
                p.weights[0].transforms = {{"L1", 0, 1}, {"L1", 1, 1}};
                p.launches.erase(p.launches.begin() + 2);
                p.launches[2].depends = {"L1"};
              }),
              HasSubstr("2 transforms name it, but STREAMS is 1"));
  EXPECT_THAT(error_after([](Plan& p) {
                p.weights[0].transforms = {{"L1", 0, 2}};
                p.launches.erase(p.launches.begin() + 2);
                p.launches[2].depends = {"L1"};
                p.staging_ring_bytes = Bytes(1023);
              }),
              HasSubstr("streams 1024 bytes at once, more than staging_ring_bytes"));
  EXPECT_THAT(error_after([](Plan& p) { p.storage = DataType::f32; }),
              HasSubstr("only weights of the plan's storage type, f32"));
}

/// The valid plan with rows of weight "w" gathered at the i32 input "ids", which L0 reads.
Plan plan_with_gather() {
  Plan plan = valid_plan();
  PlanTensor ids;
  ids.id = "ids", ids.role = TensorRole::input, ids.dtype = DataType::i32;
  ids.shape = {3}, ids.layout = Layout::linear, ids.bytes = Bytes(12), ids.pool = "ids_pool";
  PlanTensor rows;
  const PlanTensor& table = plan.tensor("w");
  rows.id = "rows", rows.role = TensorRole::gathered, rows.dtype = table.dtype;
  rows.shape = {3, table.shape.back()}, rows.layout = Layout::rows;
  rows.bytes = storage_bytes(rows.layout, rows.dtype, rows.shape);
  rows.first_use = rows.last_use = "L1";
  plan.pools.push_back({"ids_pool", Placement::buffer, Bytes(128), {}, DataType::f16});
  plan.tensors.push_back(ids);
  plan.tensors.push_back(rows);
  plan.launches[1].arguments.push_back(TensorArgument{"rows", false});
  plan.gathers = {{"rows", "ids", {"w"}, "L1"}};
  return plan;
}

std::string gather_error_after(const std::function<void(Plan&)>& change) {
  Plan plan = plan_with_gather();
  change(plan);
  return user_error_of([&] { validate(plan); });
}

TEST(PlanValidation, GathersNameTheirTableAndIndices) {
  EXPECT_EQ(gather_error_after([](Plan&) {}), "");
  EXPECT_EQ(to_yaml(parse_plan(to_yaml(plan_with_gather()), "p")), to_yaml(plan_with_gather()));
  EXPECT_THAT(gather_error_after([](Plan& p) { p.gathers.clear(); }),
              HasSubstr("tensor 'rows': its role is gathered, but no gather fills it"));
  EXPECT_THAT(gather_error_after([](Plan& p) { p.gathers.push_back(p.gathers[0]); }),
              HasSubstr("gather 'rows': it is given twice"));
  EXPECT_THAT(gather_error_after([](Plan& p) { p.gathers[0].tensor = "w"; }),
              HasSubstr("not among the plan's tensors of role gathered"));
  EXPECT_THAT(gather_error_after([](Plan& p) { p.gathers[0].indices = "in"; }),
              HasSubstr("indices 'in' are not an input of type i32"));
  EXPECT_THAT(gather_error_after([](Plan& p) { p.gathers[0].table = {"ids"}; }),
              HasSubstr("its table names 'ids', which is no weight"));
  EXPECT_THAT(gather_error_after([](Plan& p) { p.gathers[0].table.clear(); }),
              HasSubstr("names no weight"));
  EXPECT_THAT(gather_error_after([](Plan& p) { p.gathers[0].release_after = "L0"; }),
              HasSubstr("release_after 'L0' is before its last use"));
  EXPECT_THAT(gather_error_after([](Plan& p) {
                p.tensors[p.tensors.size() - 2].shape = {2};
                p.tensors[p.tensors.size() - 2].bytes = Bytes(8);
              }),
              HasSubstr("it has 3 rows, but its indices are 2"));
}

TEST(PlanValidation, AWeightOnDiskIsUsedByNoLaunch) {
  EXPECT_THAT(error_after([](Plan& p) {
                WeightSlice& slice = p.weights[0];
                slice = {
                    slice.tensor, slice.file_offset, slice.bytes, Residency::disk, "", {}, "", ""};
                p.launches.erase(p.launches.begin() + 2);
                p.launches[2].depends = {"L1"};
              }),
              HasSubstr("its residency is disk, but launch 'L2' uses it"));
}

TEST(PlanValidation, AcceptsRandomValidPlans) {
  for (std::uint32_t seed = 1000; seed < 1200; ++seed) {
    const Plan plan = RandomPlan(seed).make();
    EXPECT_EQ(user_error_of([&] { validate(plan); }), "") << seed;
  }
}

}  // namespace
}  // namespace fm
