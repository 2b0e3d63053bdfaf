// NVRTC's loader with a fake library; and this machine's NVRTC, if any, on good and bad texts for
// several architectures. No GPU is needed.
#include "src/cuda/nvrtc.h"

#include <gtest/gtest.h>
#include <sinter/error.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "src/cuda/cuda_compiler.h"
#include "src/cuda/library_paths.h"
#include "tests/cuda/fake/fake_nvrtc.h"

namespace sinter {
namespace {

std::string error_of_load(const std::vector<std::string>& paths) {
  try {
    Nvrtc::load(paths);
  } catch (const DeviceError& error) {
    return error.what();
  }
  return "loaded";
}

TEST(Nvrtc, NoneIsFound) {
  EXPECT_EQ(error_of_load({"libnvrtc_of_nobody.so.12", "libnvrtc_of_nobody.so"}),
            "NVRTC, the CUDA compiler library, was not found (looked for libnvrtc_of_nobody.so.12, "
            "libnvrtc_of_nobody.so): install the CUDA toolkit 12.0 or newer (or its package "
            "cuda-nvrtc alone), and let LD_LIBRARY_PATH or CUDA_HOME say where it is");
}

TEST(Nvrtc, TooOldOrAnotherLibrary) {
  FakeNvrtc& fake = fresh_fake_nvrtc();
  fake.major = 11;
  EXPECT_TRUE(error_of_load({"libnvrtc_of_nobody.so", SINTER_FAKE_NVRTC})
                  .starts_with(SINTER_FAKE_NVRTC " is of CUDA 11.8, and CUDA 12.0 or newer"));
  EXPECT_TRUE(error_of_load({"libm.so.6"})
                  .starts_with("libm.so.6 is not NVRTC of CUDA 12: it has no nvrtcVersion, and "));
  fake.major = 12;
  const auto nvrtc = Nvrtc::load({"libm.so.6", SINTER_FAKE_NVRTC});
  EXPECT_EQ(nvrtc->version_text(), "12.8");
  EXPECT_EQ(nvrtc->architectures(), fake.architectures);
}

TEST(Nvrtc, TheDriversGenerationIsLookedForFirst) {
  const std::vector<std::string> old = cuda_library_paths("nvrtc", 12080, "/opt/cuda", nullptr);
  EXPECT_EQ(old[0], "libnvrtc.so.12");
  EXPECT_EQ(old[1], "/opt/cuda/lib64/libnvrtc.so.12");
  EXPECT_EQ(cuda_library_paths("nvrtc", 13000, nullptr, "")[0], "libnvrtc.so.13");
  EXPECT_NE(std::find(old.begin(), old.end(), "/usr/local/cuda/lib/libnvrtc.so.13"), old.end());
}

TEST(Nvrtc, TheTargetIsTheGpusOwnOrPtx) {
  FakeNvrtc& fake = fresh_fake_nvrtc();
  const auto nvrtc = Nvrtc::load({SINTER_FAKE_NVRTC});
  EXPECT_EQ(choose_cuda_target(8, 0, *nvrtc).architecture, "sm_80");
  EXPECT_EQ(choose_cuda_target(9, 0, *nvrtc).architecture, "sm_90a");
  EXPECT_EQ(choose_cuda_target(10, 0, *nvrtc).architecture, "sm_100");
  EXPECT_EQ(choose_cuda_target(10, 0, *nvrtc).image, CudaImage::cubin);
  EXPECT_EQ(choose_cuda_target(8, 9, *nvrtc).architecture, "compute_80");
  EXPECT_EQ(choose_cuda_target(12, 0, *nvrtc).architecture, "compute_100");
  EXPECT_EQ(choose_cuda_target(12, 0, *nvrtc).image, CudaImage::ptx);
  try {
    choose_cuda_target(7, 5, *nvrtc);
    FAIL();
  } catch (const DeviceError& error) {
    EXPECT_STREQ(error.what(),
                 "the GPU has compute capability 7.5, and 8.0 (Ampere) or newer is needed");
  }
  EXPECT_EQ(fake.compiled, 0);
}

// --- this machine's -----------------------------------------------------------------------------

std::shared_ptr<const Nvrtc> this_machines(std::string& why) {
  try {
    return Nvrtc::find(13000);
  } catch (const DeviceError& error) {
    why = error.what();
    return nullptr;
  }
}

#define SINTER_NEEDS_NVRTC(nvrtc)        \
  std::string why;                       \
  const auto nvrtc = this_machines(why); \
  if (!nvrtc) GTEST_SKIP() << why

constexpr char kGood[] =
    "extern \"C\" __global__ void twice(float* x) { x[threadIdx.x] *= helper(2.0f); }";
const std::string kWithHelper = std::string("inline float helper(float x) { return x; }\n") + kGood;

TEST(ThisMachinesNvrtc, CompilesForEveryGpuWeKnow) {
  SINTER_NEEDS_NVRTC(nvrtc);
  for (const char* architecture : {"sm_80", "sm_90a", "sm_100"}) {
    const int number = std::stoi(std::string(architecture).substr(3));
    const std::vector<int>& known = nvrtc->architectures();
    if (std::find(known.begin(), known.end(), number) == known.end()) continue;
    const std::string cubin = nvrtc->compile(kWithHelper, "twice", architecture, CudaImage::cubin);
    EXPECT_TRUE(
        cubin.starts_with("\x7f"
                          "ELF"))
        << architecture;
    const std::string ptx = nvrtc->compile(kWithHelper, "twice", architecture, CudaImage::ptx);
    EXPECT_NE(ptx.find(".visible .entry twice("), std::string::npos) << ptx;
    EXPECT_NE(ptx.find(std::string(".target ") + architecture), std::string::npos) << ptx;
    EXPECT_EQ(ptx.find('\0'), std::string::npos);
  }
}

TEST(ThisMachinesNvrtc, ABadTextIsKeptAndQuoted) {
  SINTER_NEEDS_NVRTC(nvrtc);
  const std::string directory = testing::TempDir();
  try {
    nvrtc->compile("extern \"C\" __global__ void f() { undefined_thing(); }", "f", "sm_80",
                   CudaImage::cubin, directory);
    FAIL();
  } catch (const CompileError& error) {
    const std::string what = error.what();
    EXPECT_NE(what.find("did not compile kernel f for sm_80"), std::string::npos) << what;
    EXPECT_NE(error.log().find("undefined_thing"), std::string::npos) << error.log();
    EXPECT_NE(error.log().find("f.cu(1)"), std::string::npos) << error.log();
    EXPECT_NE(what.find("in " + error.source_path()), std::string::npos);
    EXPECT_TRUE(error.source_path().starts_with(directory + "/failed-")) << error.source_path();
    std::ostringstream kept;
    kept << std::ifstream(error.source_path()).rdbuf();
    EXPECT_NE(kept.str().find("undefined_thing"), std::string::npos);
    std::filesystem::remove(error.source_path());
  }
}

TEST(ThisMachinesNvrtc, CompilesFromManyThreads) {
  SINTER_NEEDS_NVRTC(nvrtc);
  std::vector<std::string> images(4);
  std::vector<std::thread> threads;
  for (std::string& image : images)
    threads.emplace_back([&image, nvrtc = nvrtc.get()] {
      image = nvrtc->compile(kWithHelper, "twice", "sm_80", CudaImage::cubin);
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& image : images) EXPECT_EQ(image, images[0]);
}

}  // namespace
}  // namespace sinter
