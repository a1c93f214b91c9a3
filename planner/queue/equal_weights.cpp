#include "planner/queue/equal_weights.hpp"

#include <map>
#include <set>
#include <tuple>

#include "core/diagnostics.hpp"
#include "core/digest.hpp"
#include "core/progress_bar.hpp"
#include "planner/make_plan.hpp"
#include "planner/weight_source.hpp"

namespace fm {
namespace {

/// A weight as a model's file has it. `source`: the first model of the queue from that file.
struct WeightOrigin {
  std::size_t source = 0;
  std::string name;
  friend bool operator<(const WeightOrigin& a, const WeightOrigin& b) {
    return std::tie(a.source, a.name) < std::tie(b.source, b.name);
  }
};

using StoredForm = std::tuple<Layout, DataType, Placement, Shape>;

/// Weights of one form, by origin.
using Bucket = std::map<WeightOrigin, std::vector<const PlanTensor*>>;

class EqualWeights {
 public:
  explicit EqualWeights(const QueueDraft& draft) : draft_(draft) {
    for (std::size_t m = 0; m < draft.models.size(); ++m) {
      sources_.push_back(source_of(m));
      for (const PlanTensor& tensor : draft.models[m].plan.tensors) {
        if (tensor.role != TensorRole::weight) continue;
        buckets_[{tensor.layout, tensor.dtype, tensor.placement, tensor.shape}]
                [{sources_[m], tensor.name}]
                    .push_back(&tensor);
      }
    }
  }

  std::vector<std::vector<std::string>> groups() {
    read_contents();
    std::vector<std::vector<std::string>> groups;
    for (const auto& [form, bucket] : buckets_) {
      std::map<std::string, std::vector<std::string>> by_contents;
      for (const auto& [origin, tensors] : bucket) {
        const auto known = contents_.find(origin);
        const std::string key = known != contents_.end()
                                    ? known->second
                                    : std::to_string(origin.source) + " " + origin.name;
        for (const PlanTensor* tensor : tensors) by_contents[key].push_back(tensor->id);
      }
      for (auto& [key, ids] : by_contents) {
        if (ids.size() > 1) groups.push_back(std::move(ids));
      }
    }
    return groups;
  }

 private:
  std::size_t source_of(std::size_t m) const {
    const auto same = [&](std::size_t other) {
      const ShapeBindings &a = draft_.entries[m].bindings, &b = draft_.entries[other].bindings;
      return draft_.models[m].plan.models[0].digest == draft_.models[other].plan.models[0].digest &&
             a.inputs == b.inputs && a.dimensions == b.dimensions;
    };
    std::size_t source = 0;
    while (!same(source)) ++source;
    return source;
  }

  /// Digests of weights whose form weights of another file have too.
  void read_contents() {
    std::map<std::size_t, std::vector<std::pair<std::string, const PlanTensor*>>> wanted;
    for (const auto& [form, bucket] : buckets_) {
      if (bucket.begin()->first.source == bucket.rbegin()->first.source) continue;
      for (const auto& [origin, tensors] : bucket) {
        wanted[origin.source].emplace_back(origin.name, tensors[0]);
      }
    }
    std::size_t done = 0;
    ProgressBar bar("comparing weights");
    for (const auto& [source, weights] : wanted) {
      read_contents_of(source, weights);
      bar.show(++done, wanted.size());
    }
  }

  void read_contents_of(std::size_t source,
                        const std::vector<std::pair<std::string, const PlanTensor*>>& weights) {
    const QueueEntry& entry = draft_.entries[source];
    const ImportedModel model = import_and_fuse(entry.path, entry.bindings);
    const WeightSource contents(model);
    for (const auto& [name, tensor] : weights) {
      try {
        const std::vector<std::uint8_t> bytes = contents.packed(*tensor);
        contents_[{source, name}] = digest_of(bytes.data(), bytes.size());
      } catch (const UserError&) {
        // A skeleton plans by sizes alone; `fmplan pack` says what its weights lack.
      }
    }
  }

  const QueueDraft& draft_;
  std::vector<std::size_t> sources_;  // by model
  std::map<StoredForm, Bucket> buckets_;
  std::map<WeightOrigin, std::string> contents_;  // digests
};

}  // namespace

std::vector<std::vector<std::string>> equal_weights(const QueueDraft& draft) {
  return EqualWeights(draft).groups();
}

}  // namespace fm
