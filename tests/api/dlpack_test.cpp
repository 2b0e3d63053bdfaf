// from_dlpack and to_dlpack: nothing is copied, the deleter is called once and only after ownership
// was taken, and unsupported tensors are refused with a reason.
#include "src/api/dlpack.h"

#include <gtest/gtest.h>
#include <sinter/error.h>
#include <sinter/io.h>
#include <sinter/ops.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "src/api/trace.h"

namespace sinter {
namespace {

// A tensor as another library would export it; counts the calls of its deleter.
struct Foreign {
  explicit Foreign(std::vector<std::int64_t> sizes, std::vector<std::int64_t> steps = {})
      : shape(std::move(sizes)), strides(std::move(steps)) {
    managed.dl_tensor.data = values.data();
    managed.dl_tensor.device = {kDlpackCpu, 0};
    managed.dl_tensor.ndim = static_cast<std::int32_t>(shape.size());
    managed.dl_tensor.dtype = {kDlpackFloat, 32, 1};
    managed.dl_tensor.shape = shape.data();
    managed.dl_tensor.strides = strides.empty() ? nullptr : strides.data();
    managed.manager_ctx = this;
    managed.deleter = [](DLManagedTensor* self) {
      ++static_cast<Foreign*>(self->manager_ctx)->deleted;
    };
  }
  Foreign(const Foreign&) = delete;
  Foreign& operator=(const Foreign&) = delete;

  // The message of from_dlpack, which must not take ownership of a tensor it refuses.
  std::string error() {
    try {
      from_dlpack(&managed);
    } catch (const UserError& refusal) {
      return deleted == 0 ? refusal.what()
                          : "taken over in spite of: " + std::string(refusal.what());
    }
    return "no error";
  }

  std::vector<float> values = {0, 1, 2, 3, 4, 5};
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
  DLManagedTensor managed{};
  int deleted = 0;
};

TEST(FromDlpack, UsesTheMemoryAndDeletesItOnce) {
  Foreign foreign({2, 3});
  {
    Tensor row;
    {
      const Tensor t = from_dlpack(&foreign.managed);
      EXPECT_EQ(t.dtype(), DType::f32);
      EXPECT_EQ(t.shape(), (Shape{2, 3}));
      EXPECT_EQ(t.strides(), (Strides{3, 1}));
      EXPECT_EQ(t.data(), foreign.values.data());
      row = slice(t, 0, 1, 2);
    }
    EXPECT_EQ(foreign.deleted, 0);  // the view still uses it
    EXPECT_EQ(row.to_vector<float>(), (std::vector<float>{3, 4, 5}));
  }
  EXPECT_EQ(foreign.deleted, 1);
}

TEST(FromDlpack, TakesStridesAndOffset) {
  Foreign foreign({2, 2}, {1, 2});
  foreign.managed.dl_tensor.byte_offset = 2 * sizeof(float);
  const Tensor t = from_dlpack(&foreign.managed);
  EXPECT_EQ(t.strides(), (Strides{1, 2}));
  EXPECT_EQ(t.data(), foreign.values.data() + 2);
  EXPECT_EQ(t.to_vector<float>(), (std::vector<float>{2, 4, 3, 5}));
}

TEST(FromDlpack, StridesThatAreNeverTakenMayBeAnything) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  Foreign one({1, 6, 1}, {-7, 1, kMost});
  EXPECT_EQ(from_dlpack(&one.managed).to_vector<float>(), one.values);
  Foreign none({0, 6}, {-1, kMost});
  none.managed.dl_tensor.data = nullptr;
  const Tensor t = from_dlpack(&none.managed);
  EXPECT_EQ(t.shape(), (Shape{0, 6}));
  EXPECT_TRUE(t.to_vector<float>().empty());
}

TEST(FromDlpack, ZeroDimensionsAndNoDeleter) {
  Foreign foreign({});
  foreign.managed.dl_tensor.shape = nullptr;
  foreign.managed.deleter = nullptr;
  EXPECT_EQ(from_dlpack(&foreign.managed).to_vector<float>(), std::vector<float>{0});
}

TEST(FromDlpack, EachType) {
  const std::pair<DLDataType, DType> types[] = {
      {{kDlpackFloat, 16, 1}, DType::f16},   {{kDlpackFloat, 32, 1}, DType::f32},
      {{kDlpackFloat, 64, 1}, DType::f64},   {{kDlpackBfloat, 16, 1}, DType::bf16},
      {{kDlpackInt, 32, 1}, DType::i32},     {{kDlpackInt, 64, 1}, DType::i64},
      {{kDlpackBool, 8, 1}, DType::boolean},
  };
  for (const auto& [type, dtype] : types) {
    Foreign foreign({2});
    foreign.managed.dl_tensor.dtype = type;
    EXPECT_EQ(from_dlpack(&foreign.managed).dtype(), dtype);
  }
}

TEST(FromDlpack, TypesItDoesNotHave) {
  const std::pair<DLDataType, std::string> types[] = {
      {{kDlpackFloat, 8, 1}, "float8"},
      {{kDlpackInt, 8, 1}, "int8"},
      {{kDlpackUInt, 32, 1}, "uint32"},
      {{kDlpackComplex, 64, 1}, "complex64"},
      {{kDlpackBool, 1, 1}, "bool1"},
      {{kDlpackFloat, 32, 4}, "float32 of 4 lanes"},
      {{kDlpackBfloat, 32, 1}, "bfloat32"},
      {{99, 8, 1}, "code 99, 8 bits"},
      {{kDlpackFloat, 32, 0}, "float32 of 0 lanes"},
  };
  for (const auto& [type, name] : types) {
    Foreign foreign({2});
    foreign.managed.dl_tensor.dtype = type;
    EXPECT_EQ(foreign.error(), "[from_dlpack] there is no Sinter type for " + name +
                                   "; it takes float16, float32, float64, bfloat16, int32, int64 "
                                   "and bool8");
  }
}

TEST(FromDlpack, OnlyTheCpuAndCuda) {
  Foreign foreign({2});
  foreign.managed.dl_tensor.device = {10, 0};  // ROCm
  EXPECT_EQ(foreign.error(),
            "[from_dlpack] the tensor is on a device of type 10, expected 1 (CPU) or 2 (CUDA); "
            "copy it there first");
}

TEST(FromDlpack, PinnedMemoryIsTheHosts) {
  Foreign foreign({2});
  foreign.managed.dl_tensor.device = {3, 0};
  EXPECT_EQ(from_dlpack(&foreign.managed).device(), "cpu");
}

TEST(FromDlpack, ShapesThatCannotBe) {
  EXPECT_EQ(Foreign({2, -3}).error(), "[from_dlpack] sizes cannot be negative: (2, -3)");
  EXPECT_EQ(Foreign({1, 1, 1, 1, 1, 1, 1, 1, 1}).error(),
            "[from_dlpack] the tensor has 9 dimensions, expected 0 to 8");
  EXPECT_EQ(Foreign({4294967296, 4294967296}).error(),
            "[from_dlpack] (4294967296, 4294967296) has too many elements");
  EXPECT_EQ(Foreign({0, 4611686018427387904, 4}).error(),
            "[from_dlpack] (0, 4611686018427387904, 4) has too many elements");
  Foreign negative({2});
  negative.managed.dl_tensor.ndim = -1;
  EXPECT_EQ(negative.error(), "[from_dlpack] the tensor has -1 dimensions, expected 0 to 8");
  Foreign without({2});
  without.managed.dl_tensor.shape = nullptr;
  EXPECT_EQ(without.error(), "[from_dlpack] the shape pointer is null");
}

TEST(FromDlpack, StridesThatCannotBe) {
  EXPECT_EQ(Foreign({2, 3}, {-3, 1}).error(),
            "[from_dlpack] strides cannot be negative: (-3, 1); make the tensor contiguous first");
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  for (const std::vector<std::int64_t>& strides : {std::vector{kMost, kMost}, {kMost / 2, 1}})
    EXPECT_NE(Foreign({3, 3}, strides).error().find(") reaches too far"), std::string::npos);
}

TEST(FromDlpack, DataThatCannotBe) {
  Foreign null({2});
  null.managed.dl_tensor.data = nullptr;
  EXPECT_EQ(null.error(), "[from_dlpack] the data pointer is null");
  Foreign odd({2});
  odd.managed.dl_tensor.byte_offset = 2;
  EXPECT_EQ(odd.error(),
            "[from_dlpack] the data is not aligned to its f32 elements; copy the tensor first");
  for (const std::uint64_t offset :
       {std::numeric_limits<std::uint64_t>::max() - 3,  // wraps to the element before the first
        std::numeric_limits<std::uint64_t>::max() -
            reinterpret_cast<std::uintptr_t>(null.values.data()) - 3}) {
    Foreign far({2});
    far.managed.dl_tensor.data = null.values.data();
    far.managed.dl_tensor.byte_offset = offset;
    EXPECT_EQ(far.error(), "[from_dlpack] the byte offset " + std::to_string(offset) +
                               " leaves the address space");
  }
  try {
    from_dlpack(nullptr);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(), "[from_dlpack] the tensor is null");
  }
}

// Calls the deleter, as a consumer does.
struct Consumer {
  void operator()(DLManagedTensor* managed) const { managed->deleter(managed); }
};
using Exported = std::unique_ptr<DLManagedTensor, Consumer>;

TEST(ToDlpack, LendsTheMemoryAsItLies) {
  const Tensor t = from_vector<float>({0, 1, 2, 3, 4, 5}, {2, 3});
  const Exported out(to_dlpack(transpose(slice(t, 1, 1, 3), 0, 1)));
  const DLTensor& tensor = out->dl_tensor;
  EXPECT_EQ(tensor.data, static_cast<const float*>(t.data()) + 1);
  EXPECT_EQ(tensor.byte_offset, 0);
  EXPECT_EQ(tensor.device.device_type, kDlpackCpu);
  EXPECT_EQ(tensor.device.device_id, 0);
  EXPECT_EQ(tensor.dtype.code, kDlpackFloat);
  EXPECT_EQ(tensor.dtype.bits, 32);
  EXPECT_EQ(tensor.dtype.lanes, 1);
  ASSERT_EQ(tensor.ndim, 2);
  EXPECT_EQ(std::vector<std::int64_t>(tensor.shape, tensor.shape + 2),
            (std::vector<std::int64_t>{2, 2}));
  EXPECT_EQ(std::vector<std::int64_t>(tensor.strides, tensor.strides + 2),
            (std::vector<std::int64_t>{1, 3}));
}

TEST(ToDlpack, KeepsTheMemoryUntilItsDeleterIsCalled) {
  Foreign foreign({6});
  Exported out(to_dlpack(from_dlpack(&foreign.managed)));
  EXPECT_EQ(foreign.deleted, 0);
  EXPECT_EQ(static_cast<const float*>(out->dl_tensor.data)[5], 5);
  out.reset();
  EXPECT_EQ(foreign.deleted, 1);
}

TEST(ToDlpack, EachTypeComesBack) {
  const std::vector<std::uint64_t> bits = {1, 0};
  for (int i = 0; i < kDTypeCount; ++i) {
    const Tensor t = from_host(bits.data(), {2}, static_cast<DType>(i));
    const Tensor back = from_dlpack(to_dlpack(t));
    EXPECT_EQ(back.dtype(), t.dtype());
    EXPECT_EQ(back.data(), t.data());
  }
}

TEST(ToDlpack, ZeroDimensionsComeBack) {
  const Tensor t = full({}, 3);
  const Tensor back = from_dlpack(to_dlpack(t));
  EXPECT_EQ(back.rank(), 0);
  EXPECT_EQ(back.item(), 3);
}

TEST(ToDlpack, NoElementsIsANullPointer) {
  const Exported out(to_dlpack(from_vector<float>({}, {0, 3})));
  EXPECT_EQ(out->dl_tensor.data, nullptr);
  EXPECT_EQ(out->dl_tensor.shape[1], 3);
}

TEST(ToDlpack, NeedsValues) {
  const auto error = [](const Tensor& tensor) -> std::string {
    try {
      to_dlpack(tensor);
    } catch (const UserError& refusal) {
      return refusal.what();
    }
    return "no error";
  };
  EXPECT_EQ(error(Tensor()), "[to_dlpack] the tensor is undefined (a default-constructed Tensor)");
  const auto trace = std::make_shared<Trace>();
  EXPECT_EQ(error(trace->add_input(from_vector<float>({1}, {1}))),
            "[to_dlpack] values are not known while a function is being traced by compile()");
}

}  // namespace
}  // namespace sinter
