// Inputs: values from a seed, laid out dense, transposed, sliced, broadcast or inside a buffer.
// In: an Input. Out: its row-major values, and the tensor.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "src/graph/graph.h"
#include "tests/fuzz/program.h"

namespace sinter::fuzz {
namespace {

double unit(std::mt19937_64& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

double whole(std::mt19937_64& random, int least, int most) {
  return least + static_cast<double>(random() % static_cast<std::uint64_t>(most - least + 1));
}

double real_value(Fill fill, std::mt19937_64& random) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kSpecial[] = {0.0,       -0.0,       std::numeric_limits<double>::quiet_NaN(),
                                 kInfinity, -kInfinity, 1.0,
                                 -1.0,      30000.0,    0x1p-14};
  switch (fill) {
    case Fill::small_integers:
      return whole(random, -4, 4);
    case Fill::quarters:
      return whole(random, -16, 16) / 4;
    case Fill::positive:
      return 0.1 + 3 * unit(random);
    case Fill::special:
      if (random() % 12 == 0) return kSpecial[random() % std::size(kSpecial)];
      [[fallthrough]];
    default:
      return 6 * unit(random) - 3;
  }
}

double integer_value(Fill fill, DType dtype, std::mt19937_64& random) {
  if (fill == Fill::positive) return whole(random, 1, 40);
  if (fill == Fill::reals) return whole(random, -1000, 1000);
  if (fill == Fill::special && random() % 12 == 0) {
    const bool narrow = dtype == DType::i32;
    // Near the ends of i32; of i64 what doubles hold.
    const double most = narrow ? 2147483647.0 : 0x1p62;
    return random() % 2 ? most : -most - (narrow ? 1 : 0);
  }
  return whole(random, -5, 5);
}

void put(double value, DType dtype, std::byte* to) {
  const auto store = [&](auto typed) { std::memcpy(to, &typed, sizeof typed); };
  switch (dtype) {
    case DType::f32:
      return store(static_cast<float>(value));
    case DType::f64:
      return store(value);
    case DType::f16:
      return store(f32_to_f16(static_cast<float>(value)));
    case DType::bf16:
      return store(f32_to_bf16(static_cast<float>(value)));
    case DType::i32:
      return store(static_cast<std::int32_t>(value));
    case DType::i64:
      return store(static_cast<std::int64_t>(value));
    case DType::boolean:
      return store(value != 0);
  }
}

Tensor dense_tensor(const std::vector<double>& values, const Shape& shape, DType dtype) {
  std::vector<std::byte> bytes(values.size() * size_of(dtype) + 1);
  for (std::size_t i = 0; i < values.size(); ++i)
    put(values[i], dtype, bytes.data() + i * size_of(dtype));
  return from_host(bytes.data(), shape, dtype);
}

// The row-major values of `shape` with its axes in reverse order.
std::vector<double> reversed_axes(const std::vector<double>& values, const Shape& shape) {
  std::vector<double> result(values.size());
  Shape index = Shape::filled(shape.rank(), 0);
  for (double value : values) {
    std::int64_t at = 0;
    for (int i = shape.rank() - 1; i >= 0; --i) at = at * shape[i] + index[i];
    result[static_cast<std::size_t>(at)] = value;
    for (int i = shape.rank() - 1; i >= 0 && ++index[i] == shape[i]; --i) index[i] = 0;
  }
  return result;
}

// The offset along `axis` and the number of elements below it.
struct AxisPlace {
  std::int64_t outer = 1;
  std::int64_t size = 1;
  std::int64_t inner = 1;
};
AxisPlace place(const Shape& shape, int axis) {
  AxisPlace result;
  for (int i = 0; i < shape.rank(); ++i)
    (i < axis ? result.outer : i == axis ? result.size : result.inner) *= shape[i];
  return result;
}

}  // namespace

std::vector<double> input_values(const Input& input) {
  std::mt19937_64 random(input.seed);
  std::vector<double> values(static_cast<std::size_t>(input.shape.numel()));
  for (double& value : values) {
    if (input.dtype == DType::boolean)
      value = static_cast<double>(random() % 2);
    else if (is_floating(input.dtype))
      value = Scalar::of(real_value(input.fill, random)).as(input.dtype).real;
    else
      value = integer_value(input.fill, input.dtype, random);
  }
  if (input.layout == Layout::broadcast) {
    const auto [outer, size, inner] = place(input.shape, input.layout_axis);
    for (std::int64_t i = 0; i < outer * size * inner; ++i)
      values[static_cast<std::size_t>(i)] =
          values[static_cast<std::size_t>(i / (size * inner) * (size * inner) + i % inner)];
  }
  return values;
}

Tensor make_input(const Input& input) {
  const std::vector<double> values = input_values(input);
  const Shape& shape = input.shape;
  const int axis = input.layout_axis;
  Shape base = shape;
  switch (input.layout) {
    case Layout::dense:
      return dense_tensor(values, shape, input.dtype);
    case Layout::transposed: {
      Shape axes = shape;
      for (int i = 0; i < shape.rank(); ++i) axes[i] = shape.rank() - 1 - i;
      std::reverse(base.begin() == base.end() ? nullptr : &base[0],
                   base.begin() == base.end() ? nullptr : &base[0] + base.rank());
      return permute(dense_tensor(reversed_axes(values, shape), base, input.dtype), axes);
    }
    case Layout::sliced: {  // every second one, from the second on
      const auto [outer, size, inner] = place(shape, axis);
      base[axis] = 2 * size + 1;
      std::vector<double> wide(static_cast<std::size_t>(base.numel()), 7);
      for (std::int64_t i = 0; i < outer * size * inner; ++i) {
        const std::int64_t along = i / inner % size;
        const std::int64_t at =
            (i / (size * inner) * base[axis] + 2 * along + 1) * inner + i % inner;
        wide[static_cast<std::size_t>(at)] = values[static_cast<std::size_t>(i)];
      }
      return slice(dense_tensor(wide, base, input.dtype), axis, 1, 2 * size + 1, 2);
    }
    case Layout::offset: {
      std::vector<double> longer(static_cast<std::size_t>(axis), 7);
      longer.insert(longer.end(), values.begin(), values.end());
      const Shape line{static_cast<std::int64_t>(longer.size())};
      return reshape(slice(dense_tensor(longer, line, input.dtype), 0, axis, line[0]), shape);
    }
    case Layout::broadcast: {
      const auto [outer, size, inner] = place(shape, axis);
      base[axis] = 1;
      std::vector<double> narrow;
      for (std::int64_t i = 0; i < outer * inner; ++i)
        narrow.push_back(
            values.empty()
                ? 0
                : values[static_cast<std::size_t>(i / inner * size * inner + i % inner)]);
      return expand(dense_tensor(narrow, base, input.dtype), shape);
    }
  }
  return {};
}

}  // namespace sinter::fuzz
