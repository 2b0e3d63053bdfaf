// Tiles are flat arrays of their dtype; every instruction loops over the result's elements and
// broadcasts its operands.
#include "src/tile/interpreter.h"

#include <bit>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

#include "src/base/check.h"
#include "src/graph/graph.h"
#include "src/graph/scalar_math.h"

namespace sinter::tile {
namespace {

using scalar::I32;
using scalar::I64;

struct Tile {
  TileShape shape;
  DType dtype = DType::f32;
  std::unique_ptr<std::byte[]> bytes;

  Tile() = default;
  Tile(TileShape s, DType d)
      : shape(s),
        dtype(d),
        bytes(
            std::make_unique<std::byte[]>(static_cast<std::size_t>(s.rows * s.cols) * size_of(d))) {
  }
  template <typename T>
  T* data() const {
    return reinterpret_cast<T*>(bytes.get());
  }
  // The flat index of (row, col), where a 1 broadcasts.
  std::int64_t at(std::int64_t row, std::int64_t col) const {
    return (shape.rows == 1 ? 0 : row) * shape.cols + (shape.cols == 1 ? 0 : col);
  }
  Tile clone() const {
    Tile copy(shape, dtype);
    std::memcpy(copy.bytes.get(), bytes.get(),
                static_cast<std::size_t>(shape.rows * shape.cols) * size_of(dtype));
    return copy;
  }
};

// Calls f(T{}) with the element type tiles of `dtype` hold.
template <typename F>
decltype(auto) with_type(DType dtype, F&& f) {
  switch (dtype) {
    case DType::f32:
      return f(float{});
    case DType::f64:
      return f(double{});
    case DType::i32:
      return f(I32{});
    case DType::i64:
      return f(I64{});
    default:
      return f(bool{});
  }
}

template <typename F>
void for_each_element(TileShape shape, F&& f) {
  for (std::int64_t r = 0; r < shape.rows; ++r)
    for (std::int64_t c = 0; c < shape.cols; ++c) f(r, c);
}

template <typename To, typename From>
To convert(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (std::is_same_v<To, bool>) {
    return !(value == From(0));
  } else if constexpr (scalar::kIsReal<From> && !scalar::kIsReal<To>) {
    const DType dtype = std::is_same_v<To, I32> ? DType::i32 : DType::i64;
    return To(Scalar::of(static_cast<double>(value)).as(dtype).integer);
  } else if constexpr (std::is_same_v<From, I32> || std::is_same_v<From, I64>) {
    return To(value.value);
  } else {
    return To(value);
  }
}

// Where a program leaves a value open: it shows in any result that depends on it.
template <typename T>
T unspecified() {
  if constexpr (scalar::kIsReal<T>)
    return std::numeric_limits<T>::quiet_NaN();
  else if constexpr (std::is_same_v<T, bool>)
    return true;
  else
    return T(0x5a5a5a5b);
}

class Machine {
 public:
  Machine(const TileProgram& program, std::span<const BufferBinding> buffers,
          std::span<const std::int64_t> scalars)
      : program_(program), buffers_(buffers), scalars_(scalars), tiles_(program.values.size()) {}

  void run(std::int64_t program_id) {
    program_id_ = program_id;
    run_block(program_.body);
  }

 private:
  Tile& tile(ValueId id) { return tiles_[id]; }
  std::int64_t integer(ValueId id) { return tile(id).data<I64>()[0].value; }
  Tile& fresh(ValueId id) { return tile(id) = Tile(program_[id].shape, program_[id].dtype); }

  void run_block(const std::vector<Instr>& body) {
    for (const Instr& instr : body) execute(instr);
  }

  void execute(const Instr& instr) {
    switch (instr.code) {
      case Code::constant:
        return set_constant(instr);
      case Code::scalar:
        std::memcpy(fresh(instr.results[0]).bytes.get(),
                    &scalars_[static_cast<std::size_t>(instr.index)], sizeof(std::int64_t));
        return;
      case Code::program_id:
        fresh(instr.results[0]).data<I64>()[0] = I64(program_id_);
        return;
      case Code::arange: {
        Tile& out = fresh(instr.results[0]);
        for (std::int64_t i = 0; i < out.shape.rows * out.shape.cols; ++i)
          out.data<I64>()[i] = I64(i);
        return;
      }
      case Code::pointwise:
        return with_type(tile(instr.args.back()).dtype,
                         [&]<typename T>(T) { pointwise<T>(instr); });
      case Code::cast:
        return cast(instr);
      case Code::load:
        return load(instr);
      case Code::store:
        return store(instr);
      case Code::broadcast:
        return with_type(tile(instr.args[0]).dtype, [&]<typename T>(T) {
          const Tile& in = tile(instr.args[0]);
          Tile out(program_[instr.results[0]].shape, in.dtype);
          for_each_element(out.shape, [&](std::int64_t row, std::int64_t col) {
            out.data<T>()[out.at(row, col)] = in.data<T>()[in.at(row, col)];
          });
          tile(instr.results[0]) = std::move(out);
        });
      case Code::reduce:
        return with_type(tile(instr.args[0]).dtype, [&]<typename T>(T) { reduce<T>(instr); });
      case Code::loop:
        return loop(instr);
    }
  }

  void set_constant(const Instr& instr) {
    Tile& out = fresh(instr.results[0]);
    with_type(out.dtype, [&]<typename T>(T) {
      if constexpr (scalar::kIsReal<T>)
        out.data<T>()[0] = static_cast<T>(instr.real);
      else
        out.data<T>()[0] = T(instr.integer);
    });
  }

  template <typename T>
  void pointwise(const Instr& instr) {
    Tile out(program_[instr.results[0]].shape, program_[instr.results[0]].dtype);
    const Tile& a = tile(instr.args[0]);
    const Tile& b = tile(instr.args[instr.args.size() > 1 ? 1 : 0]);
    const Tile& c = tile(instr.args.back());
    const bool known = scalar::visit_pointwise<T>(instr.op, [&]<typename F>(F f) {
      using First = std::conditional_t<std::is_invocable_v<F, T, T, T>, T, bool>;
      using Result = decltype(f(First{}, T{}, T{}));
      for_each_element(out.shape, [&](std::int64_t row, std::int64_t col) {
        out.data<Result>()[out.at(row, col)] =
            f(a.data<First>()[a.at(row, col)],
              instr.args.size() > 1 ? b.data<T>()[b.at(row, col)] : T{},
              instr.args.size() > 2 ? c.data<T>()[c.at(row, col)] : T{});
      });
    });
    SINTER_ASSERT(known, "{}", name_of(instr.op));
    tile(instr.results[0]) = std::move(out);
  }

  void cast(const Instr& instr) {
    const Tile& in = tile(instr.args[0]);
    Tile out(in.shape, program_[instr.results[0]].dtype);
    with_type(in.dtype, [&]<typename From>(From) {
      with_type(out.dtype, [&]<typename To>(To) {
        for (std::int64_t i = 0; i < in.shape.rows * in.shape.cols; ++i) {
          To value = convert<To>(in.data<From>()[i]);
          if constexpr (std::is_same_v<To, float>) {
            if (instr.storage == DType::f16) value = f16_to_f32(f32_to_f16(value));
            if (instr.storage == DType::bf16) value = bf16_to_f32(f32_to_bf16(value));
          }
          out.data<To>()[i] = value;
        }
      });
    });
    tile(instr.results[0]) = std::move(out);
  }

  bool masked_on(ValueId mask, std::int64_t row, std::int64_t col) {
    return mask == kNoValue || tile(mask).data<bool>()[tile(mask).at(row, col)];
  }

  // The address of an element, checked against the buffer's bounds.
  std::byte* element(const Instr& instr, std::int64_t row, std::int64_t col) {
    const Tile& offsets = tile(instr.args[0]);
    const std::int64_t offset = offsets.data<I64>()[offsets.at(row, col)].value;
    const BufferParam& param = program_.buffers[instr.index];
    const BufferBinding& buffer = buffers_[static_cast<std::size_t>(instr.index)];
    SINTER_ASSERT(offset >= 0 && offset < buffer.elements,
                  "kernel {}, program {}: {} buffer {} at {}, which has {} elements", program_.name,
                  program_id_, instr.code == Code::load ? "reads" : "writes", param.name, offset,
                  buffer.elements);
    return static_cast<std::byte*>(buffer.data) +
           static_cast<std::size_t>(offset) * size_of(param.dtype);
  }

  template <typename T>
  T masked_off(ValueId other, std::int64_t row, std::int64_t col) {
    if (other != kNoValue) return tile(other).data<T>()[tile(other).at(row, col)];
    return unspecified<T>();
  }

  void load(const Instr& instr) {
    Tile out(program_[instr.results[0]].shape, program_[instr.results[0]].dtype);
    const DType storage = program_.buffers[instr.index].dtype;
    with_type(out.dtype, [&]<typename T>(T) {
      for_each_element(out.shape, [&](std::int64_t row, std::int64_t col) {
        T& value = out.data<T>()[out.at(row, col)];
        if (!masked_on(instr.args[1], row, col)) {
          value = masked_off<T>(instr.args[2], row, col);
          return;
        }
        const std::byte* from = element(instr, row, col);
        if (storage == DType::f16 || storage == DType::bf16) {
          std::uint16_t bits = 0;
          std::memcpy(&bits, from, sizeof bits);
          value = T(storage == DType::f16 ? f16_to_f32(bits) : bf16_to_f32(bits));
        } else if constexpr (std::is_same_v<T, bool>) {
          value = *from != std::byte{0};
        } else {
          std::memcpy(static_cast<void*>(&value), from, sizeof value);
        }
      });
    });
    tile(instr.results[0]) = std::move(out);
  }

  void store(const Instr& instr) {
    const Tile& value = tile(instr.args[1]);
    const DType storage = program_.buffers[instr.index].dtype;
    with_type(value.dtype, [&]<typename T>(T) {
      for_each_element(tile(instr.args[0]).shape, [&](std::int64_t row, std::int64_t col) {
        if (!masked_on(instr.args[2], row, col)) return;
        const T& v = value.data<T>()[value.at(row, col)];
        std::byte* to = element(instr, row, col);
        if constexpr (std::is_same_v<T, float>) {
          if (storage == DType::f16 || storage == DType::bf16) {
            const std::uint16_t bits = storage == DType::f16 ? f32_to_f16(v) : f32_to_bf16(v);
            std::memcpy(to, &bits, sizeof bits);
            return;
          }
        }
        std::memcpy(to, static_cast<const void*>(&v), sizeof v);
      });
    });
  }

  // The function that combines two partial results.
  template <typename T>
  using Combine = T (*)(T, T);
  template <typename T>
  static Combine<T> combine_of(ReduceKind kind) {
    Combine<T> combine = nullptr;
    scalar::visit_pointwise<T>(info(kind).combine, [&]<typename F>(F) {
      if constexpr (std::is_invocable_r_v<T, F, T, T, T>)
        combine = [](T a, T b) -> T { return F{}(a, b, T{}); };
    });
    SINTER_ASSERT(combine, "{} of this dtype", name_of(kind));
    return combine;
  }

  // Pairwise reduction: the rounding error of a sum grows with the logarithm of its length.
  template <typename T, typename Get>
  static T reduce_range(Combine<T> combine, const Get& get, std::int64_t begin, std::int64_t end) {
    if (end - begin == 1) return get(begin);
    const std::int64_t middle = begin + (end - begin) / 2;
    return combine(reduce_range<T>(combine, get, begin, middle),
                   reduce_range<T>(combine, get, middle, end));
  }

  template <typename T>
  static bool beats(ReduceKind kind, T candidate, T best) {
    if (scalar::isnan(candidate)) return !scalar::isnan(best);
    if (scalar::isnan(best)) return false;
    return info(kind).combine == Op::gt ? best < candidate : candidate < best;
  }

  template <typename T>
  void reduce(const Instr& instr) {
    const Tile& in = tile(instr.args[0]);
    const std::int64_t count = in.shape.cols;
    Tile out(program_[instr.results[0]].shape, in.dtype);
    Tile positions;
    if (is_arg(instr.reduce_kind)) positions = Tile(out.shape, program_[instr.results[1]].dtype);
    const Combine<T> combine =
        is_arg(instr.reduce_kind) ? nullptr : combine_of<T>(instr.reduce_kind);
    for_each_element(out.shape, [&](std::int64_t row, std::int64_t col) {
      auto at = [&](const Tile& t, std::int64_t i) { return t.at(row, i); };
      const std::int64_t slot = out.at(row, col);
      if (!is_arg(instr.reduce_kind)) {
        out.data<T>()[slot] = reduce_range<T>(
            combine, [&](std::int64_t i) { return in.data<T>()[at(in, i)]; }, 0, count);
        return;
      }
      const Tile& index = tile(instr.args[1]);
      std::int64_t best = 0;
      for (std::int64_t i = 1; i < count; ++i)
        if (beats(instr.reduce_kind, in.data<T>()[at(in, i)], in.data<T>()[at(in, best)])) best = i;
      out.data<T>()[slot] = in.data<T>()[at(in, best)];
      with_type(positions.dtype, [&]<typename P>(P) {
        positions.data<P>()[slot] = index.data<P>()[at(index, best)];
      });
    });
    if (is_arg(instr.reduce_kind)) tile(instr.results[1]) = std::move(positions);
    tile(instr.results[0]) = std::move(out);
  }

  void loop(const Instr& instr) {
    const std::int64_t begin = integer(instr.args[0]);
    const std::int64_t end = integer(instr.args[1]);
    const std::int64_t step = integer(instr.args[2]);
    SINTER_ASSERT(step > 0);
    const std::size_t carried = instr.body_yields.size();
    for (std::size_t i = 0; i < carried; ++i)
      tile(instr.body_params[1 + i]) = tile(instr.args[3 + i]).clone();
    for (std::int64_t i = begin; i < end; i += step) {
      fresh(instr.body_params[0]).data<I64>()[0] = I64(i);
      run_block(instr.body);
      std::vector<Tile> next;
      for (ValueId id : instr.body_yields) next.push_back(tile(id).clone());
      for (std::size_t k = 0; k < carried; ++k) tile(instr.body_params[1 + k]) = std::move(next[k]);
    }
    for (std::size_t i = 0; i < carried; ++i)
      tile(instr.results[i]) = std::move(tile(instr.body_params[1 + i]));
  }

  const TileProgram& program_;
  std::span<const BufferBinding> buffers_;
  std::span<const std::int64_t> scalars_;
  ById<ValueId, Tile> tiles_;
  std::int64_t program_id_ = 0;
};

void check_scalar(const ScalarParam& param, std::int64_t value) {
  if (param.dtype != DType::i64) return;
  SINTER_ASSERT(value % param.multiple_of == 0, "{} is {}, no multiple of {}", param.name, value,
                param.multiple_of);
  SINTER_ASSERT(!param.positive || (value > 0 && value <= std::numeric_limits<std::int32_t>::max()),
                "{} is {}, not from 1 to 2^31 - 1", param.name, value);
  SINTER_ASSERT(param.at_least == 0 || value >= param.at_least, "{} is {}, less than {}",
                param.name, value, param.at_least);
}

}  // namespace

void interpret(const TileProgram& program, std::span<const BufferBinding> buffers,
               std::span<const std::int64_t> scalars, std::int64_t first, std::int64_t last) {
  SINTER_ASSERT(buffers.size() == program.buffers.size());
  SINTER_ASSERT(scalars.size() == program.scalars.size());
  for (std::size_t i = 0; i < scalars.size(); ++i) check_scalar(program.scalars[i], scalars[i]);
  Machine machine(program, buffers, scalars);
  for (std::int64_t id = first; id < last; ++id) machine.run(id);
}

}  // namespace sinter::tile
