// The limit's copy really copies.
#include "src/suite/measure/copy_limit.h"

#include <gtest/gtest.h>
#include <sinter/device.h>

#include "src/runtime/registry.h"
#include "src/suite/measure/copy_kernel.h"

namespace sinter::suite {
namespace {

TEST(ParallelCopy, CopiesAllAndNoMore) {
  ThreadPool threads(3);
  devices();
  for (std::size_t bytes : {1u, 63u, 64u, 4095u, 4097u, 100'001u}) {
    const StoragePtr from = find_device("cpu")->allocate(bytes);
    const StoragePtr to = find_device("cpu")->allocate(bytes + 1);
    auto* source = static_cast<unsigned char*>(from->data());
    auto* target = static_cast<unsigned char*>(to->data());
    for (CopyKind kind : {CopyKind::plain, CopyKind::streaming}) {
      for (std::size_t i = 0; i < bytes; ++i) source[i] = static_cast<unsigned char>(i * 7 + 1);
      std::fill_n(target, bytes + 1, 0);
      parallel_copy(threads, kind, source, target, bytes);
      EXPECT_TRUE(std::equal(source, source + bytes, target)) << bytes;
      EXPECT_EQ(target[bytes], 0) << bytes;
    }
  }
}

TEST(CopyKernel, CopiesAllAndNoMore) {
  devices();
  const std::shared_ptr<Device> cpu = find_device("cpu");
  for (std::size_t bytes : {16u, 4096u, 100'000u}) {
    const StoragePtr from = cpu->allocate(bytes);
    const StoragePtr to = cpu->allocate(bytes + 1);
    auto* source = static_cast<unsigned char*>(from->data());
    auto* target = static_cast<unsigned char*>(to->data());
    for (std::size_t i = 0; i < bytes; ++i) source[i] = static_cast<unsigned char>(i * 7 + 1);
    std::fill_n(target, bytes + 1, 0);
    CopyKernel(bytes, cpu).launch(source, target);
    EXPECT_TRUE(std::equal(source, source + bytes, target)) << bytes;
    EXPECT_EQ(target[bytes], 0) << bytes;
  }
}

TEST(CopyLimit, CopiesHalfOfTheBytesInTheWayItChose) {
  ThreadPool threads(2);
  devices();
  for (std::int64_t bytes : {2, 131'072, 64 << 20}) {
    const CopyLimit limit(bytes, find_device("cpu"), threads, *wall_stopwatch());
    EXPECT_NE(limit.way().means, CopyMeans::device) << "the host shares the CPU's memory";
    EXPECT_GT(limit.buffer_bytes(), 0u);
    auto* source = static_cast<unsigned char*>(limit.source()->data());
    auto* target = static_cast<unsigned char*>(limit.target()->data());
    for (std::size_t i = 0; i < limit.buffer_bytes(); ++i) {
      source[i] = static_cast<unsigned char>(i * 7 + 1);
      target[i] = 0;
    }
    limit.run();
    EXPECT_TRUE(std::equal(source, source + limit.buffer_bytes(), target)) << bytes;
  }
}

}  // namespace
}  // namespace sinter::suite
