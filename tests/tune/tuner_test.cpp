// The tuner's decisions, on a device whose times are scripted.
#include "src/tune/tuner.h"

#include <gtest/gtest.h>
#include <sinter/error.h>

#include <set>

#include "src/lower/family.h"
#include "tests/support/graph_maker.h"
#include "tests/tune/scripted_device.h"

namespace sinter {
namespace {

using testing_support::along_rows;
using testing_support::GraphMaker;
using testing_support::ScriptedDevice;
using testing_support::transposed;

constexpr std::int64_t kRows = 8;
constexpr std::int64_t kCols = 512;

// x - sum(x) along the rows: the summation order shows.
class TunerTest : public ::testing::Test {
 protected:
  TunerTest() {
    GraphMaker maker;
    const Operand x = maker.input({kRows, kCols});
    const Operand sums = maker.reduce(ReduceKind::sum, x, {1});
    maker.output(maker.op(Op::sub, {x, along_rows(sums, kCols)}));
    plan_ = make_plan(maker.graph, {});
    EXPECT_EQ(plan_.groups.size(), 1u);
    x_.resize(kRows * kCols);
    y_.resize(kRows * kCols);
    for (std::size_t i = 0; i < x_.size(); ++i)
      x_[i] = 0.1f + 1e-3f * static_cast<float>(i * 7919 % 1009);
  }

  TuneTarget target() {
    return {plan_,
            0,
            device_.machine(),
            [this](const KernelBuffer& buffer) -> tile::BufferBinding {
              std::vector<float>& all = buffer.node == plan_.graph.inputs[0] ? x_ : y_;
              return {all.data() + buffer.offset,
                      static_cast<std::int64_t>(all.size()) - buffer.offset};
            },
            {}};
  }
  TunedKernel tune(TunerOptions options = {}) {
    if (options.compile_threads == 0) options.compile_threads = 2;
    return tune_kernel(device_, target(), options);
  }
  std::vector<Config> candidates(bool same_bits = false) const {
    return candidate_configs(iteration_space(plan_, 0), device_.machine(), same_bits);
  }
  Config heuristic() const { return candidates().front(); }
  // Not a heuristic's choice: fewer or more threads per row.
  static bool is_threads_per_row(const tile::TileProgram& program, int threads) {
    return program.mapping.threads_per_row == threads;
  }
  void expect_right() const {
    for (std::int64_t row = 0; row < kRows; ++row) {
      double sum = 0;
      for (std::int64_t col = 0; col < kCols; ++col)
        sum += x_[static_cast<std::size_t>(row * kCols + col)];
      const auto at = static_cast<std::size_t>(row * kCols + 5);
      EXPECT_NEAR(y_[at], x_[at] - sum, 1e-3 * sum) << row;
    }
  }

  ScriptedDevice device_;
  Plan plan_;
  std::vector<float> x_, y_;
};

TEST_F(TunerTest, TakesTheFastest) {
  ASSERT_FALSE(tiling_of(heuristic()).mapping.threads_per_row == 64);
  device_.time_us = [](const auto& program) {
    return is_threads_per_row(program, 64) ? 70.0 : 100.0;
  };
  const TunedKernel tuned = tune();
  EXPECT_TRUE(tuned.changed());
  EXPECT_TRUE(tuned.finished);
  EXPECT_EQ(tiling_of(tuned.config).mapping.threads_per_row, 64);
  EXPECT_DOUBLE_EQ(tuned.us, 70);
  EXPECT_DOUBLE_EQ(tuned.heuristic_us, 100);
  EXPECT_EQ(tuned.candidates, static_cast<int>(candidates().size()) - tuned.duplicates);
  EXPECT_EQ(tuned.measured, tuned.candidates);
  ASSERT_EQ(static_cast<int>(tuned.trials.size()), tuned.measured);
  EXPECT_EQ(tuned.trials[0].config, tuned.heuristic);
  EXPECT_EQ(tuned.failed + tuned.wrong + tuned.stopped, 0) << tuned.first_failure;
  expect_right();
}

// All but the heuristic's and the one that is kept.
TEST_F(TunerTest, LosingKernelsAreUnloaded) {
  device_.time_us = [](const auto& program) {
    return is_threads_per_row(program, 64) ? 70.0 : is_threads_per_row(program, 32) ? 80.0 : 100.0;
  };
  const TunedKernel tuned = tune();
  ASSERT_TRUE(tuned.changed());
  std::multiset<std::string> kept = device_.compiled_texts;
  for (const std::string& text : device_.forgotten_texts) {
    ASSERT_TRUE(kept.contains(text));
    kept.erase(kept.find(text));
  }
  const IterationSpace space = iteration_space(plan_, 0);
  const std::multiset<std::string> expected{
      device_.text(lower(plan_, 0, space, tuned.heuristic).program()),
      device_.text(lower(plan_, 0, space, tuned.config).program())};
  EXPECT_EQ(kept, expected);
}

TEST_F(TunerTest, KernelsNotMeasuredInTimeAreUnloaded) {
  TunerOptions options;
  options.compile_threads = 4;
  options.progress = [](const TuningProgress& at) { return at.done < 2; };
  const TunedKernel tuned = tune(options);
  ASSERT_FALSE(tuned.changed());
  EXPECT_GT(device_.compiled, 2);
  EXPECT_EQ(device_.forgotten_texts.size(), device_.compiled_texts.size() - 1);
}

TEST_F(TunerTest, AnotherWithinTwoPercentOrTheNoiseChangesNothing) {
  device_.time_us = [](const auto& program) {
    return is_threads_per_row(program, 64) ? 99.0 : 100.0;
  };
  EXPECT_FALSE(tune().changed()) << "1 %";
  device_.time_us = [](const auto& program) {
    return is_threads_per_row(program, 64) ? 95.0 : 100.0;
  };
  EXPECT_TRUE(tune().changed()) << "5 %";
  device_.noise = 0.4;
  EXPECT_FALSE(tune().changed()) << "5 % among samples that differ by 40 %";
}

TEST_F(TunerTest, MuchSlowerCandidatesAreStoppedEarly) {
  std::set<std::string> slow;
  device_.time_us = [&](const tile::TileProgram& program) {
    if (program.caching != tile::Caching::any) return 100.0;
    slow.insert(device_.text(program));
    return 151.0;
  };
  const TunedKernel tuned = tune();
  EXPECT_FALSE(tuned.changed());
  EXPECT_EQ(tuned.stopped, static_cast<int>(slow.size()));
  EXPECT_GT(tuned.stopped, 0);
  for (const std::string& text : slow) EXPECT_EQ(device_.samples[text], 3);
}

TEST_F(TunerTest, TheSameTextIsCompiledOnce) {
  device_.text = [](const tile::TileProgram& program) {  // whatever the caching
    tile::TileProgram other = program;
    other.caching = tile::Caching::any;
    return key_of(other).hex();
  };
  const TunedKernel tuned = tune();
  EXPECT_EQ(tuned.duplicates, static_cast<int>(candidates().size()) / 2);
  EXPECT_EQ(device_.compiled, tuned.candidates);
}

TEST_F(TunerTest, KeepsToItsTime) {
  double now = 0;
  device_.on_compile = [&](const auto&) { now += 1; };
  TunerOptions options;
  options.now = [&] { return now; };
  options.seconds = 4.5;  // the heuristic and two batches of two
  const TunedKernel tuned = tune(options);
  EXPECT_FALSE(tuned.finished);
  EXPECT_EQ(device_.compiled, 5);
  options.seconds = 0;
  const TunedKernel none = tune(options);
  EXPECT_FALSE(none.finished);
  EXPECT_EQ(none.measured, 1) << "the heuristic is always measured";
}

TEST_F(TunerTest, CanBeStopped) {
  std::size_t last = 0;
  TunerOptions options;
  options.progress = [&](const TuningProgress& at) {
    EXPECT_LE(at.done, at.total);
    EXPECT_GT(at.best_us, 0);
    last = at.done;
    return at.done < 3;
  };
  const TunedKernel tuned = tune(options);
  EXPECT_FALSE(tuned.finished);
  EXPECT_EQ(last, 3u);
  EXPECT_EQ(tuned.measured, 3);
}

TEST_F(TunerTest, CandidatesThatDoNotCompileOrLaunchAreSkipped) {
  device_.on_compile = [](const tile::TileProgram& program) {
    if (is_threads_per_row(program, 64)) throw CompileError("does not compile", "", "");
  };
  device_.on_launch = [](const tile::TileProgram& program) {
    if (is_threads_per_row(program, 128)) throw DeviceError("does not launch", "launch", 701);
  };
  device_.time_us = [](const auto& program) {
    return is_threads_per_row(program, 16) ? 80.0 : 100.0;
  };
  const TunedKernel tuned = tune();
  EXPECT_GE(tuned.failed, 2);
  EXPECT_FALSE(tuned.first_failure.empty());
  EXPECT_EQ(tiling_of(tuned.config).mapping.threads_per_row, 16)
      << "the others are tried all the same";
  expect_right();
}

TEST_F(TunerTest, TheHeuristicsOwnFailureIsAnError) {
  device_.on_compile = [](const auto&) { throw CompileError("does not compile", "", ""); };
  EXPECT_THROW(tune(), CompileError);
}

TEST_F(TunerTest, AWrongResultIsNeverTaken) {
  device_.time_us = [](const auto& program) {
    return is_threads_per_row(program, 64) ? 10.0 : 100.0;
  };
  device_.after_launch = [](const tile::TileProgram& program,
                            std::span<const tile::BufferBinding> buffers) {
    for (std::size_t i = 0; i < buffers.size(); ++i)
      if (program.buffers[i].written && is_threads_per_row(program, 64))
        static_cast<float*>(buffers[i].data)[buffers[i].elements - 1] += 100;
  };
  const TunedKernel tuned = tune();
  EXPECT_FALSE(tuned.changed());
  EXPECT_GT(tuned.wrong, 0);
  expect_right();
}

TEST_F(TunerTest, SameBitsTriesOnlyTheHeuristicsOrderAndChecksBits) {
  device_.time_us = [&](const tile::TileProgram& program) {
    return program.caching == tile::Caching::any ||
                   !is_threads_per_row(program, tiling_of(heuristic()).mapping.threads_per_row)
               ? 50.0
               : 100.0;
  };
  TunerOptions options;
  options.same_bits = true;
  const TunedKernel tuned = tune(options);
  EXPECT_EQ(tiling_of(tuned.config).mapping.threads_per_row,
            tiling_of(heuristic()).mapping.threads_per_row);
  EXPECT_EQ(tiling_of(tuned.config).caching, tile::Caching::any);
  EXPECT_EQ(tuned.candidates, static_cast<int>(candidates(true).size()));

  // The last bit of one element: close enough, unless bits are promised.
  device_.after_launch = [](const tile::TileProgram& program,
                            std::span<const tile::BufferBinding> buffers) {
    for (std::size_t i = 0; i < buffers.size(); ++i)
      if (program.buffers[i].written && program.caching == tile::Caching::any) {
        float& value = *static_cast<float*>(buffers[i].data);
        value = std::nextafter(value, 0.0f);
      }
  };
  EXPECT_FALSE(tune(options).changed());
  options.same_bits = false;
  EXPECT_TRUE(tune(options).changed());
}

TEST_F(TunerTest, TheKnownChoiceIsMeasuredFirst) {
  const std::vector<Config> all = candidates();
  TuneTarget with_known = target();
  with_known.known = choice_of(all.back());
  device_.time_us = [&](const tile::TileProgram& program) {
    return program.mapping.threads_per_row == tiling_of(all.back()).mapping.threads_per_row &&
                   program.mapping.threads == tiling_of(all.back()).mapping.threads
               ? 60.0
               : 100.0;
  };
  TunerOptions options;
  options.compile_threads = 1;
  options.progress = [](const TuningProgress& at) { return at.done < 2; };
  const TunedKernel tuned = tune_kernel(device_, with_known, options);
  EXPECT_EQ(choice_of(tuned.config), choice_of(all.back()));
}

}  // namespace
}  // namespace sinter
