// Measured on an H200 (60 MB of L2) with rows and tiles of 1 MB to 4 GB, with a cold cache, in
// chains of kernels, and between kernels of other programs.
#include "src/lower/gpu_caching.h"

namespace sinter {
namespace {

using tile::Caching;

// As fractions of the cache size.
constexpr double kResultsFit = 0.7;
constexpr double kReducedIsMuch = 0.5;
constexpr double kReducedIsTooMuch = 6;

struct CachingFacts {
  const GpuFacts& facts;
  bool loops;

  double share_of_cache(std::int64_t bytes) const {
    return static_cast<double>(bytes) / static_cast<double>(facts.machine.cache_bytes);
  }
  double all() const { return share_of_cache(facts.space.bytes); }
  double results() const { return share_of_cache(facts.written_bytes()); }
};

constexpr Rule<CachingFacts, Caching> kCachingRules[] = {
    {"rows are read more than once",
     [](const CachingFacts& f) {
       return f.loops && (f.facts.space.needs_rows_again || f.facts.space.reductions > 1);
     },
     [](const CachingFacts&) { return Caching::operands; }, "the next pass reads them from L2"},
    {"only reduced, half to six times the cache",
     [](const CachingFacts& f) {
       return !f.facts.writes_elements() && f.all() > kReducedIsMuch && f.all() < kReducedIsTooMuch;
     },
     [](const CachingFacts&) { return Caching::results; },
     "measured on an H200: what is only reduced does not evict other kernels' results"},
    {"only reduced, other sizes", [](const CachingFacts& f) { return !f.facts.writes_elements(); },
     [](const CachingFacts&) { return Caching::operands; },
     "measured on an H200: keeping operands gains 1-7% nearly everywhere and costs nothing"},
    {"results fit the cache, but not with the operands",
     [](const CachingFacts& f) { return f.all() > 1 && f.results() < kResultsFit; },
     [](const CachingFacts&) { return Caching::results; },
     "measured on an H200: gains 5-15%, because the next kernel reads the results"},
    {"other data", [](const CachingFacts&) { return true; },
     [](const CachingFacts&) { return Caching::operands; },
     "measured on an H200: keeping operands gains 1-7% nearly everywhere and costs nothing"},
};
constexpr char kCachePart[] = "L2 cache";

}  // namespace

void choose_caching(const GpuFacts& facts, bool loops, Offer& offer) {
  const CachingFacts caching{facts, loops};
  const auto& rule = first_rule(kCachingRules, caching);
  for (Config& config : offer.configs) tiling_of(config).caching = rule.choose(caching);
  offer.rules.push_back(text_of(kCachePart, rule));
}

void choose_or_omit_caching(const GpuFacts& facts, bool loops, Offer& offer) {
  const std::vector<Config> without = offer.configs;  // Caching::any
  choose_caching(facts, loops, offer);
  offer.configs.insert(offer.configs.end(), without.begin(), without.end());
}

void list_caching_rules(std::vector<RuleText>& texts) {
  list_rules(kCachePart, kCachingRules, texts);
}

}  // namespace sinter
