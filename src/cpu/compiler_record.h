// What a kernel cache remembers about compilers: which ones built its kernels, so that they are
// found when there is no compiler, and which ones are known to work.
#pragma once

#include <string>
#include <vector>

#include "src/cpu/host_compiler.h"
#include "src/runtime/disk_cache.h"

namespace sinter {

// The identities of the compilers used last for this processor, the latest first.
std::vector<std::string> remembered_compilers(const DiskCache& cache,
                                              const std::string& cpu_fingerprint);
void remember_compiler(const DiskCache& cache, const std::string& cpu_fingerprint,
                       const std::string& identity);

// Why the compiler compiles nothing; empty where it works, which is remembered in `cache` (null:
// nowhere). A failure is not: it may be gone the next time.
std::string compiler_refusal(const HostCompiler& compiler, const DiskCache* cache);

}  // namespace sinter
