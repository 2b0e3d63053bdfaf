// The kernel cache's record of compilers: which ones built its kernels, so that these are found
// when there is no compiler, and which ones are known to work.
#pragma once

#include <string>
#include <vector>

#include "src/cpu/host_compiler.h"
#include "src/runtime/disk_cache.h"

namespace sinter {

// Identities of the compilers last used for this processor, most recent first.
std::vector<std::string> remembered_compilers(const DiskCache& cache,
                                              const std::string& cpu_fingerprint);
void remember_compiler(const DiskCache& cache, const std::string& cpu_fingerprint,
                       const std::string& identity);

// Why the compiler cannot compile anything; empty if it works, which is recorded in `cache` (may be
// null). A failure is not recorded: it may be temporary.
std::string compiler_refusal(const HostCompiler& compiler, const DiskCache* cache);

}  // namespace sinter
