// tune() of the public API on a scripted GPU: its findings are used by the next call and the next
// program, shown by explain(), and never violate the promise of the same bits.
#include <gtest/gtest.h>
#include <sinter/sinter.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "src/lower/family.h"
#include "src/runtime/registry.h"
#include "src/tune/tuning_file.h"
#include "tests/tune/scripted_device.h"

namespace sinter {
namespace {

using testing_support::ScriptedDevice;

// Runs before the environment's options are read.
const std::string kFolder = [] {
  std::string folder = ::testing::TempDir() + "program-tuning-" + std::to_string(getpid());
  setenv("SINTER_TUNING_FILE", (folder + "/tuning.json").c_str(), 1);
  return folder;
}();

std::shared_ptr<ScriptedDevice> scripted() {
  static const auto device = std::make_shared<ScriptedDevice>();
  register_device("scripted", [] { return device; });
  return device;
}

bool keeps_any(const tile::TileProgram& program) { return program.caching == tile::Caching::any; }

class ProgramTuning : public ::testing::Test {
 protected:
  void SetUp() override {
    device_ = scripted();
    device_->time_us = [](const auto& program) { return keeps_any(program) ? 60.0 : 100.0; };
    device_->on_launch = [](const auto&) {};
    std::vector<float> values(16 * 256);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(i * 7919 % 1009) / 500 - 1;
    x_ = from_vector(values, {16, 256}, "scripted");
  }
  void TearDown() override {
    environment_tuning().put(all_gone());
    std::filesystem::remove_all(kFolder);
  }
  static TuningChanges all_gone() {
    TuningChanges changes;
    for (const auto& [key, entry] : parse_tuning(file_text()).table) changes[key] = std::nullopt;
    return changes;
  }
  static std::string file_text() {
    std::ifstream file(environment_tuning().path());
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static Tensor softmax_of(const Tensor& x) { return softmax(x * 0.5); }
  // The largest difference of two results.
  static float difference(const Tensor& a, const Tensor& b) {
    const std::vector<float> x = a.to_vector<float>();
    const std::vector<float> y = b.to_vector<float>();
    float most = 0;
    for (std::size_t i = 0; i < x.size(); ++i) most = std::max(most, std::abs(x[i] - y[i]));
    return most;
  }

  std::shared_ptr<ScriptedDevice> device_;
  Tensor x_;
};

TEST_F(ProgramTuning, IsUsedByTheNextCallAndByTheNextProgram) {
  const auto f = compile(softmax_of);
  const Tensor before = f(x_);
  EXPECT_NE(f.explain().find("config: heuristic"), std::string::npos) << f.explain();
  EXPECT_NE(f.explain().find("keeps operands"), std::string::npos) << f.explain();
  const TuneReport report = tune(f, {{x_}});
  ASSERT_EQ(report.kernels.size(), 1u);
  EXPECT_TRUE(report.kernels[0].changed);
  EXPECT_DOUBLE_EQ(report.kernels[0].us, 60);
  EXPECT_DOUBLE_EQ(report.kernels[0].heuristic_us, 100);
  EXPECT_EQ(report.kernels[0].config.find("keeps"), std::string::npos);
  EXPECT_EQ(report.file, kFolder + "/tuning.json");
  EXPECT_NE(f.explain().find("config: tuned"), std::string::npos) << f.explain();
  EXPECT_LT(difference(f(x_), before), 1e-6f);

  const auto again = compile([](const Tensor& x) { return softmax(x * 0.25); });
  EXPECT_TRUE(again.plan({{x_}}).kernels[0].tuned) << "a constant does not count";
  EXPECT_NE(file_text().find("Scripted GPU sm_90"), std::string::npos);
}

TEST_F(ProgramTuning, EntriesThatNoLongerWinAreRemoved) {
  const auto f = compile(softmax_of);
  tune(f, {{x_}});
  ASSERT_TRUE(f.plan({{x_}}).kernels[0].tuned);
  device_->time_us = [](const auto&) { return 100.0; };
  EXPECT_FALSE(tune(f, {{x_}}).kernels[0].changed);
  EXPECT_FALSE(f.plan({{x_}}).kernels[0].tuned);
  EXPECT_EQ(environment_tuning().size(), 0u);
}

TEST_F(ProgramTuning, KernelsAreTunedOneByOneWithTheirOwnInputs) {
  const auto f = compile(softmax_of, {.fuse = false});
  const Tensor before = f(x_);
  const TuneReport report = tune(f, {{x_}});
  EXPECT_GT(report.kernels.size(), 2u);
  for (const KernelTuning& kernel : report.kernels) {
    EXPECT_TRUE(kernel.changed) << kernel.name;
    EXPECT_EQ(kernel.wrong, 0) << kernel.name;
  }
  EXPECT_LT(difference(f(x_), before), 1e-6f);
}

TEST_F(ProgramTuning, ADeterministicFunctionKeepsItsBits) {
  const int usual = [&] {
    const IterationSpace space;
    int threads = 0;
    device_->on_launch = [&](const tile::TileProgram& p) { threads = p.mapping.threads_per_row; };
    compile(softmax_of, {.deterministic = true})(x_);
    return threads;
  }();
  // Other summation orders are far faster.
  device_->on_launch = [](const auto&) {};
  device_->time_us = [&](const tile::TileProgram& program) {
    return program.mapping.threads_per_row != usual ? 40.0 : keeps_any(program) ? 80.0 : 100.0;
  };
  const auto free = compile(softmax_of);
  const auto bound = compile(softmax_of, {.deterministic = true});
  const std::vector<float> bits = bound(x_).to_vector<float>();
  EXPECT_DOUBLE_EQ(tune(free, {{x_}}).kernels[0].us, 40);
  EXPECT_TRUE(free.plan({{x_}}).kernels[0].tuned);
  const auto fresh = compile(softmax_of, {.deterministic = true});
  EXPECT_FALSE(fresh.plan({{x_}}).kernels[0].tuned) << "what is in the file adds in another order";
  EXPECT_EQ(fresh(x_).to_vector<float>(), bits);

  EXPECT_DOUBLE_EQ(tune(bound, {{x_}}).kernels[0].us, 80);
  EXPECT_TRUE(bound.plan({{x_}}).kernels[0].tuned);
  EXPECT_EQ(bound(x_).to_vector<float>(), bits);
  EXPECT_EQ(environment_tuning().size(), 2u) << "the other one stays";
  EXPECT_DOUBLE_EQ(tune(free, {{x_}}).kernels[0].us, 40);
}

TEST_F(ProgramTuning, CanBeStoppedAndTellsWhereItIs) {
  const auto f = compile(softmax_of, {.fuse = false});
  int calls = 0;
  TuneOptions options;
  options.progress = [&](const TuneProgress& at) {
    EXPECT_LT(at.kernel, at.kernels);
    return ++calls < 3;
  };
  const TuneReport report = tune(f, {{x_}}, options);
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(report.kernels.size(), 1u);
  EXPECT_FALSE(report.kernels[0].finished);
}

TEST_F(ProgramTuning, NothingToComputeIsNothingToTune) {
  const auto f = compile(softmax_of);
  EXPECT_TRUE(tune(f, {{zeros({0, 256}, DType::f32, "scripted")}}).kernels.empty());
}

TEST_F(ProgramTuning, OtherDevicesAreRefused) {
  const auto f = compile(softmax_of);
  const Tensor on_cpu = zeros({4, 4}, DType::f32, "cpu");
  EXPECT_THROW(tune(f, {{on_cpu}}), UserError);
  EXPECT_THROW(tune(f, {}), UserError);
  try {
    tune(f, {{from_vector(std::vector<float>(16), {4, 4}, "simt")}});
    FAIL() << "times of simt mean nothing";
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("tune on cuda"), std::string::npos) << error.what();
  }
  EXPECT_THROW(tune(f, {{x_}}, {.seconds = 0}), UserError);
}

}  // namespace
}  // namespace sinter
