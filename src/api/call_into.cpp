// Kernels write results straight to the outputs if the program placed them there. Other results (a
// view of an input, a part of a buffer, a value returned twice) are copied after the kernels.
#include "src/api/call_into.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "src/api/copy_into.h"
#include "src/api/op_call.h"
#include "src/base/check.h"
#include "src/base/overlap.h"

namespace sinter {
namespace {

StridedMemory memory_of(const Tensor& tensor) {
  const TensorImpl& impl = *tensor.impl();
  return {impl.data(), &impl.view, size_of(impl.dtype)};
}

// The memory regions of outputs, then of other tensors. Valid until the thread's next call.
std::span<const StridedMemory> regions_of(std::span<const Tensor> outputs,
                                          std::span<const Tensor> others) {
  thread_local std::vector<StridedMemory> regions;
  regions.clear();
  for (const Tensor& output : outputs) regions.push_back(memory_of(output));
  for (const Tensor& other : others) regions.push_back(memory_of(other));
  return regions;
}

// Whether each element of one has the same address in the other.
bool are_same_memory(const Tensor& a, const Tensor& b) {
  const TensorImpl& one = *a.impl();
  const TensorImpl& other = *b.impl();
  return one.data() == other.data() && one.dtype == other.dtype &&
         one.view.shape == other.view.shape && one.view.strides == other.view.strides;
}

std::string type_text(DType dtype, const Shape& shape) {
  return fmt::format("{}{}", name_of(dtype), to_string(shape));
}

// Whether the output's memory can serve as the spec's buffer.
bool is_placed(const OutputSpec& spec, const Tensor& output) {
  const View& view = output.impl()->view;
  return spec.is_whole_buffer && same_access(spec.view, {view.shape, view.strides, 0});
}

const BufferSlot& slot_of(const Executable& executable, const OutputSpec& spec) {
  return executable.slots[spec.slot];
}

}  // namespace

GivenOutputs::GivenOutputs(std::span<const Tensor> outputs, std::span<const Tensor> inputs)
    : outputs_(outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) check_one(i);
  find_overlaps(inputs);
}

void GivenOutputs::check_one(std::size_t i) const {
  const Tensor& output = outputs_[i];
  if (!output.defined())
    fail_user("call_into", "output {} is undefined (a default-constructed Tensor)", i);
  const TensorImpl& impl = *output.impl();
  if (impl.is_traced())
    fail_user("call_into", "output {} is a traced tensor, which has no memory", i);
  if (!is_dense(impl.view) && overlaps_itself(impl.view))
    fail_user("call_into", "output {} of shape {} and strides {} has elements that share memory", i,
              to_string(impl.view.shape), to_string(impl.view.strides));
}

void GivenOutputs::find_overlaps(std::span<const Tensor> inputs) {
  for (const Tensor& output : outputs_) are_dense_ = are_dense_ && is_dense(output.impl()->view);
  const std::size_t count = outputs_.size();
  const auto has_output = [&](std::size_t i, std::size_t) { return i < count; };
  for_each_overlap(regions_of(outputs_, inputs), has_output, [&](std::size_t i, std::size_t k) {
    if (k < count) fail_user("call_into", "output {} and output {} overlap in memory", i, k);
    if (are_same_memory(outputs_[i], inputs[k - count]))
      in_place_.push_back({k - count, i});
    else
      overlap_inputs_ = true;
  });
  // Not ordered by address: the pairs are part of a program's key.
  std::sort(in_place_.begin(), in_place_.end(), [](const InPlace& a, const InPlace& b) {
    return std::pair(a.output, a.input) < std::pair(b.output, b.input);
  });
}

OutputLayout GivenOutputs::layout() const {
  OutputLayout layout;
  for (const Tensor& output : outputs_) {
    const View& view = output.impl()->view;
    layout.views.push_back({view.shape, view.strides, 0});
  }
  layout.in_place = in_place_;
  return layout;
}

std::span<const std::uint64_t> GivenOutputs::key() const {
  // Kept between calls so that a warm call does not allocate.
  thread_local std::vector<std::uint64_t> words;
  words.clear();
  words.push_back(outputs_.size());
  const auto add = [](const Shape& shape) {
    words.push_back(static_cast<std::uint64_t>(shape.rank()));
    for (std::int64_t each : shape) words.push_back(static_cast<std::uint64_t>(each));
  };
  for (const Tensor& output : outputs_) {
    words.push_back(static_cast<std::uint64_t>(output.impl()->dtype));
    add(output.impl()->view.shape);
    add(output.impl()->view.strides);
  }
  for (const InPlace& pair : in_place_) {
    words.push_back(static_cast<std::uint64_t>(pair.input));
    words.push_back(static_cast<std::uint64_t>(pair.output));
  }
  return words;
}

void GivenOutputs::check_count(std::size_t returned) const {
  if (outputs_.size() != returned)
    fail_user("call_into", "the function returns {} tensors, got {} outputs", returned,
              outputs_.size());
}

void GivenOutputs::check_type(std::size_t i, DType dtype, const Shape& shape) const {
  const TensorImpl& impl = *outputs_[i].impl();
  if (impl.dtype == dtype && impl.view.shape == shape) return;
  fail_user("call_into", "output {} is {}, the function returns {}", i,
            type_text(impl.dtype, impl.view.shape), type_text(dtype, shape));
}

void GivenOutputs::check(const Graph& graph) const {
  check_count(graph.outputs.size());
  for (std::size_t i = 0; i < outputs_.size(); ++i)
    check_type(i, graph.dtype(graph.outputs[i]), graph.outputs[i].view.shape);
}

void GivenOutputs::check(const Executable& executable) const {
  check_count(executable.outputs.size());
  for (std::size_t i = 0; i < outputs_.size(); ++i)
    check_type(i, executable.outputs[i].dtype, executable.outputs[i].view.shape);
  check(*executable.device);
}

void GivenOutputs::check(const Device& device) const {
  for (std::size_t i = 0; i < outputs_.size(); ++i)
    if (const Device* there = outputs_[i].impl()->device.get(); there != &device)
      fail_user("call_into", "output {} is on {}, the function runs on {}", i, there->name(),
                device.name());
}

bool writes_directly(const TracedProgram& program, const GivenOutputs& outputs) {
  const Executable& executable = program.program->executable;
  // If no result needs a copy, each has a buffer of its own.
  if (executable.new_buffer_bytes.size() != executable.outputs.size()) return false;
  for (std::size_t i = 0; i < executable.outputs.size(); ++i) {
    const BufferSlot& slot = slot_of(executable, executable.outputs[i]);
    if (slot.kind != BufferSlot::Kind::output ||
        !is_placed(executable.outputs[i], outputs.tensors()[i]))
      return false;
  }
  return true;
}

bool overlap_captured(const TracedProgram& program, const GivenOutputs& outputs) {
  if (program.captured.empty()) return false;
  const std::size_t count = outputs.tensors().size();
  bool found = false;
  for_each_overlap(
      regions_of(outputs.tensors(), program.captured),
      [&](std::size_t i, std::size_t k) { return i < count && k >= count; },
      [&](std::size_t, std::size_t) { found = true; });
  return found;
}

namespace {

// The memory of a program's new buffers in one call: the caller's outputs or temporaries.
class ResultBuffers {
 public:
  ResultBuffers(const TracedProgram& program, const GivenOutputs& outputs)
      : executable_(program.program->executable), outputs_(outputs.tensors()), homes_(homes()) {
    homes_.assign(executable_.new_buffer_bytes.size(), {});
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      const OutputSpec& spec = executable_.outputs[i];
      const BufferSlot& slot = slot_of(executable_, spec);
      if (slot.kind != BufferSlot::Kind::output || !is_placed(spec, outputs_[i])) continue;
      Home& home = homes_[slot.index];
      if (!home.output) home.output = &outputs_[i];
    }
  }
  ~ResultBuffers() { homes_.clear(); }  // releases temporaries
  ResultBuffers(const ResultBuffers&) = delete;
  ResultBuffers& operator=(const ResultBuffers&) = delete;

  // Valid until the thread's next call.
  std::span<void* const> addresses() {
    thread_local std::vector<void*> found;
    found.clear();
    for (ResultId b = 0; b < homes_.end_id(); ++b) {
      Home& home = homes_[b];
      if (home.output) {
        home.output->impl()->storage->note_use();
        found.push_back(home.output->impl()->data());
        continue;
      }
      const auto bytes = static_cast<std::size_t>(executable_.new_buffer_bytes[b]);
      home.temporary = executable_.device->allocate(bytes);
      found.push_back(home.temporary->data());
    }
    return found;
  }

  // The result as the kernels left it; undefined if it is already in its output.
  Tensor result_to_copy(const TracedProgram& program, const Arguments& inputs,
                        std::size_t i) const {
    const OutputSpec& spec = executable_.outputs[i];
    const BufferSlot& slot = slot_of(executable_, spec);
    View view = spec.view;
    if (slot.kind == BufferSlot::Kind::input) {
      const TensorImpl& source = *input_of(program, inputs, slot.index).impl();
      view.offset += source.view.offset;
      return make_tensor(spec.dtype, view, source.storage, source.device);
    }
    const Home& home = homes_[slot.index];
    if (home.output == &outputs_[i]) return {};
    if (!home.output) return make_tensor(spec.dtype, view, home.temporary, executable_.device);
    view.offset += home.output->impl()->view.offset;
    return make_tensor(spec.dtype, view, home.output->impl()->storage, executable_.device);
  }

 private:
  struct Home {
    const Tensor* output = nullptr;  // owns the memory; null: `temporary` does
    StoragePtr temporary;
  };
  // Kept between calls so that a warm call does not allocate.
  static ById<ResultId, Home>& homes() {
    thread_local ById<ResultId, Home> kept;
    return kept;
  }

  const Executable& executable_;
  std::span<const Tensor> outputs_;
  ById<ResultId, Home>& homes_;
};

Tensor cloned(const Tensor& tensor) {
  OpCall call;
  call.op = Op::copy;
  call.args = {tensor};
  call.shape = tensor.shape();
  return apply(call);
}

}  // namespace

void run_traced_into(const TracedProgram& program, const GivenOutputs& outputs,
                     const Arguments& inputs) {
  const BoundCall call = bind_call(program, inputs);
  ResultBuffers buffers(program, outputs);
  run_into(program.program->executable, buffers.addresses(), call.inputs, call.numbers);
  // Collects all results before the first copy: a copy is itself a call and reuses `homes`.
  std::vector<std::pair<Tensor, Tensor>> copies;
  for (std::size_t i = 0; i < outputs.tensors().size(); ++i)
    if (Tensor result = buffers.result_to_copy(program, inputs, i); result.defined())
      copies.emplace_back(std::move(result), outputs.tensors()[i]);
  for (const auto& [result, output] : copies) copy_into(result, output);
}

void run_traced_apart(const TracedProgram& program, const GivenOutputs& outputs,
                      const Arguments& inputs) {
  const Executable& executable = program.program->executable;
  std::vector<Tensor> results = run_traced(program, inputs);
  // Copies views of inputs first: writing an output may overwrite that input.
  for (std::size_t i = 0; i < results.size(); ++i)
    if (slot_of(executable, executable.outputs[i]).kind == BufferSlot::Kind::input)
      results[i] = cloned(results[i]);
  for (std::size_t i = 0; i < results.size(); ++i) copy_into(results[i], outputs.tensors()[i]);
}

}  // namespace sinter
