// ProgramCache: built programs by their device and the signature of their inputs (dtypes, shapes,
// strides), and how to run one. Bounded; safe from many threads; a warm look-up allocates nothing.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <shared_mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "src/api/build.h"
#include "src/api/trace.h"

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
  explicit ProgramCache(std::size_t capacity) : capacity_(capacity) {}

  // `key` tells apart what one cache holds for several operations; a function's own is empty.
  template <typename F>
  std::shared_ptr<const TracedProgram> find_or_build(std::span<const std::int64_t> key,
                                                     std::span<const Tensor> inputs,
                                                     const Device& device, F&& build) {
    if (auto found = find(key, inputs, device)) return found;
    return insert(key, inputs, device, build());
  }

  // In the place of what there may be for these inputs.
  void replace(std::span<const std::int64_t> key, std::span<const Tensor> inputs,
               const Device& device, std::shared_ptr<const TracedProgram> program);

  // The program built last; null if there is none.
  std::shared_ptr<const TracedProgram> latest() const;

 private:
  struct Entry {
    const Device* device;  // kept by the registry
    std::vector<std::int64_t> key;
    std::vector<DType> dtypes;
    std::vector<View> views;  // offsets are 0
    std::shared_ptr<const TracedProgram> program;
  };

  std::shared_ptr<const TracedProgram> find(std::span<const std::int64_t> key,
                                            std::span<const Tensor> inputs,
                                            const Device& device) const;
  std::shared_ptr<const TracedProgram> insert(std::span<const std::int64_t> key,
                                              std::span<const Tensor> inputs, const Device& device,
                                              std::shared_ptr<const TracedProgram> program);
  static bool matches(const Entry& entry, std::span<const std::int64_t> key,
                      std::span<const Tensor> inputs, const Device& device);

  std::size_t capacity_;
  mutable std::shared_mutex mutex_;
  std::unordered_multimap<std::uint64_t, Entry> entries_;
  std::list<std::uint64_t> order_;  // oldest first
  std::shared_ptr<const TracedProgram> latest_;
};

}  // namespace sinter
