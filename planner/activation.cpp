// Activations: as nodes, as attributes of the nodes they are fused into, and as epilogues of
// kernels.
#include <map>

#include "core/diagnostics.hpp"
#include "planner/lowering_state.hpp"
#include "planner/node_attributes.hpp"

namespace fm {
namespace {

const std::map<std::string, Activation>& activation_words() {
  static const std::map<std::string, Activation> words = {
      {"none", Activation::none},
      {"relu", Activation::relu},
      {"gelu_erf", Activation::gelu_erf},
      {"gelu_tanh", Activation::gelu_tanh},
      {"sigmoid", Activation::sigmoid},
      {"hard_sigmoid", Activation::hard_sigmoid},
      {"hard_swish", Activation::hard_swish},
      {"clip", Activation::clip},
      {"tanh", Activation::tanh},
      {"silu", Activation::silu},
      {"leaky_relu", Activation::leaky_relu},
      {"exp", Activation::exp},
      {"log", Activation::log},
      {"sqrt", Activation::sqrt},
      {"reciprocal", Activation::reciprocal},
      {"neg", Activation::neg},
      {"abs", Activation::abs},
      {"erf", Activation::erf},
      {"floor", Activation::floor},
      {"ceil", Activation::ceil},
      {"elu", Activation::elu},
      {"softplus", Activation::softplus},
      {"sin", Activation::sin},
      {"cos", Activation::cos},
      {"tan", Activation::tan},
      {"asin", Activation::asin},
      {"acos", Activation::acos},
      {"atan", Activation::atan},
      {"sinh", Activation::sinh},
      {"cosh", Activation::cosh},
      {"asinh", Activation::asinh},
      {"acosh", Activation::acosh},
      {"atanh", Activation::atanh},
      {"sign", Activation::sign},
      {"round", Activation::round},
      {"truncate", Activation::truncate},
      {"is_nan", Activation::is_nan},
      {"is_inf", Activation::is_inf},
      {"logical_not", Activation::logical_not},
      {"nonzero", Activation::nonzero},
      {"thresholded_relu", Activation::thresholded_relu},
      {"selu", Activation::selu},
      {"celu", Activation::celu},
      {"softsign", Activation::softsign},
      {"shrink", Activation::shrink}};
  return words;
}

}  // namespace

std::optional<ActivationWord> activation_of(const GraphNode& node) {
  static const std::map<std::string, std::string> plain = {
      {"Relu", "relu"},       {"Sigmoid", "sigmoid"},
      {"Tanh", "tanh"},       {"Exp", "exp"},
      {"Log", "log"},         {"Sqrt", "sqrt"},
      {"Neg", "neg"},         {"Reciprocal", "reciprocal"},
      {"Abs", "abs"},         {"Erf", "erf"},
      {"Floor", "floor"},     {"Ceil", "ceil"},
      {"Silu", "silu"},       {"Softplus", "softplus"},
      {"Sin", "sin"},         {"Cos", "cos"},
      {"Tan", "tan"},         {"Asin", "asin"},
      {"Acos", "acos"},       {"Atan", "atan"},
      {"Sinh", "sinh"},       {"Cosh", "cosh"},
      {"Asinh", "asinh"},     {"Acosh", "acosh"},
      {"Atanh", "atanh"},     {"Sign", "sign"},
      {"Round", "round"},     {"Truncate", "truncate"},
      {"IsNaN", "is_nan"},    {"Not", "logical_not"},
      {"Nonzero", "nonzero"}, {"Softsign", "softsign"}};
  if (const auto found = plain.find(node.operation); found != plain.end()) {
    return ActivationWord{found->second, 0, 0};
  }
  if (node.operation == "Gelu") {
    const bool tanh = attribute_word(node, "approximate", "none") == "tanh";
    return ActivationWord{tanh ? "gelu_tanh" : "gelu_erf", 0, 0};
  }
  if (node.operation == "HardSigmoid") {
    return ActivationWord{"hard_sigmoid", attribute_float(node, "alpha", 0.2f),
                          attribute_float(node, "beta", 0.5f)};
  }
  if (node.operation == "HardSwish") {
    return ActivationWord{"hard_swish", attribute_float(node, "alpha", 1.0f / 6),
                          attribute_float(node, "beta", 0.5f)};
  }
  if (node.operation == "Clip") {
    return ActivationWord{"clip", attribute_float(node, "min", 0), attribute_float(node, "max", 0)};
  }
  if (node.operation == "LeakyRelu") {
    return ActivationWord{"leaky_relu", attribute_float(node, "alpha", 0.01f), 0};
  }
  if (node.operation == "IsInf") {
    return ActivationWord{"is_inf", attribute_int(node, "detect_positive", 1) != 0 ? 1.0f : 0.0f,
                          attribute_int(node, "detect_negative", 1) != 0 ? 1.0f : 0.0f};
  }
  if (node.operation == "ThresholdedRelu") {
    return ActivationWord{"thresholded_relu", attribute_float(node, "alpha", 1.0f), 0};
  }
  if (node.operation == "Selu") {
    return ActivationWord{"selu", attribute_float(node, "alpha", 1.67326319217681884765625f),
                          attribute_float(node, "gamma", 1.05070102214813232421875f)};
  }
  if (node.operation == "Celu") {
    return ActivationWord{"celu", attribute_float(node, "alpha", 1.0f), 0};
  }
  if (node.operation == "Shrink") {
    return ActivationWord{"shrink", attribute_float(node, "lambd", 0.5f),
                          attribute_float(node, "bias", 0.0f)};
  }
  if (node.operation == "Elu") {
    return ActivationWord{"elu", attribute_float(node, "alpha", 1.0f), 0};
  }
  return std::nullopt;
}

void set_activation(GraphNode* node, const std::string& word, float alpha, float beta) {
  node->attributes["activation"] = word;
  node->attributes["activation_alpha"] = alpha;
  node->attributes["activation_beta"] = beta;
}

Epilogue epilogue_of(const GraphNode& node) {
  Epilogue epilogue;
  epilogue.activation = activation_words().at(attribute_word(node, "activation", "none"));
  epilogue.alpha = attribute_float(node, "activation_alpha", 0);
  epilogue.beta = attribute_float(node, "activation_beta", 0);
  epilogue.activation_after_residual = attribute_int(node, "activation_after_residual", 0) != 0;
  return epilogue;
}

Epilogue activation_epilogue(const GraphNode& node) {
  const ActivationWord word = activation_of(node).value();
  return {activation_words().at(word.word), word.alpha, word.beta, nullptr, false};
}

}  // namespace fm
