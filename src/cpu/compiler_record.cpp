// Cache notes: one lists compiler identities, one per line; one more for each compiler that works.
#include "src/cpu/compiler_record.h"

#include <algorithm>
#include <sstream>

#include "src/cpu/cpu_info.h"

namespace sinter {
namespace {

constexpr std::size_t kRemembered = 4;

Hash128 compilers_key(const std::string& cpu_fingerprint) {
  return Hasher().add("compilers").add(cpu_fingerprint).finish();
}

}  // namespace

std::vector<std::string> remembered_compilers(const DiskCache& cache,
                                              const std::string& cpu_fingerprint) {
  std::vector<std::string> identities;
  std::istringstream lines(cache.get_note(compilers_key(cpu_fingerprint)).value_or(""));
  for (std::string line; std::getline(lines, line) && identities.size() < kRemembered;)
    identities.push_back(line);
  return identities;
}

// If two processes write at once, the one that loses is recorded by the next process.
void remember_compiler(const DiskCache& cache, const std::string& cpu_fingerprint,
                       const std::string& identity) {
  std::vector<std::string> identities = remembered_compilers(cache, cpu_fingerprint);
  if (!identities.empty() && identities.front() == identity) return;
  std::erase(identities, identity);
  std::string text = identity + "\n";
  for (std::size_t i = 0; i < std::min(identities.size(), kRemembered - 1); ++i)
    text += identities[i] + "\n";
  (void)cache.put_note(compilers_key(cpu_fingerprint), text);  // failing to store it is harmless
}

std::string compiler_refusal(const HostCompiler& compiler, const DiskCache* cache) {
  const Hash128 key = Hasher()
                          .add("compiler works")
                          .add(compiler.identity())
                          .add(compiler.flags_text())
                          .add(cpu_fingerprint())
                          .finish();
  if (cache && cache->get_note(key)) return "";
  std::string refusal = compiler.try_out();
  if (cache && refusal.empty()) (void)cache->put_note(key, "yes");
  return refusal;
}

}  // namespace sinter
