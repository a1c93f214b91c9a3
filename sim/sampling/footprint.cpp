#include "sim/sampling/footprint.hpp"

#include <algorithm>
#include <utility>

#include "core/access_program.hpp"

namespace fm {
namespace {

using Bounds = std::optional<Interval>;  // empty: unknown

Interval corners(trace::Derivation::Operator operation, Interval left, Interval right) {
  Interval result{INT64_MAX, INT64_MIN};
  for (const std::int64_t a : {left.low, left.high}) {
    for (const std::int64_t b : {right.low, right.high}) {
      const std::int64_t value = derive(operation, a, b);
      result.low = std::min(result.low, value);
      result.high = std::max(result.high, value);
    }
  }
  return result;
}

/// Walks a program with an interval in place of each variable.
class BoundsWalk {
 public:
  explicit BoundsWalk(const trace::AccessProgram& program)
      : program_(program), derived_(static_cast<std::size_t>(program.derivations_size())) {
    visit(program.body());
  }
  std::vector<ArgumentFootprint> result;

 private:
  using Body = google::protobuf::RepeatedPtrField<trace::Node>;

  Bounds of(const trace::LinearTerm& term) const {
    const auto index = static_cast<std::size_t>(term.index());
    const auto extent = [](const auto& sizes, int axis) {
      return Interval{0, std::max<std::int64_t>(1, axis < sizes.size() ? sizes[axis] : 1) - 1};
    };
    switch (term.variable()) {
      case trace::GROUP_X:
      case trace::GROUP_Y:
      case trace::GROUP_Z:
        return extent(program_.group_count(), term.variable() - trace::GROUP_X);
      case trace::LOCAL_X:
      case trace::LOCAL_Y:
      case trace::LOCAL_Z:
        return extent(program_.local_size(), term.variable() - trace::LOCAL_X);
      case trace::LOOP:
        return index < loops_.size() ? loops_[index] : std::nullopt;
      case trace::DERIVED:
        return derived_[index];
      default:
        return std::nullopt;
    }
  }

  Bounds of(const trace::Expression& expression) const {
    if (expression.explicit_table() != 0) return std::nullopt;
    Interval sum{expression.constant(), expression.constant()};
    for (const trace::LinearTerm& term : expression.terms()) {
      const Bounds bounds = of(term);
      if (!bounds) return std::nullopt;
      const std::int64_t a = term.coefficient() * bounds->low;
      const std::int64_t b = term.coefficient() * bounds->high;
      sum.low += std::min(a, b);
      sum.high += std::max(a, b);
    }
    return sum;
  }

  Bounds of(const trace::Derivation& derivation) const {
    const Bounds left = of(derivation.left()), right = of(derivation.right());
    if (!left || !right) return std::nullopt;
    switch (derivation.operator_()) {
      case trace::Derivation::REMAINDER:
        if (right->low <= 0) return std::nullopt;
        return Interval{0, right->high - 1};
      case trace::Derivation::QUOTIENT:
        if (right->low <= 0) return std::nullopt;
        break;
      case trace::Derivation::SHIFT_LEFT:
      case trace::Derivation::SHIFT_RIGHT:
        if (right->low < 0 || right->high > 62) return std::nullopt;
        break;
      default:
        break;
    }
    return corners(derivation.operator_(), *left, *right);
  }

  void visit(const Body& body) {
    for (const trace::Node& node : body) visit(node);
  }

  void visit(const trace::Node& node) {
    if (node.has_loop()) return visit(node.loop());
    if (node.has_guard()) {
      visit(node.guard().body());
      visit(node.guard().otherwise());
    }
    if (node.node_case() == trace::Node::kDerive) {
      derived_[node.derive()] = of(program_.derivations(static_cast<int>(node.derive())));
    }
    if (node.node_case() == trace::Node::kAccess) {
      note(program_.sites(static_cast<int>(node.access())));
    }
  }

  void visit(const trace::Node::Loop& loop) {
    const Bounds begin = of(loop.begin()), end = of(loop.end());
    if (begin && end && end->high <= begin->low) return;
    if (loop.id() >= loops_.size()) loops_.resize(loop.id() + 1);
    loops_[loop.id()] = begin && end ? Bounds(Interval{begin->low, end->high - 1}) : std::nullopt;
    visit(loop.body());
  }

  void note(const trace::Site& site) {
    if (site.space() == trace::LOCAL) return;
    ArgumentFootprint part;
    part.argument = site.argument();
    part.write = site.write() || site.atomic();
    part.x = of(site.x());
    if (site.space() == trace::IMAGE) {
      part.y = of(site.y());
    } else if (part.x) {
      part.x->high += static_cast<std::int64_t>(site.bytes()) - 1;
    }
    for (ArgumentFootprint& known : result) {
      if (known.argument != part.argument || known.write != part.write) continue;
      known.x = united(known.x, part.x);
      known.y = united(known.y, part.y);
      return;
    }
    result.push_back(part);
  }

  static Bounds united(const Bounds& a, const Bounds& b) {
    if (!a || !b) return std::nullopt;
    return Interval{std::min(a->low, b->low), std::max(a->high, b->high)};
  }

  const trace::AccessProgram& program_;
  std::vector<Bounds> loops_, derived_;
};

}  // namespace

std::vector<ArgumentFootprint> footprint_of(const trace::AccessProgram& program) {
  return BoundsWalk(program).result;
}

TouchedRange touched_range(const ArgumentFootprint& footprint, Address address, Bytes bytes,
                           Bytes offset) {
  const auto size = static_cast<std::int64_t>(bytes.count());
  const auto start = static_cast<std::int64_t>(offset.count());
  const Interval touched = footprint.x.value_or(Interval{0, size - start - 1});
  const std::int64_t first = std::clamp<std::int64_t>(start + touched.low, 0, size);
  const std::int64_t end = std::clamp<std::int64_t>(start + touched.high + 1, first, size);
  TouchedRange range;
  range.tensor = address + offset;
  range.address = address + Bytes(static_cast<std::uint64_t>(first));
  range.bytes = Bytes(static_cast<std::uint64_t>(end - first));
  range.write = footprint.write;
  return range;
}

TouchedRange touched_range(const ArgumentFootprint& footprint, Address address,
                           const ImageLayout& layout) {
  // Reads outside the image are of its edge.
  const auto inside = [](const Bounds& bounds, std::uint32_t extent) {
    const std::int64_t last = std::int64_t{extent} - 1;
    if (!bounds) return std::pair<std::uint32_t, std::uint32_t>(0, last);
    return std::pair(static_cast<std::uint32_t>(std::clamp<std::int64_t>(bounds->low, 0, last)),
                     static_cast<std::uint32_t>(std::clamp<std::int64_t>(bounds->high, 0, last)));
  };
  const auto [left, right] = inside(footprint.x, layout.width());
  const auto [top, bottom] = inside(footprint.y, layout.height());
  const std::uint64_t first_tile = left / layout.tile_width();
  const std::uint64_t tiles = right / layout.tile_width() - first_tile + 1;
  const std::uint64_t first_band = top / layout.tile_height();
  const std::uint64_t tile_bytes = layout.order() == TexelOrder::linear
                                       ? std::uint64_t{layout.texel_bytes()}
                                       : layout.tile_bytes();
  TouchedRange range;
  range.tensor = address;
  range.address = address + Bytes(first_band * layout.band_bytes() + first_tile * tile_bytes);
  range.bytes = Bytes(tiles * tile_bytes);
  range.write = footprint.write;
  range.image = true;
  range.segments = bottom / layout.tile_height() - first_band + 1;
  range.pitch = Bytes(layout.band_bytes());
  return range;
}

}  // namespace fm
