// ProgramCache: built programs by their device and the signature of their inputs (dtypes, shapes,
// strides), and how to run one. Bounded; safe from many threads: each signature is built once,
// different ones in parallel. A warm look-up takes a shared lock and allocates nothing.
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

// For the trace's device, else the default one.
std::shared_ptr<const TracedProgram> build_traced(Trace& trace, std::span<const Tensor> inputs,
                                                  const BuildOptions& options);
std::vector<Tensor> run_traced(const TracedProgram& program, std::span<const Tensor> inputs);

// Where all of the tensors are; null if there are none. UserError naming the operation and both
// devices if they are on several.
std::shared_ptr<Device> common_device(std::string_view op, std::span<const Tensor> tensors);

class ProgramCache {
 public:
  using ProgramPtr = std::shared_ptr<const TracedProgram>;

  explicit ProgramCache(std::size_t capacity);

  // `key` tells apart what one cache holds for several operations; a function's own is empty.
  // `build` runs without a lock held. All threads that wait for it get what it throws; a later call
  // tries again.
  template <typename F>
  ProgramPtr find_or_build(std::span<const std::uint64_t> key, std::span<const Tensor> inputs,
                           const Device& device, F&& build) {
    if (auto found = find(key, inputs, device)) return found;
    return build_once(key, inputs, device, std::ref(build));
  }

  // In the place of what there may be for these inputs.
  void replace(std::span<const std::uint64_t> key, std::span<const Tensor> inputs,
               const Device& device, ProgramPtr program);

  // The program built last; null if there is none.
  ProgramPtr latest() const;

 private:
  struct Entry {
    KeyWords signature;
    ProgramPtr program;
  };

  ProgramPtr find(std::span<const std::uint64_t> key, std::span<const Tensor> inputs,
                  const Device& device) const;
  ProgramPtr build_once(std::span<const std::uint64_t> key, std::span<const Tensor> inputs,
                        const Device& device, const std::function<ProgramPtr()>& build);
  // What there is for this signature, else `program`.
  ProgramPtr insert(std::span<const std::uint64_t> key, std::span<const Tensor> inputs,
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
