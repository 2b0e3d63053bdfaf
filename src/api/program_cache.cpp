// Signatures are hashed word by word; a hit compares them in full. Replaced and evicted programs
// are destroyed after the lock is released: they may own tensors whose deleters call anything.
#include "src/api/program_cache.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

#include "src/api/devices.h"
#include "src/base/check.h"

namespace sinter {
namespace {

// What identifies a call: the device, the operation and how each input lies in memory. Written
// once: sinks hash it, keep it, or compare it with one that was kept.
template <typename Sink>
void add_signature(Sink& sink, std::span<const std::uint64_t> key, std::span<const Tensor> inputs,
                   const Device& device) {
  sink.add(reinterpret_cast<std::uintptr_t>(&device));  // kept by the registry
  add_key(sink, key);
  sink.add(inputs.size());
  for (const Tensor& tensor : inputs) {
    const TensorImpl& impl = *tensor.impl();
    add_key(sink, impl.dtype);
    add_key(sink, impl.view.shape);
    add_key(sink, impl.view.strides);
  }
}

class WordHash {
 public:
  void add(std::uint64_t word) {
    hash_ ^= word + 0x9e3779b97f4a7c15u + (hash_ << 6) + (hash_ >> 2);
    hash_ *= 0xff51afd7ed558ccdu;
  }
  std::uint64_t hash() const { return hash_; }

 private:
  std::uint64_t hash_ = 0;
};

class WordComparison {
 public:
  explicit WordComparison(const KeyWords& kept) : kept_(kept.words()) {}
  void add(std::uint64_t word) {
    same_ = same_ && next_ < kept_.size() && kept_[next_] == word;
    ++next_;
  }
  bool same() const { return same_ && next_ == kept_.size(); }

 private:
  std::span<const std::uint64_t> kept_;
  std::size_t next_ = 0;
  bool same_ = true;
};

std::uint64_t hash_of(std::span<const std::uint64_t> key, std::span<const Tensor> inputs,
                      const Device& device) {
  WordHash hash;
  add_signature(hash, key, inputs, device);
  return hash.hash();
}

bool matches(const KeyWords& signature, std::span<const std::uint64_t> key,
             std::span<const Tensor> inputs, const Device& device) {
  WordComparison comparison(signature);
  add_signature(comparison, key, inputs, device);
  return comparison.same();
}

KeyWords signature_of(std::span<const std::uint64_t> key, std::span<const Tensor> inputs,
                      const Device& device) {
  KeyWords words;
  add_signature(words, key, inputs, device);
  return words;
}

std::int64_t elements_from_first(const Tensor& tensor) {
  View view = tensor.impl()->view;
  view.offset = 0;
  return extent(view).last + 1;
}

}  // namespace

ProgramCache::ProgramCache(std::size_t capacity)
    : capacity_(capacity),
      fork_listener_([this] { mutex_.lock(); },
                     [this](bool in_child) {
                       // glibc identifies the owner by thread id, which differs in the child, so
                       // the lock cannot be released there.
                       if (in_child)
                         std::construct_at(&mutex_);
                       else
                         mutex_.unlock();
                     }) {}

ProgramCache::ProgramPtr ProgramCache::find(std::span<const std::uint64_t> key,
                                            std::span<const Tensor> inputs,
                                            const Device& device) const {
  const std::uint64_t hash = hash_of(key, inputs, device);
  const std::shared_lock lock(mutex_);
  const auto [begin, end] = entries_.equal_range(hash);
  for (auto it = begin; it != end; ++it)
    if (matches(it->second.signature, key, inputs, device)) return it->second.program;
  return nullptr;
}

ProgramCache::ProgramPtr ProgramCache::build_once(std::span<const std::uint64_t> key,
                                                  std::span<const Tensor> inputs,
                                                  const Device& device,
                                                  const std::function<ProgramPtr()>& build) {
  return builds_.run(signature_of(key, inputs, device), [&] {
    if (ProgramPtr program = find(key, inputs, device)) return program;
    return insert(key, inputs, device, build());
  });
}

ProgramCache::ProgramPtr ProgramCache::insert(std::span<const std::uint64_t> key,
                                              std::span<const Tensor> inputs, const Device& device,
                                              ProgramPtr program) {
  const std::uint64_t hash = hash_of(key, inputs, device);
  Entry entry{signature_of(key, inputs, device), program};
  decltype(entries_)::node_type evicted;
  ProgramPtr latest = program;
  const std::unique_lock lock(mutex_);
  const auto [begin, end] = entries_.equal_range(hash);
  for (auto it = begin; it != end; ++it)
    if (matches(it->second.signature, key, inputs, device)) return it->second.program;
  if (order_.size() == capacity_) {
    evicted = entries_.extract(entries_.find(order_.front()));
    order_.pop_front();
  }
  entries_.emplace(hash, std::move(entry));
  order_.push_back(hash);
  latest_.swap(latest);
  return program;
}

void ProgramCache::replace(std::span<const std::uint64_t> key, std::span<const Tensor> inputs,
                           const Device& device, ProgramPtr program) {
  {
    ProgramPtr replaced;
    ProgramPtr latest = program;
    const std::unique_lock lock(mutex_);
    const auto [begin, end] = entries_.equal_range(hash_of(key, inputs, device));
    for (auto it = begin; it != end; ++it)
      if (matches(it->second.signature, key, inputs, device)) {
        replaced = std::exchange(it->second.program, std::move(program));
        latest_.swap(latest);
        return;
      }
  }
  insert(key, inputs, device, std::move(program));
}

ProgramCache::ProgramPtr ProgramCache::latest() const {
  const std::shared_lock lock(mutex_);
  return latest_;
}

std::shared_ptr<Device> common_device(std::string_view op, std::span<const Tensor> tensors) {
  if (tensors.empty()) return nullptr;
  const std::shared_ptr<Device>& first = tensors[0].impl()->device;
  for (std::size_t i = 1; i < tensors.size(); ++i)
    if (const std::shared_ptr<Device>& other = tensors[i].impl()->device; other != first)
      fail_user(op, "input 0 is on {}, input {} on {}; move one of them with to()", first->name(),
                i, other->name());
  return first;
}

std::shared_ptr<const TracedProgram> build_traced(Trace& trace, std::span<const Tensor> inputs,
                                                  const BuildOptions& options) {
  std::vector<std::int64_t> extents;
  for (const Tensor& tensor : inputs) extents.push_back(elements_from_first(tensor));
  for (const Tensor& tensor : trace.captured) extents.push_back(elements_from_first(tensor));
  auto result = std::make_shared<TracedProgram>();
  const std::shared_ptr<Device> device = trace.device ? trace.device : default_device_handle();
  result->program = build_program(trace.graph, extents, options, device);
  result->captured = trace.captured;
  return result;
}

std::vector<Tensor> run_traced(const TracedProgram& traced, std::span<const Tensor> inputs) {
  thread_local std::vector<InputBinding> bindings;
  bindings.clear();
  const auto bind = [](const Tensor& tensor) {
    tensor.impl()->storage->note_use();
    bindings.push_back({tensor.impl()->data()});
  };
  for (const Tensor& tensor : inputs) bind(tensor);
  for (const Tensor& tensor : traced.captured) bind(tensor);
  const Executable& executable = traced.program->executable;
  const std::vector<StoragePtr> buffers = run(executable, bindings);
  std::vector<Tensor> results;
  results.reserve(executable.outputs.size());
  for (const OutputSpec& output : executable.outputs) {
    const BufferSlot& slot = executable.slots[static_cast<std::size_t>(output.slot)];
    if (slot.kind == BufferSlot::Kind::output) {
      results.push_back(make_tensor(output.dtype, output.view,
                                    buffers[static_cast<std::size_t>(slot.index)],
                                    executable.device));
      continue;
    }
    // A view of an input: shares its memory.
    const auto i = static_cast<std::size_t>(slot.index);
    const TensorImpl& source =
        *(i < inputs.size() ? inputs[i] : traced.captured[i - inputs.size()]).impl();
    View view = output.view;
    view.offset += source.view.offset;
    results.push_back(make_tensor(output.dtype, view, source.storage, source.device));
  }
  return results;
}

}  // namespace sinter
