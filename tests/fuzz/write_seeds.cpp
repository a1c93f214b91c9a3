// Writes the seed corpus of import_fuzzer to a folder.
#include <iostream>

#include "tests/fuzz/seed_models.hpp"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: write_seeds FOLDER\n";
    return 2;
  }
  const std::vector<fm::ModelBuilder> models = fm::seed_models();
  for (std::size_t i = 0; i < models.size(); ++i) {
    fm::write_file(std::string(argv[1]) + "/seed" + std::to_string(i) + ".onnx",
                   models[i].proto().SerializeAsString());
  }
}
