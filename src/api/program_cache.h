// ProgramCache: compiled programs by device and input signature (dtypes, shapes, strides; kinds of
// numbers, and their values if a program depends on them), and running them. Bounded and
// thread-safe: each signature is built once, different ones in parallel. A warm lookup takes a
// shared lock and does not allocate.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <shared_mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "src/api/trace.h"
#include "src/base/fields.h"
#include "src/program/build.h"
#include "src/runtime/build_once.h"
#include "src/runtime/fork_listener.h"

namespace sinter {

// A program and the concrete tensors its trace captured.
struct TracedProgram {
  std::shared_ptr<const Program> program;
  std::vector<Tensor> captured;
};

// Builds for the trace's device, or the default one. Moves the trace's graph and captured tensors.
std::shared_ptr<const TracedProgram> build_traced(Trace& trace, std::span<const Tensor> inputs,
                                                  const BuildOptions& options);
std::vector<Tensor> run_traced(const TracedProgram& program, const Arguments& inputs);

// The parts of run_traced(), for callers that provide the results' memory.

// A call's inputs and the scalars of its numbers. Refers to thread-local memory that the next call
// reuses.
struct BoundCall {
  std::span<const InputBinding> inputs;
  std::span<const std::int64_t> numbers;
};
BoundCall bind_call(const TracedProgram& program, const Arguments& inputs);
// An input of the program: one of the call's, or a captured one.
const Tensor& input_of(const TracedProgram& program, const Arguments& inputs, int index);

// The device of all tensors; null if there are none. UserError naming the operation and both
// devices if they differ.
std::shared_ptr<Device> common_device(std::string_view op, std::span<const Tensor> tensors);

class ProgramCache {
 public:
  using ProgramPtr = std::shared_ptr<const TracedProgram>;

  explicit ProgramCache(std::size_t capacity);

  // `key` separates the operations that share a cache; it is empty for a function's own. `build`
  // runs without a lock held. Its exception goes to all waiting threads; a later call retries.
  template <typename F>
  ProgramPtr find_or_build(std::span<const std::uint64_t> key, const Arguments& inputs,
                           const Device& device, F&& build) {
    if (auto found = find(key, inputs, device)) return found;
    return build_once(key, inputs, device, std::ref(build));
  }

  // Drops all programs: the next call with each signature builds again.
  void clear();

  // The most recently built program that can run; null if there is none.
  ProgramPtr latest() const;

 private:
  struct Entry {
    KeyWords signature;
    ProgramPtr program;
  };

  ProgramPtr find(std::span<const std::uint64_t> key, const Arguments& inputs,
                  const Device& device) const;
  ProgramPtr build_once(std::span<const std::uint64_t> key, const Arguments& inputs,
                        const Device& device, const std::function<ProgramPtr()>& build);
  // Returns the program already cached for this signature, if any; else inserts `program`.
  ProgramPtr insert(std::span<const std::uint64_t> key, const Arguments& inputs,
                    const Device& device, ProgramPtr program);

  std::size_t capacity_;
  mutable std::shared_mutex mutex_;
  std::unordered_multimap<std::uint64_t, Entry> entries_;
  std::list<std::uint64_t> order_;  // oldest first
  ProgramPtr latest_;
  BuildOnce<KeyWords, ProgramPtr> builds_;
  ForkListener fork_listener_;
};

}  // namespace sinter
