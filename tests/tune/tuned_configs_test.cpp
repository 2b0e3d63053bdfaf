// A group's config: the file's if it is a candidate of the actual space, else the heuristic's.
#include "src/tune/tuned_configs.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "src/tune/signature.h"
#include "tests/support/graph_maker.h"

namespace sinter {
namespace {

using testing_support::GraphMaker;

constexpr char kModel[] = "GPU sm_90";

Machine gpu() {
  Machine machine;
  machine.kind = MachineKind::gpu;
  machine.multiprocessors = 132;
  machine.largest_cluster = 8;
  return machine;
}

class TunedConfigs : public ::testing::Test {
 protected:
  TunedConfigs()
      : folder_(std::filesystem::path(::testing::TempDir()) /
                ("tuned-configs-" + std::to_string(getpid()))),
        store_((folder_ / "tuning.json").string()) {
    GraphMaker maker;
    maker.output(maker.reduce(ReduceKind::sum, maker.input({1024, 2048}), {1}));
    plan_ = make_plan(maker.graph, {});
    space_ = iteration_space(plan_, 0);
    signature_ = group_signature(plan_, 0, space_);
  }
  ~TunedConfigs() override { std::filesystem::remove_all(folder_); }

  std::vector<Config> candidates(bool same_bits) const {
    return candidate_configs(space_, gpu(), same_bits);
  }
  // One that sums in another order than the heuristic.
  Config other_order() const {
    const std::vector<Config> same = candidates(true);
    for (const Config& each : candidates(false))
      if (std::find(same.begin(), same.end(), each) == same.end()) return each;
    ADD_FAILURE() << "all add in the same order";
    return {};
  }
  void put(const Config& config, bool same_bits) {
    TunedEntry entry;
    entry.choice = choice_of(config);
    store_.put({{TuningKey{kModel, signature_, same_bits}, entry}});
  }
  ChosenConfig chosen(bool same_bits, const std::string& model = kModel) const {
    return tuned_configs(store_, model, gpu(), same_bits)(plan_, 0, space_);
  }

  std::filesystem::path folder_;
  TuningStore store_;
  Plan plan_;
  IterationSpace space_;
  std::string signature_;
};

TEST_F(TunedConfigs, WithoutAnEntryTheHeuristicIsUsed) {
  EXPECT_EQ(chosen(false).origin, ConfigOrigin::heuristic);
  EXPECT_EQ(chosen(false).config, candidates(false).front());
}

TEST_F(TunedConfigs, AnEntryIsUsedOnItsGpuAlone) {
  put(other_order(), false);
  EXPECT_EQ(chosen(false).origin, ConfigOrigin::tuned);
  EXPECT_EQ(chosen(false).config, other_order());
  EXPECT_EQ(chosen(false, "GPU sm_80").origin, ConfigOrigin::heuristic);
}

TEST_F(TunedConfigs, TheCpuIsNotTuned) {
  put(other_order(), false);
  const ChosenConfig config = tuned_configs(store_, kModel, Machine{}, false)(plan_, 0, space_);
  EXPECT_EQ(config.origin, ConfigOrigin::heuristic);
  EXPECT_EQ(tiling_of(config.config).mapping.threads, 0);
}

TEST_F(TunedConfigs, BitsThatMayNotChangeDoNot) {
  put(other_order(), false);
  EXPECT_EQ(chosen(true).origin, ConfigOrigin::unsuited);
  EXPECT_EQ(chosen(true).config, candidates(true).front());
  put(candidates(true).back(), true);
  EXPECT_EQ(chosen(true).origin, ConfigOrigin::tuned);
  EXPECT_EQ(chosen(true).config, candidates(true).back());
  EXPECT_EQ(chosen(false).config, other_order()) << "each has its own";
}

TEST_F(TunedConfigs, EntriesStandInForEachOtherWhereTheyMay) {
  put(candidates(true).back(), true);
  EXPECT_EQ(chosen(false).config, candidates(true).back());
  store_.put({{TuningKey{kModel, signature_, true}, std::nullopt}});
  put(candidates(true).back(), false);
  EXPECT_EQ(chosen(true).config, candidates(true).back());
}

TEST_F(TunedConfigs, ChoicesThatAreNoCandidateAreNotUsed) {
  Config config = candidates(false).front();
  tiling_of(config).mapping.vector = 1;  // here vectors are longer
  put(config, false);
  EXPECT_EQ(chosen(false).origin, ConfigOrigin::unsuited);
  EXPECT_EQ(chosen(false).config, candidates(false).front());
}

}  // namespace
}  // namespace sinter
