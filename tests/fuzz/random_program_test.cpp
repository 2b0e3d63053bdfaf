// Random programs, fused and operation by operation, compiled and interpreted, against an f64
// reference with error bounds; and fused ones that round as eager operations do, bit for bit.
// To repeat one or more of them on some of interpreted, compiled, simt and cuda:
//   SINTER_FUZZ_EXECUTORS=compiled SINTER_FUZZ_SEED=7 SINTER_FUZZ_COUNT=1000
//     test_fuzz --gtest_filter=RandomPrograms.FromSeed
// To run new ones for some time: `make fuzz`.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <sstream>
#include <string>

#include "tests/fuzz/seeds.h"
#include "tests/support/gpu.h"

namespace sinter::fuzz {
namespace {

constexpr std::uint64_t kOthersEvery = 5;

std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text && *text ? std::strtoull(text, nullptr, 10) : otherwise;
}

std::vector<Place> places_from_environment() {
  const char* text = std::getenv("SINTER_FUZZ_EXECUTORS");
  std::vector<Place> places;
  std::istringstream names(text ? text : "interpreted,compiled");
  for (std::string name; std::getline(names, name, ',');)
    if (const auto place = place_named(name))
      places.push_back(*place);
    else
      ADD_FAILURE() << "SINTER_FUZZ_EXECUTORS: no executor is called " << name;
  return places;
}

// Shards are separate tests so that ctest -j spreads them over cores.
class RandomProgramShard : public testing::TestWithParam<std::uint64_t> {};

TEST_P(RandomProgramShard, CompiledOnesAgreeWithTheReference) {
  constexpr std::uint64_t kPrograms = 100;
  const Coverage coverage =
      check_seeds(GetParam() * kPrograms, kPrograms, executors_at(Place::cpu, kOthersEvery));
  RecordProperty("coverage", to_string(coverage));
  // The bounds must stay narrow enough to check something.
  EXPECT_LT(coverage.unknown * 20, coverage.elements) << to_string(coverage);
}
INSTANTIATE_TEST_SUITE_P(Seeds, RandomProgramShard, testing::Range<std::uint64_t>(0, 4));

// Interpreting takes a millisecond per program, so there are many, covering the whole op table.
TEST(RandomPrograms, InterpretedOnesAgreeWithTheReference) {
  const Coverage coverage = check_seeds(10000, 1500, executors_at(Place::interpreter, 1));
  if (HasFailure()) return;  // it stopped early
#define SINTER_POINTWISE(name, arity, rule, cost, ...) \
  EXPECT_GT(coverage.ops[static_cast<std::size_t>(Op::name)], 0) << #name " was never drawn";
#include <sinter/ops.def>
#undef SINTER_POINTWISE
  for (int kind = 0; kind < kStepKinds; ++kind)
    EXPECT_GT(coverage.kinds[static_cast<std::size_t>(kind)], 0)
        << name_of(static_cast<StepKind>(kind)) << " was never drawn";
  for (const int count : {coverage.numbers, coverage.equal_numbers, coverage.computed_products,
                          coverage.padded_products})
    EXPECT_GT(count, 20) << to_string(coverage);
}

TEST(RandomPrograms, FromSeed) {
  if (!std::getenv("SINTER_FUZZ_SEED")) GTEST_SKIP() << "set SINTER_FUZZ_SEED (and _COUNT)";
  for (Place place : places_from_environment()) {
    if (place == Place::cuda) SINTER_NEEDS_GPU();
    const Coverage coverage =
        check_seeds(number_from_environment("SINTER_FUZZ_SEED", 0),
                    number_from_environment("SINTER_FUZZ_COUNT", 1),
                    executors_at(place, number_from_environment("SINTER_FUZZ_OTHERS_EVERY", 1)));
    fmt::print("{}: {}\n", name_of(place), to_string(coverage));
  }
}

// New seeds in every run: fixed ones would never find new bugs.
TEST(RandomPrograms, Fresh) {
  const std::uint64_t seconds = number_from_environment("SINTER_FUZZ_SECONDS", 0);
  if (seconds == 0) GTEST_SKIP() << "set SINTER_FUZZ_SECONDS, or run `make fuzz`";
  for (Place place : places_from_environment()) {
    if (place == Place::cuda) SINTER_NEEDS_GPU();
    const std::uint64_t first = std::uint64_t{std::random_device()()} << 16;
    fmt::print("{}: seeds from {}, {} s\n", name_of(place), first, seconds);
    const std::uint64_t others_every = place == Place::interpreter ? 1 : kOthersEvery;
    const Coverage coverage =
        check_for(static_cast<double>(seconds), first, executors_at(place, others_every));
    fmt::print("{}: {}\n", name_of(place), to_string(coverage));
    EXPECT_LT(coverage.unknown * 20, coverage.elements);
  }
}

// As a GPU would run them.
class SimtProgramShard : public testing::TestWithParam<std::uint64_t> {};

TEST_P(SimtProgramShard, AgreesWithTheReference) {
  constexpr std::uint64_t kFirst = 20000;
  constexpr std::uint64_t kPrograms = 50;
  check_seeds(kFirst + GetParam() * kPrograms, kPrograms, executors_at(Place::simt, kOthersEvery));
}
INSTANTIATE_TEST_SUITE_P(Seeds, SimtProgramShard, testing::Range<std::uint64_t>(0, 2));

// On a GPU; shards so that a failure names few programs.
class RandomProgramsGpu : public testing::TestWithParam<std::uint64_t> {
 protected:
  void SetUp() override { SINTER_NEEDS_GPU(); }
};

TEST_P(RandomProgramsGpu, AgreeWithTheReference) {
  constexpr std::uint64_t kFirst = 30000;
  constexpr std::uint64_t kPrograms = 50;
  const Coverage coverage = check_seeds(kFirst + GetParam() * kPrograms, kPrograms,
                                        executors_at(Place::cuda, kOthersEvery));
  EXPECT_LT(coverage.unknown * 20, coverage.elements) << to_string(coverage);
}
INSTANTIATE_TEST_SUITE_P(Seeds, RandomProgramsGpu, testing::Range<std::uint64_t>(0, 4));

TEST(RandomPrograms, AreTheSameFromTheSameSeed) {
  for (std::uint64_t seed : {1u, 42u, 977u})
    EXPECT_EQ(to_string(generate(seed)), to_string(generate(seed)));
}

}  // namespace
}  // namespace sinter::fuzz
