// Signatures are hashed word by word; a hit compares them in full. Evicted and cleared programs are
// destroyed after the lock is released: they may own tensors whose deleters call anything.
#include "src/api/program_cache.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

#include "src/api/devices.h"
#include "src/base/check.h"

namespace sinter {
namespace {

// A call's signature: the device, the operation, the memory layout of each input, and the kinds of
// numbers. Values of numbers do not count, unless the program depends on them (is_for). Written
// once; sinks hash it, store it, or compare it with a stored one.
template <typename Sink>
void add_signature(Sink& sink, std::span<const std::uint64_t> key, const Arguments& inputs,
                   const Device& device) {
  sink.add(reinterpret_cast<std::uintptr_t>(&device));  // kept by the registry
  add_key(sink, key);
  sink.add(inputs.tensors().size());
  for (const Tensor& tensor : inputs.tensors()) {
    const TensorImpl& impl = *tensor.impl();
    add_key(sink, impl.dtype);
    add_key(sink, impl.view.shape);
    add_key(sink, impl.view.strides);
  }
  for (const Number& number : inputs.numbers()) add_key(sink, number.kind());
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

std::uint64_t hash_of(std::span<const std::uint64_t> key, const Arguments& inputs,
                      const Device& device) {
  WordHash hash;
  add_signature(hash, key, inputs, device);
  return hash.hash();
}

bool matches(const KeyWords& signature, std::span<const std::uint64_t> key, const Arguments& inputs,
             const Device& device) {
  WordComparison comparison(signature);
  add_signature(comparison, key, inputs, device);
  return comparison.same();
}

KeyWords signature_of(std::span<const std::uint64_t> key, const Arguments& inputs,
                      const Device& device) {
  KeyWords words;
  add_signature(words, key, inputs, device);
  return words;
}

// The numbers of a call, kept between calls so that a warm call does not allocate.
std::span<const Scalar> scalars_of(const Arguments& inputs) {
  thread_local std::vector<Scalar> scalars;
  scalars.clear();
  for (const Number& number : inputs.numbers()) scalars.push_back(scalar_of(number));
  return scalars;
}

bool is_for(const TracedProgram& traced, const Arguments& inputs) {
  return inputs.numbers().empty() || is_for(*traced.program, scalars_of(inputs));
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
                                            const Arguments& inputs, const Device& device) const {
  const std::uint64_t hash = hash_of(key, inputs, device);
  const std::shared_lock lock(mutex_);
  const auto [begin, end] = entries_.equal_range(hash);
  for (auto it = begin; it != end; ++it)
    if (matches(it->second.signature, key, inputs, device) && is_for(*it->second.program, inputs))
      return it->second.program;
  return nullptr;
}

// A build by another thread may turn out to depend on its numbers, or fail because of them: then
// this call builds as well.
ProgramCache::ProgramPtr ProgramCache::build_once(std::span<const std::uint64_t> key,
                                                  const Arguments& inputs, const Device& device,
                                                  const std::function<ProgramPtr()>& build) {
  const KeyWords signature = signature_of(key, inputs, device);
  for (;;) {
    bool is_own = false;
    const auto find_or_insert = [&] {
      is_own = true;
      if (ProgramPtr program = find(key, inputs, device)) return program;
      return insert(key, inputs, device, build());
    };
    try {
      ProgramPtr program = builds_.run(signature, find_or_insert);
      if (is_own || is_for(*program, inputs)) return program;
    } catch (const UserError&) {
      if (is_own || inputs.numbers().empty()) throw;
    }
  }
}

ProgramCache::ProgramPtr ProgramCache::insert(std::span<const std::uint64_t> key,
                                              const Arguments& inputs, const Device& device,
                                              ProgramPtr program) {
  const std::uint64_t hash = hash_of(key, inputs, device);
  Entry entry{signature_of(key, inputs, device), program};
  decltype(entries_)::node_type evicted;
  ProgramPtr latest = program;
  const std::unique_lock lock(mutex_);
  const auto [begin, end] = entries_.equal_range(hash);
  for (auto it = begin; it != end; ++it)
    if (matches(it->second.signature, key, inputs, device) && is_for(*it->second.program, inputs))
      return it->second.program;
  if (order_.size() == capacity_) {
    evicted = entries_.extract(entries_.find(order_.front()));
    order_.pop_front();
  }
  entries_.emplace(hash, std::move(entry));
  order_.push_back(hash);
  if (program->program->runs_in_place) latest_.swap(latest);
  return program;
}

void ProgramCache::clear() {
  decltype(entries_) dropped;
  ProgramPtr latest;
  const std::unique_lock lock(mutex_);
  entries_.swap(dropped);
  latest_.swap(latest);
  order_.clear();
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
  result->program = build_program(std::move(trace.graph), extents, options, device);
  result->captured = std::move(trace.captured);
  return result;
}

BoundCall bind_call(const TracedProgram& traced, const Arguments& arguments) {
  thread_local std::vector<InputBinding> bindings;
  thread_local std::vector<std::int64_t> numbers;
  numbers.clear();
  if (!arguments.numbers().empty()) number_scalars(*traced.program, scalars_of(arguments), numbers);
  bindings.clear();
  const auto bind = [](const Tensor& tensor) {
    tensor.impl()->storage->note_use();
    bindings.push_back({tensor.impl()->data()});
  };
  for (const Tensor& tensor : arguments.tensors()) bind(tensor);
  for (const Tensor& tensor : traced.captured) bind(tensor);
  return {bindings, numbers};
}

const Tensor& input_of(const TracedProgram& traced, const Arguments& arguments, int index) {
  const auto i = static_cast<std::size_t>(index);
  const std::span<const Tensor> inputs = arguments.tensors();
  return i < inputs.size() ? inputs[i] : traced.captured[i - inputs.size()];
}

std::vector<Tensor> run_traced(const TracedProgram& traced, const Arguments& arguments) {
  const Executable& executable = traced.program->executable;
  const BoundCall call = bind_call(traced, arguments);
  const ById<ResultId, StoragePtr> buffers = run(executable, call.inputs, call.numbers);
  std::vector<Tensor> results;
  results.reserve(executable.outputs.size());
  for (const OutputSpec& output : executable.outputs) {
    const BufferSlot& slot = executable.slots[output.slot];
    if (slot.kind == BufferSlot::Kind::output) {
      results.push_back(
          make_tensor(output.dtype, output.view, buffers[slot.index], executable.device));
      continue;
    }
    // A view of an input: shares its memory.
    const TensorImpl& source = *input_of(traced, arguments, slot.index).impl();
    View view = output.view;
    view.offset += source.view.offset;
    results.push_back(make_tensor(output.dtype, view, source.storage, source.device));
  }
  return results;
}

}  // namespace sinter
