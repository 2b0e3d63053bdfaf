// Subject: what explain, dump and tune work on: a case of the suite at a shape and dtype, or a
// program file (docs/TEXT.md) with its sizes.
#pragma once

#include <sinter/compile.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "src/cpu/thread_pool.h"
#include "src/runtime/device.h"

namespace sinter::cli {

struct Subject {
  std::string name;     // of the case, or the program's path
  std::string formula;  // of the case
  std::string shape;    // "4096x128"; of a program, its sizes
  std::string dtype;    // "f32"; of a program, its inputs' dtypes
  CompiledFunction::Traced function;
  int arity = 0;

  // Without memory behind them: for compiling only.
  std::function<std::vector<Tensor>(const std::shared_ptr<Device>&)> unbacked_inputs;
  // With random contents.
  std::function<std::vector<Tensor>(const std::shared_ptr<Device>&, ThreadPool&)> make_inputs;

  std::string title() const;  // "softmax 4096x128 f32"
};

// As given on the command line; empty if not.
struct SubjectArguments {
  std::string command;  // tags errors
  std::string name;     // of a case, or a path: it ends in .sinter or contains '/'
  std::string shape;    // ROWSxCOLS; for a program, its sizes in the order of their declaration
  std::string dtype;    // of a case; a program has its own
};

Subject find_subject(const SubjectArguments& arguments);

}  // namespace sinter::cli
