// The file of measured tiles, and which tiles are worth measuring.
#include "kernels/tile_file.hpp"

#include <gmock/gmock.h>

#include <set>

#include "kernels/tile_candidates.hpp"
#include "tests/kernels/kernel_runner.hpp"

namespace fm {
namespace {

using testing::HasSubstr;

constexpr const char* text =
    "tile_file: 1\n"
    "device: \"cpu: \\\"x\\\"\"\n"
    "driver: \"3.1\"\n"
    "kernels: \"xxh3:12\"\n"
    "tiles:\n"
    "  \"matmul 1 x 2 x 3 x 4, buffer f32 x buffer f32\":\n"
    "    {rows: 8, columns4: 12, vector: 16, blocks: 4, local: [1, 2, 1], tile_ns: 1500, "
    "default_ns: 3000}\n";

std::string changed(const std::string& from, const std::string& to) {
  std::string yaml = text;
  const std::size_t at = yaml.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return yaml.replace(at, from.size(), to);
}

std::string refusal_of(const std::string& yaml) {
  try {
    parse_tile_file(yaml, "t.yaml");
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(TileFile, IsWrittenAsItWasRead) {
  const TileFile file = parse_tile_file(text, "t.yaml");
  EXPECT_EQ(file.device, "cpu: \"x\"");
  const TunedTile& tuned = file.tiles.at("matmul 1 x 2 x 3 x 4, buffer f32 x buffer f32");
  EXPECT_EQ(tuned.tile, (LaunchTile{8, 12, 16, {1, 2, 1}, 4}));
  EXPECT_EQ(tuned.tile_ns, 1500);
  EXPECT_EQ(tuned.default_ns, 3000);
  EXPECT_EQ(tuned.where.line, 7);
  EXPECT_EQ(to_yaml(file), text);
}

TEST(TileFile, WithoutTilesCanBeReadAgain) {
  TileFile file = parse_tile_file(text, "t.yaml");
  file.tiles.clear();
  EXPECT_TRUE(parse_tile_file(to_yaml(file), "t.yaml").tiles.empty());
}

TEST(TileFile, NamesThePlaceOfWhatIsWrong) {
  EXPECT_THAT(refusal_of(changed("tile_file: 1", "tile_file: 2")), HasSubstr("t.yaml:1:"));
  EXPECT_THAT(refusal_of(changed("driver", "drive")), HasSubstr("driver"));
  EXPECT_THAT(refusal_of(changed("rows: 8", "rows: 0")), HasSubstr("t.yaml:7:"));
  EXPECT_THAT(refusal_of(changed("[1, 2, 1]", "[1, 2]")), HasSubstr("t.yaml:7:"));
  EXPECT_THAT(refusal_of(changed("1500", "-1")), HasSubstr("t.yaml:7:"));
  EXPECT_THAT(refusal_of(changed("blocks", "block")), HasSubstr("blocks"));
  EXPECT_THAT(refusal_of(changed("tiles:", "tiles: [")), HasSubstr("t.yaml:"));
}

struct Product {
  explicit Product(std::int64_t m, std::int64_t k, std::int64_t n)
      : a(make_tensor("a", Layout::rows, {m, k}, float_buffer).plan),
        b(make_tensor("b", Layout::rows, {k, n}, float_buffer).plan),
        c(make_tensor("c", Layout::rows, {m, n}, float_buffer).plan) {
    MatmulOperands operands;
    operands.a = &a;
    operands.b = &b;
    operands.c = &c;
    launch = build_matmul(operands);
  }
  PlanTensor a, b, c;
  PlanLaunch launch;
};

TEST(TileCandidates, AreServedAndDistinctAndOfEveryWidth) {
  const Product product(197, 768, 3072);
  TileSearch search;
  search.sequential = true;
  search.compute_units = 2;
  const std::vector<LaunchTile> tiles = tile_candidates(product.launch, search);
  ASSERT_EQ(tiles.size(), search.most);
  std::set<std::int64_t> widths;
  std::set<std::string> names;
  for (const LaunchTile& tile : tiles) {
    EXPECT_EQ(tile_refusal(product.launch, tile), "");
    EXPECT_FALSE(tile == tile_of(product.launch));
    widths.insert(tile.vector);
    names.insert(to_string(tile));
  }
  EXPECT_EQ(widths, (std::set<std::int64_t>{4, 8, 16}));
  EXPECT_EQ(names.size(), tiles.size());
}

TEST(TileCandidates, AreEstimatedByWhatTheyLoadAndLeaveIdle) {
  const Product product(64, 768, 3072);
  const PlanLaunch& launch = product.launch;
  TileSearch search;
  search.compute_units = 2;
  const auto estimate = [&](const LaunchTile& tile) { return tile_estimate(launch, tile, search); };
  // A tile of one row loads its columns for one multiplication each.
  EXPECT_GT(estimate({1, 4, 16, {1, 1, 1}}), 2 * estimate({4, 4, 16, {1, 1, 1}}));
  // One group of all rows and columns leaves one of the two units idle.
  EXPECT_NEAR(estimate({8, 12, 16, {64, 8, 1}}), 2 * estimate({8, 12, 16, {64, 4, 1}}), 1);
  // Rows beyond the result are computed too: 5 x 13 = 65 of 64.
  EXPECT_GT(estimate({5, 12, 16, {1, 1, 1}}), estimate({8, 12, 16, {1, 1, 1}}));
}

TEST(TileCandidates, KeepTheGroupWithinTheDevices) {
  const Product product(197, 768, 3072);
  TileSearch search;
  search.sequential = true;
  search.group_limit = 4;
  for (const LaunchTile& tile : tile_candidates(product.launch, search)) {
    EXPECT_LE(tile.local[0] * tile.local[1] * tile.local[2], 4u);
  }
}

}  // namespace
}  // namespace fm
