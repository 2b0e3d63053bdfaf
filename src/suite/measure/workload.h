// Workload: what one cell of a run measures: a case of the suite at a shape and dtype, or a user's
// program at its sizes. In: a device and threads. Out: functions, inputs, and the errors of
// results.
#pragma once

#include <sinter/compile.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/api/program_file.h"
#include "src/cpu/thread_pool.h"
#include "src/runtime/device.h"
#include "src/suite/cases/case.h"
#include "src/suite/cases/tensor_spec.h"

namespace sinter::suite {

// The cell's names, and its properties that need no run.
struct WorkloadFacts {
  std::string case_name;
  std::string shape;  // "4096x128"
  std::string dtype;  // "f32"; for a program, its inputs' dtypes: "f32,i64"
  std::int64_t input_bytes = 0;
  std::int64_t output_bytes = 0;
  std::int64_t bytes_min = 0;         // every input read once, every output written once
  std::int64_t bytes_transposed = 0;  // of inputs read across their memory order
  std::int64_t flops = 0;
  std::int64_t elements = 0;  // of the largest tensor

  std::string title() const { return case_name + " " + shape + " " + dtype; }
};

// How a provider compiles: "eager" without fusion, "batch_invariant" with CompileOptions of that
// name.
inline CompileOptions options_of(const std::string& provider, const std::string& name) {
  return {
      .fuse = provider != "eager", .name = name, .batch_invariant = provider == "batch_invariant"};
}

// What one provider computed.
struct ProviderOutputs {
  std::string provider;
  int kernels = 0;
  std::vector<Tensor> outputs;
};

// The fields of a row about its results.
struct Checked {
  std::optional<double> max_abs_err;
  std::optional<double> max_rel_err;
  std::optional<double> tolerance;
  std::optional<std::int64_t> checked_elements;
  std::map<std::string, std::string> reasons;  // for fields without a value
};

// The cell as a peer measures it.
struct PeerProgram {
  std::string missing;  // why there is none, and what to add; otherwise empty
  std::string script;   // absolute path of a Python file with program(*inputs); empty: a case
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
};

class Workload {
 public:
  explicit Workload(WorkloadFacts facts) : facts_(std::move(facts)) {}
  virtual ~Workload() = default;
  Workload(const Workload&) = delete;
  Workload& operator=(const Workload&) = delete;

  const WorkloadFacts& facts() const { return facts_; }
  virtual PeerProgram for_peers() const = 0;

  virtual CompiledFunction compiled(const std::string& provider) const = 0;
  // The same in every run.
  virtual std::vector<Tensor> make_inputs(const std::shared_ptr<Device>& device,
                                          ThreadPool& threads) const = 0;
  // Host memory for making inputs and checking results on a device with its own memory.
  virtual std::int64_t host_bytes(const Device& device) const = 0;
  // `inputs` are those of make_inputs(). One for each provider.
  virtual std::vector<Checked> check(std::span<const Tensor> inputs,
                                     std::span<const ProviderOutputs> results,
                                     ThreadPool& threads) const = 0;

 private:
  WorkloadFacts facts_;
};

using WorkloadPtr = std::shared_ptr<const Workload>;

WorkloadPtr case_workload(const Case& each, const Shape2& shape, DType dtype);
// `sizes` as --shapes gives them ("4096x128"); empty: the file's own. UserError if they do not fit.
WorkloadPtr program_workload(std::shared_ptr<const ProgramFile> file, const std::string& sizes);

}  // namespace sinter::suite
