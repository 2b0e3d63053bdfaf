// Elements are normally distributed numbers converted to the dtype. Large tensors repeat them,
// since generating numbers takes much longer than copying them.
#include "src/suite/cases/program_inputs.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <span>

#include "src/base/check.h"
#include "src/suite/cases/normal.h"

namespace sinter::suite {
namespace {

// A prime number, so that rows of any usual length differ from each other.
constexpr std::int64_t kDifferentNumbers = 4194301;

template <typename T>
T converted(float value) {
  if constexpr (std::is_same_v<T, bool>)
    return value > 0;
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(std::lround(4 * value));
  else
    return static_cast<T>(value);
}

// The name of what converted() makes.
std::string_view values_of(DType dtype) {
  if (is_floating(dtype)) return "normal";
  return is_integer(dtype) ? "integers" : "bools";
}

template <typename T>
Tensor tensor_of(const TensorSpec& spec, const std::vector<float>& numbers, const Device& device) {
  const auto values = std::make_unique<T[]>(numbers.size());  // vector<bool> has no data()
  std::transform(numbers.begin(), numbers.end(), values.get(), converted<T>);
  return from_host(values.get(), spec.shape, spec.dtype, device.name());
}

Tensor random_input(const TensorSpec& spec, std::size_t index, const Device& device) {
  std::vector<float> numbers(static_cast<std::size_t>(spec.shape.numel()));
  const auto different = std::min(numbers.size(), static_cast<std::size_t>(kDifferentNumbers));
  fill_normal(seed_of(fmt::format("program/{}", index)), 0, std::span(numbers).first(different));
  for (std::size_t i = different; i < numbers.size(); ++i) numbers[i] = numbers[i - different];
  switch (spec.dtype) {
    case DType::f32:
      return tensor_of<float>(spec, numbers, device);
    case DType::f16:
      return tensor_of<Half>(spec, numbers, device);
    case DType::bf16:
      return tensor_of<BFloat16>(spec, numbers, device);
    case DType::f64:
      return tensor_of<double>(spec, numbers, device);
    case DType::i32:
      return tensor_of<std::int32_t>(spec, numbers, device);
    case DType::i64:
      return tensor_of<std::int64_t>(spec, numbers, device);
    case DType::boolean:
      break;
  }
  return tensor_of<bool>(spec, numbers, device);
}

Tensor unbacked_input(const TensorSpec& spec, const Device& device) {
  const std::size_t bytes =
      static_cast<std::size_t>(std::max<std::int64_t>(spec.shape.numel(), 1)) * size_of(spec.dtype);
  void* data = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED)
    throw DeviceError(fmt::format("[suite] no addresses for {} bytes", bytes), "mmap", errno);
  const std::shared_ptr<void> owner(data, [bytes](void* p) { munmap(p, bytes); });
  return from_memory(data, spec.shape, row_major(spec.shape), spec.dtype, owner, device.name());
}

}  // namespace

std::vector<TensorSpec> input_specs(const Graph& graph) {
  std::vector<TensorSpec> specs;
  for (const NodeId id : graph.inputs) {
    const Node& input = graph[id];
    specs.push_back({input.dtype, input.shape, values_of(input.dtype), {}});
  }
  return specs;
}

std::vector<TensorSpec> output_specs(const Graph& graph) {
  std::vector<TensorSpec> specs;
  for (const Operand& output : graph.outputs)
    specs.push_back({graph.dtype(output), output.view.shape, {}, {}});
  return specs;
}

std::vector<Tensor> random_inputs(const std::vector<TensorSpec>& specs,
                                  const std::shared_ptr<Device>& device) {
  std::vector<Tensor> inputs;
  for (std::size_t i = 0; i < specs.size(); ++i)
    inputs.push_back(random_input(specs[i], i, *device));
  return inputs;
}

std::vector<Tensor> unbacked_inputs(const std::vector<TensorSpec>& specs,
                                    const std::shared_ptr<Device>& device) {
  std::vector<Tensor> inputs;
  for (const TensorSpec& spec : specs) inputs.push_back(unbacked_input(spec, *device));
  return inputs;
}

}  // namespace sinter::suite
