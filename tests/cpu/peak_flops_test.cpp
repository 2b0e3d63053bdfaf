// The arithmetic peak: the kernel does the counted work, and the device measures it once.
#include "src/cpu/peak_flops.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "src/base/check.h"
#include "src/cpu/cpu_device.h"
#include "src/cpu/cpu_info.h"
#include "src/runtime/temporary_directory.h"

namespace sinter {
namespace {

// A loaded kernel, called as the device would.
class PeakFlopsKernel : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    const auto compiler = HostCompiler::find({});
    if (!compiler) GTEST_SKIP() << "no compiler on this machine";
    if (GetParam() > native_vector_bytes()) GTEST_SKIP() << "no vectors of " << GetParam();
    const KernelSource source = peak_flops_kernel(GetParam());
    const auto cache = DiskCache::open_private();
    std::string error;
    const PutResult kept =
        cache->put(hash_bytes(source.text()), compiler->compile(source.text(), "p"));
    library_ = LoadedLibrary::load(kept.path, error);
    ASSERT_TRUE(library_) << error;
    entry_ = reinterpret_cast<KernelEntry>(library_->symbol(source.entry));
    ASSERT_TRUE(entry_);
  }

  // The sum that program 1 of 3 leaves behind.
  float run(float start, std::int64_t rounds) {
    std::array<float, 3> values{7, start, 7};
    const std::array buffers{tile::BufferBinding{values.data(), 3}};
    entry_(buffers.data(), &rounds, 1, 2, nullptr);
    EXPECT_EQ(values[0], 7);
    EXPECT_EQ(values[2], 7);
    return values[1];
  }
  int elements() const { return static_cast<int>(flops_of_round(GetParam()) / 2); }

  std::unique_ptr<LoadedLibrary> library_;
  KernelEntry entry_ = nullptr;
};

TEST_P(PeakFlopsKernel, DoesWhatItsRoundsSay) {
  EXPECT_GE(elements(), 10 * GetParam() / 4);
  const float none = run(0, 0);
  EXPECT_GT(none, 0) << "the chains start apart";
  EXPECT_FLOAT_EQ(run(1, 0), none + static_cast<float>(elements()));
  // Every element goes from a to 0.75 a + 0.5.
  EXPECT_FLOAT_EQ(run(0, 1), 0.75F * none + 0.5F * static_cast<float>(elements()));
}

TEST_P(PeakFlopsKernel, StaysBounded) {
  EXPECT_FLOAT_EQ(run(0, 100'000), 2 * static_cast<float>(elements()));
}

INSTANTIATE_TEST_SUITE_P(Vectors, PeakFlopsKernel, testing::Values(16, 32, 64));

TEST(PeakFlops, IsMeasuredOnceAndKeptOnDisk) {
  if (!HostCompiler::find({})) GTEST_SKIP() << "no compiler on this machine";
  const TemporaryDirectory directory;
  const auto device = make_cpu_device({2, directory.path() + "/cache", "", 0});
  const std::optional<double> first = device->peak_flops();
  ASSERT_TRUE(first);
  EXPECT_TRUE(std::isfinite(*first));
  EXPECT_GT(*first, 1e7);
  EXPECT_EQ(device->peak_flops(), first);
  EXPECT_EQ(device->disk_cache().stats().entries, 1u);
  EXPECT_TRUE(make_cpu_device({2, directory.path() + "/cache", "", 0})->peak_flops());
  EXPECT_EQ(device->disk_cache().stats().entries, 1u);
}

TEST(PeakFlops, IsNoneWithoutACompiler) {
  const WarningHandler before = set_warning_handler([](const std::string&) {});
  EXPECT_EQ(make_cpu_device({1, "", "none", 0})->peak_flops(), std::nullopt);
  EXPECT_EQ(make_cpu_device({1, "", "/bin/false", 0})->peak_flops(), std::nullopt);
  set_warning_handler(before);
}

}  // namespace
}  // namespace sinter
