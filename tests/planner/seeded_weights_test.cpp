// The weight filler against vectors that the Python filler wrote.
#include "planner/seeded_weights.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <sstream>

#include "paths.hpp"
#include "planner/model_file.hpp"
#include "tests/core/error_message.hpp"
#include "tests/planner/model_builder.hpp"

namespace fm {
namespace {

using ::testing::HasSubstr;

TEST(SeededWeights, EqualThePythonVectorsBitForBit) {
  std::istringstream lines(contents_of(FM_TEST_DATA "/seeded_weights.csv"));
  std::string line;
  std::getline(lines, line);
  ASSERT_EQ(line, "name,seed,index,mean,half_range,float32_bits");
  int count = 0;
  while (std::getline(lines, line)) {
    std::istringstream fields(line);
    std::string name, seed, index, mean, half_range, bits;
    std::getline(fields, name, ',');
    std::getline(fields, seed, ',');
    std::getline(fields, index, ',');
    std::getline(fields, mean, ',');
    std::getline(fields, half_range, ',');
    std::getline(fields, bits);
    const float value = seeded_value(seeded_stream_key(std::stoull(seed), name), std::stoull(index),
                                     static_cast<float>(std::stod(mean)),
                                     static_cast<float>(std::stod(half_range)));
    std::uint32_t found;
    std::memcpy(&found, &value, sizeof(found));
    EXPECT_EQ(found, std::stoul(bits, nullptr, 16)) << line;
    ++count;
  }
  EXPECT_GT(count, 10);
}

ModelBuilder skeleton(const std::string& mean, int type = onnx::TensorProto::FLOAT) {
  ModelBuilder model;
  model.input("x", {3}).node("Add", {"x", "w"}, {"y"}).output("y").scalar("kept", 2.5f);
  auto* tensor = model.initializer("w", {3}, type);
  tensor->set_data_location(onnx::TensorProto::EXTERNAL);
  for (const auto& [key, value] :
       {std::pair<std::string, std::string>{"location", "seeded-weights"},
        {"mean", mean},
        {"half_range", "0.25"}}) {
    auto* entry = tensor->add_external_data();
    entry->set_key(key);
    entry->set_value(value);
  }
  return model;
}

TEST(SeededWeights, FillsSeededTensorsAndNothingElse) {
  const TemporaryFolder folder;
  const std::string filled = folder.file("filled.onnx");
  EXPECT_EQ(fill_skeleton(skeleton("0.5").write(folder), 42, filled), 1u);
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(contents_of(filled)));
  const onnx::TensorProto& kept = model.graph().initializer(0);
  const onnx::TensorProto& drawn = model.graph().initializer(1);
  EXPECT_EQ(kept.SerializeAsString(),
            skeleton("0.5").proto().graph().initializer(0).SerializeAsString());
  EXPECT_FALSE(drawn.has_data_location());
  EXPECT_EQ(drawn.external_data_size(), 0);
  ASSERT_EQ(drawn.raw_data().size(), 12u);
  for (std::size_t i = 0; i < 3; ++i) {
    float value;
    std::memcpy(&value, drawn.raw_data().data() + 4 * i, 4);
    EXPECT_EQ(value, seeded_value(seeded_stream_key(42, "w"), i, 0.5f, 0.25f));
    EXPECT_GE(value, 0.25f);
    EXPECT_LT(value, 0.75f);
  }
}

TEST(SeededWeights, GoIntoASecondFileWhenTheModelWouldBeTooLarge) {
  const TemporaryFolder folder;
  const std::string whole = folder.file("whole.onnx"), split = folder.file("split.onnx");
  const std::string path = skeleton("0.5").write(folder);
  fill_skeleton(path, 42, whole);
  fill_skeleton(path, 42, split, Bytes(12));
  onnx::ModelProto expected, model;
  ASSERT_TRUE(expected.ParseFromString(contents_of(whole)));
  ASSERT_TRUE(model.ParseFromString(contents_of(split)));
  const onnx::TensorProto& drawn = model.graph().initializer(1);
  EXPECT_EQ(drawn.data_location(), onnx::TensorProto::EXTERNAL);
  EXPECT_EQ(external_fact(drawn, "location"), "split.onnx.data");
  EXPECT_EQ(external_fact(drawn, "offset"), "0");
  EXPECT_EQ(external_fact(drawn, "length"), "12");
  EXPECT_EQ(contents_of(split + ".data"), expected.graph().initializer(1).raw_data());
  EXPECT_THAT(user_error_of([&] { fill_skeleton(path, 42, "-", Bytes(12)); }),
              HasSubstr("give -o FILE"));
}

TEST(SeededWeights, RefusesDimensionsNoTensorHas) {
  const TemporaryFolder folder;
  for (const std::int64_t dimension : {std::int64_t{-1}, std::int64_t{1} << 62}) {
    ModelBuilder model = skeleton("0");
    model.proto().mutable_graph()->mutable_initializer(1)->set_dims(0, dimension);
    EXPECT_THAT(
        user_error_of([&] { fill_skeleton(model.write(folder), 1, folder.file("f.onnx")); }),
        HasSubstr("impossible dimensions"));
  }
}

TEST(SeededWeights, RefusesFactsThatAreWrong) {
  const TemporaryFolder folder;
  const std::string filled = folder.file("filled.onnx");
  const auto refusal = [&](const ModelBuilder& model) {
    const std::string path = model.write(folder);
    return user_error_of([&] { fill_skeleton(path, 1, filled); });
  };
  EXPECT_THAT(refusal(skeleton("half")), HasSubstr("`mean` must be a decimal number"));
  EXPECT_THAT(refusal(skeleton("")), HasSubstr("`mean` must be a decimal number"));
  EXPECT_THAT(refusal(skeleton("0", onnx::TensorProto::DOUBLE)), HasSubstr("must be float32"));
  write_file(folder.file("junk"), "junk");
  EXPECT_THAT(user_error_of([&] { fill_skeleton(folder.file("junk"), 1, filled); }),
              HasSubstr("junk"));
  EXPECT_THAT(user_error_of([&] { fill_skeleton(folder.file("none"), 1, filled); }),
              HasSubstr("no such"));
  EXPECT_FALSE(std::filesystem::exists(filled));
}

}  // namespace
}  // namespace fm
