// Programs in files (docs/TEXT.md) as functions over tensors. In: a path. Out: a CompiledFunction,
// or facts about the program before it is called.
#pragma once

#include <sinter/compile.h>

#include <span>
#include <string>
#include <vector>

#include "src/graph/parse.h"

namespace sinter {

class ProgramFile {
 public:
  // Reads and checks the file. UserError if it cannot be read or has a mistake.
  explicit ProgramFile(const std::string& path);

  const std::string& path() const { return path_; }
  const std::string& text() const { return text_; }
  // With the default sizes.
  const ParsedProgram& program() const { return program_; }
  ParsedProgram with_sizes(const SizeValues& sizes) const;

  // The example numbers in the file.
  std::vector<Number> example_numbers() const;
  // Runs the program on traced arguments: sizes follow from the shapes of its inputs.
  std::vector<Tensor> trace(const Arguments& inputs) const;
  // The same with given sizes, which may not follow from the inputs, and with example_numbers() as
  // constants.
  std::vector<Tensor> trace_example(std::span<const Tensor> inputs, const SizeValues& sizes) const;
  CompiledFunction compiled(CompileOptions options) const;

 private:
  SizeValues sizes_for(std::span<const Tensor> inputs) const;
  std::vector<Tensor> trace(const Arguments& inputs, const SizeValues& sizes) const;

  std::string path_;
  std::string text_;
  ParsedProgram program_;
};

}  // namespace sinter
