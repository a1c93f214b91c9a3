// fmexec as a user runs it: exit status, messages, and what is written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "core/trace_file.hpp"
#include "executor/npz.hpp"
#include "executor/opencl_device.hpp"
#include "paths.hpp"
#include "tests/executor/queue_network.hpp"

namespace fm {
namespace {

using test::NetworkOptions;
using test::SmallNetwork;
using test::TemporaryFolder;
using ::testing::HasSubstr;
using ::testing::Not;

std::string contents(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

struct Finished {
  int status = 0;
  std::string out, err;
};

class Fmexec : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { cache_ = new TemporaryFolder; }
  static void TearDownTestSuite() { delete cache_; }

  void prepare(const NetworkOptions& options) {
    const SmallNetwork network(options);
    std::ofstream(plan_) << to_yaml(network.plan());
    network.write_weights(weights_);
    const PlanTensor& x = network.plan().tensor("x");
    std::map<std::string, NpyArray> arrays;
    arrays["input:" + x.name] = {x.shape, network.input()};
    write_npz(folder_.file("in.npz"), arrays);
    arrays["output:/small/y"] = {x.shape, network.reference(network.input())};
    write_npz(folder_.file("ref.npz"), arrays);
  }

  Finished run(const std::string& arguments, const std::string& environment = "") {
    const TemporaryFolder output;
    const std::string command =
        "cd " + folder_.path() + " && env XDG_CACHE_HOME=" + cache_->path() + " " + environment +
        " " + FM_FMEXEC + " " + arguments + " >" + output.file("out") + " 2>" + output.file("err");
    const int status = std::system(command.c_str());
    return {WEXITSTATUS(status), contents(output.file("out")), contents(output.file("err"))};
  }
  Finished run_plan(const std::string& more, const std::string& environment = "") {
    return run("--plan plan.yaml --weights w.fmw " + more, environment);
  }
  /// Fails with `status`, says `words` and leaves no file behind.
  void expect_refused(const std::string& arguments, int status,
                      const std::vector<std::string>& words, const std::string& environment = "") {
    const std::size_t before = file_count();
    const Finished finished =
        run_plan(arguments + " --record r.trace --outputs o.npz -o r.json", environment);
    EXPECT_EQ(finished.status, status) << finished.err;
    EXPECT_THAT(finished.err, HasSubstr("fmexec: error: "));
    for (const std::string& word : words) EXPECT_THAT(finished.err, HasSubstr(word));
    EXPECT_EQ(file_count(), before);
  }
  std::size_t file_count() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(folder_.path()), {}));
  }

  static TemporaryFolder* cache_;
  TemporaryFolder folder_;
  const std::string plan_ = folder_.file("plan.yaml");
  const std::string weights_ = folder_.file("w.fmw");
};
TemporaryFolder* Fmexec::cache_ = nullptr;

TEST_F(Fmexec, VerifiesRecordsAndReports) {
  NetworkOptions options;
  options.stream = true;
  prepare(options);
  const Finished finished = run_plan(
      "--verify ref.npz --record run.trace --outputs out.npz --profile --repeat 2 --warmup 1 -o "
      "result.json");
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("passed"));
  EXPECT_THAT(finished.out, HasSubstr("inference            min "));
  EXPECT_THAT(finished.out, HasSubstr("UM in flight"));

  const NpzReader out(folder_.file("out.npz"));
  const NpzReader reference(folder_.file("ref.npz"));
  EXPECT_LE(test::relative_error(out.read("output:/small/y").values,
                                 reference.read("output:/small/y").values),
            1e-5);

  const Trace trace = read_trace(folder_.file("run.trace"));
  std::size_t launches = 0;
  std::uint64_t read = 0;
  for (const trace::HostOperation& operation : trace.operations) {
    launches += operation.has_launch();
    read += operation.disk_read().bytes();
  }
  // One run, however often it was repeated: four layers and the tanh.
  EXPECT_EQ(launches, 5u);
  EXPECT_EQ(read, 4u * (48 * 48 + 48) * 4);
  EXPECT_EQ(parse_plan(trace.header.plan_yaml(), "trace").launches.size(), 5u);
  // All layers are alike, so they share one access program.
  EXPECT_EQ(trace.programs.size(), 2u);

  const std::string json = contents(folder_.file("result.json"));
  for (const char* key : {"\"latency\"", "\"over_time\"", "\"um_in_flight\"",
                          "\"process.peak_resident\"", "\"run.trace\"", "\"fmexec 0.1.0\""}) {
    EXPECT_THAT(json, HasSubstr(key));
  }
}

TEST_F(Fmexec, AQueueTakesAndWritesEachModelsArrays) {
  NetworkOptions first, second;
  first.stream = second.stream = true;
  second.seed = 9;
  const test::QueueNetwork queue({SmallNetwork(first), SmallNetwork(second)});
  std::ofstream(plan_) << to_yaml(queue.plan());
  queue.write_weights(weights_);
  for (std::size_t m = 0; m < 2; ++m) {
    const SmallNetwork& network = queue.network(m);
    const Shape shape = network.plan().tensor("x").shape;
    write_npz(folder_.file(test::QueueNetwork::name_of(m) + ".npz"),
              {{"input:/small/x", {shape, network.input()}},
               {"output:/small/y", {shape, network.reference(network.input())}}});
  }
  const Finished finished = run_plan(
      "--verify a=a.npz --verify b=b.npz --outputs b=out.npz --record run.trace --json -o r.json");
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("output a:/small/y"));
  EXPECT_THAT(finished.out, HasSubstr("output b:/small/y"));
  EXPECT_THAT(finished.out, HasSubstr("model                a: starts at"));
  EXPECT_LE(test::relative_error(NpzReader(folder_.file("out.npz")).read("output:/small/y").values,
                                 NpzReader(folder_.file("b.npz")).read("output:/small/y").values),
            1e-5);
  EXPECT_THAT(contents(folder_.file("r.json")), HasSubstr("\"integrated_ns\""));
  EXPECT_EQ(read_trace(folder_.file("run.trace")).header.plan_yaml(), to_yaml(queue.plan()));
  // One that is not named runs with random inputs.
  EXPECT_EQ(run_plan("--verify b=b.npz").status, 0);
  expect_refused("--inputs a.npz", 2, {"--inputs a.npz", "models a, b", "MODEL=FILE"});
  expect_refused("--inputs c=a.npz", 2, {"models a, b"});
  expect_refused("--verify a=a.npz --verify a=b.npz", 2, {"two files", "model a"});
  // The other model's reference: a difference, and no trace.
  EXPECT_EQ(run_plan("--inputs a=a.npz --inputs b=b.npz --verify a=b.npz").status, 4);
}

TEST_F(Fmexec, RecordingDoesNotChangeTheOutput) {
  NetworkOptions options;
  options.weights = Placement::image2d;
  options.stream = true;
  prepare(options);
  ASSERT_EQ(run_plan("--inputs in.npz --outputs plain.npz").status, 0);
  ASSERT_EQ(run_plan("--inputs in.npz --outputs recorded.npz --record r.trace").status, 0);
  EXPECT_EQ(NpzReader(folder_.file("plain.npz")).read("output:/small/y").values,
            NpzReader(folder_.file("recorded.npz")).read("output:/small/y").values);
}

TEST_F(Fmexec, JsonOnStandardOutputIsAlone) {
  prepare({});
  const Finished finished = run_plan("--json --seed 3");
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(finished.out.front(), '{');
  EXPECT_THAT(finished.err, HasSubstr("inference"));
}

TEST_F(Fmexec, VerificationFailureEndsWith4AndWritesNoTrace) {
  prepare({});
  std::map<std::string, NpyArray> arrays;
  const NpzReader reference(folder_.file("ref.npz"));
  for (const std::string& name : reference.names()) arrays[name] = reference.read(name);
  arrays["output:/small/y"].values[7] += 0.1f;
  write_npz(folder_.file("wrong.npz"), arrays);
  const Finished finished = run_plan("--verify wrong.npz --record r.trace");
  EXPECT_EQ(finished.status, 4);
  EXPECT_THAT(finished.out, HasSubstr("FAILED"));
  EXPECT_FALSE(std::filesystem::exists(folder_.file("r.trace")));
  EXPECT_EQ(run_plan("--verify wrong.npz --tolerance 0.5").status, 0);
}

TEST_F(Fmexec, HelpVersionAndDevices) {
  EXPECT_THAT(run("--help").out, HasSubstr("Example: fmexec --plan"));
  EXPECT_EQ(run("--version").out, "fmexec 0.1.0\n");
  EXPECT_THAT(run("--list-devices").out, HasSubstr("0: "));
  EXPECT_EQ(run("--list-devices").status, 0);
}

TEST_F(Fmexec, WrongUsageIsNamed) {
  prepare({});
  EXPECT_EQ(run("--weights w.fmw").status, 2);
  for (const char* wrong :
       {"--repeats 3", "--repeat 0", "--repeat -1", "--repeat x", "--tolerance 1",
        "--throttle-disk 5parsec", "--verify ref.npz --tolerance 1 --half-bars", "stray"}) {
    const Finished finished = run_plan(wrong);
    EXPECT_EQ(finished.status, 2) << wrong << finished.err;
    EXPECT_THAT(finished.err, HasSubstr("fmexec: error: ")) << wrong;
  }
}

TEST_F(Fmexec, NoPlatformNamesThePackage) {
  prepare({});
  const TemporaryFolder empty;
  expect_refused("", 3, {"no OpenCL platform", "pocl-opencl-icd"},
                 "OCL_ICD_VENDORS=" + empty.path());
}

TEST_F(Fmexec, UnknownDeviceListsWhatThereIs) {
  prepare({});
  expect_refused("--device 7", 2, {"--device 7", "0: "});
  expect_refused("--device nonesuch", 2, {"nonesuch", "0: "});
}

TEST_F(Fmexec, WeightsOfAnotherPlanAreRefused) {
  NetworkOptions wide;
  wide.width = 64;
  prepare(wide);
  std::filesystem::rename(weights_, folder_.file("other.fmw"));
  prepare({});
  std::filesystem::rename(folder_.file("other.fmw"), weights_);
  expect_refused("", 2, {"w.fmw", "another plan"});
}

TEST_F(Fmexec, TruncatedWeightsAreRefused) {
  prepare({});
  const auto size = std::filesystem::file_size(weights_);
  for (std::uintmax_t left : {size / 2, std::uintmax_t{100}, std::uintmax_t{0}}) {
    std::filesystem::resize_file(weights_, left);
    expect_refused("", 2, {"w.fmw"});
  }
}

TEST_F(Fmexec, DamagedSliceIsNamed) {
  prepare({});
  const SmallNetwork network{NetworkOptions{}};
  std::fstream file(weights_, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(network.plan().weights[6].file_offset.count()));
  file.write("damage", 6);
  file.close();
  expect_refused("", 2, {"w.fmw", "/small/w3", "damaged"});
}

TEST_F(Fmexec, ImageAboveTheDevicesLimitIsNamed) {
  NetworkOptions options;
  options.rows = 40000;
  options.width = 4;
  options.activations = Placement::image2d;
  prepare(options);
  // PoCL computes the limit from the memory it may use: 8192 texels for 2 GB.
  expect_refused("", 2,
                 {"image too large for the device", "1 x 40000 texels", "8192 x 8192 texels"},
                 "POCL_MEMORY_LIMIT=2");
}

TEST_F(Fmexec, MissingOrMisshapenInputsAreNamed) {
  prepare({});
  std::map<std::string, NpyArray> arrays;
  arrays["input:other"] = {{1}, {0}};
  write_npz(folder_.file("other.npz"), arrays);
  expect_refused("--inputs other.npz", 2, {"other.npz", "input:/small/x"});
  arrays.clear();
  arrays["input:/small/x"] = {{1, 5, 47}, std::vector<float>(5 * 47)};
  write_npz(folder_.file("shape.npz"), arrays);
  expect_refused("--inputs shape.npz", 2, {"[1, 5, 47]", "[1, 5, 48]"});
  expect_refused("--inputs nowhere.npz", 2, {"nowhere.npz"});
  // in.npz has the inputs but no outputs.
  const Finished finished = run_plan("--verify in.npz --record r.trace");
  EXPECT_EQ(finished.status, 2);
  EXPECT_THAT(finished.err, HasSubstr("output:/small/y"));
  EXPECT_FALSE(std::filesystem::exists(folder_.file("r.trace")));
}

TEST_F(Fmexec, DestinationsAreCheckedFirst) {
  prepare({});
  const Finished finished = run_plan("--record nowhere/r.trace");
  EXPECT_EQ(finished.status, 2);
  EXPECT_THAT(finished.err, HasSubstr("nowhere"));
  EXPECT_THAT(finished.out, Not(HasSubstr("inference")));
}

TEST_F(Fmexec, HalfAccumulationIsRefusedWhereTheDeviceHasNone) {
  SmallNetwork network{NetworkOptions{}};
  prepare({});
  if (select_device("").has_extension("cl_khr_fp16")) GTEST_SKIP() << "the device has cl_khr_fp16";
  network.plan().accumulate = DataType::f16;
  std::ofstream(plan_) << to_yaml(network.plan());
  expect_refused("", 2, {"cl_khr_fp16"});
}

TEST_F(Fmexec, InterruptLeavesNoFile) {
  prepare({});
  const std::size_t before = file_count();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (chdir(folder_.path().c_str()) != 0) _exit(9);
    setenv("XDG_CACHE_HOME", cache_->path().c_str(), 1);
    if (!freopen("/dev/null", "w", stdout)) _exit(9);
    // So slow a disk that the run lasts until it is interrupted.
    execl(FM_FMEXEC, FM_FMEXEC, "--plan", "plan.yaml", "--weights", "w.fmw", "--throttle-disk",
          "1kB/s", "--record", "r.trace", "--outputs", "o.npz", "-o", "r.json", nullptr);
    _exit(9);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  kill(child, SIGINT);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) || (WIFEXITED(status) && WEXITSTATUS(status) != 0));
  EXPECT_EQ(file_count(), before);
}

}  // namespace
}  // namespace fm
