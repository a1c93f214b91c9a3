#include "core/plan_index.hpp"

namespace fm {
namespace {

class GatherValidation {
 public:
  GatherValidation(const PlanIndex& index, const std::vector<TensorUses>& uses)
      : index_(index), plan_(index.plan()), uses_(uses) {}

  void run() const {
    std::set<std::string> filled;
    for (std::size_t i = 0; i < plan_.gathers.size(); ++i) {
      check_gather(i);
      if (!filled.insert(plan_.gathers[i].tensor).second) fail(i, "it is given twice");
    }
    for (std::size_t i = 0; i < plan_.tensors.size(); ++i) {
      const PlanTensor& tensor = plan_.tensors[i];
      if (tensor.role == TensorRole::gathered && filled.count(tensor.id) == 0) {
        index_.fail(PlanItem::tensor, i, "its role is gathered, but no gather fills it");
      }
    }
  }

 private:
  [[noreturn]] void fail(std::size_t i, const std::string& message) const {
    index_.fail(PlanItem::gather, i, message);
  }

  void check_gather(std::size_t i) const {
    const WeightGather& gather = plan_.gathers[i];
    const std::optional<std::size_t> position = index_.find_tensor(gather.tensor);
    if (!position || plan_.tensors[*position].role != TensorRole::gathered) {
      fail(i, "it is not among the plan's tensors of role gathered");
    }
    const PlanTensor& tensor = plan_.tensors[*position];
    if (tensor.layout != Layout::rows || tensor.placement != Placement::buffer ||
        tensor.shape.empty() || tensor.shape.back() < 1) {
      fail(i, "a gathered tensor has layout rows and lies in a buffer");
    }
    const std::size_t release =
        index_.known_launch(PlanItem::gather, i, "release_after", gather.release_after);
    if (uses_[*position].last && release < *uses_[*position].last) {
      fail(i, "release_after '" + gather.release_after + "' is before its last use");
    }
    check_indices(i, tensor);
    if (gather.table.empty()) fail(i, "its table names no weight");
    for (const std::string& part : gather.table) check_table_part(i, tensor, part);
  }

  void check_indices(std::size_t i, const PlanTensor& tensor) const {
    const std::optional<std::size_t> position = index_.find_tensor(plan_.gathers[i].indices);
    if (!position || plan_.tensors[*position].role != TensorRole::input ||
        plan_.tensors[*position].dtype != DataType::i32) {
      fail(i, "indices '" + plan_.gathers[i].indices + "' are not an input of type i32");
    }
    const std::int64_t rows = element_count(tensor.shape) / tensor.shape.back();
    if (element_count(plan_.tensors[*position].shape) != rows) {
      fail(i, "it has " + std::to_string(rows) + " rows, but its indices are " +
                  std::to_string(element_count(plan_.tensors[*position].shape)));
    }
  }

  void check_table_part(std::size_t i, const PlanTensor& tensor, const std::string& id) const {
    const std::optional<std::size_t> position = index_.find_tensor(id);
    if (!position || plan_.tensors[*position].role != TensorRole::weight) {
      fail(i, "its table names '" + id + "', which is no weight of the plan");
    }
    const PlanTensor& part = plan_.tensors[*position];
    if (part.layout != Layout::rows || part.shape.size() != 2 || part.dtype != tensor.dtype ||
        part.shape.back() != tensor.shape.back()) {
      fail(i, "weight '" + id + "' of its table is no matrix of rows like the gathered ones");
    }
  }

  const PlanIndex& index_;
  const Plan& plan_;
  const std::vector<TensorUses>& uses_;
};

}  // namespace

void validate_gathers_of(const PlanIndex& index, const std::vector<TensorUses>& uses) {
  GatherValidation(index, uses).run();
}

}  // namespace fm
