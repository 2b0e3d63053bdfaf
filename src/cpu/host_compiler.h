// The host's C++ compiler: found in PATH or given, run without a shell.
// In: a kernel's source text. Out: a shared library's bytes, or a CompileError.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace sinter {

struct HostCompilerOptions {
  std::string cxx;             // a path or a name; empty: the first of those in kLookedFor
  std::string failed_sources;  // the directory for sources that do not compile; empty: TMPDIR
  std::chrono::milliseconds time_limit{60'000};
  std::vector<std::string> more_flags = {};  // after the ones all kernels are compiled with
};

class HostCompiler {
 public:
  static constexpr char kLookedFor[] = "c++, g++, clang++";

  // Nothing where no compiler is installed; UserError where the one asked for is not there.
  static std::unique_ptr<HostCompiler> find(const HostCompilerOptions& options);

  // The bytes of a shared library. `name` is for messages. Safe from many threads.
  std::string compile(const std::string& source, const std::string& name) const;

  const std::string& path() const { return path_; }
  // The first line it prints of its version, or why there is none.
  std::string version(std::chrono::milliseconds time_limit = std::chrono::seconds(2)) const;
  // The compiler's real path, size and time of change: another version is another identity.
  const std::string& identity() const { return identity_; }
  std::string flags_text() const { return flags_text(options_.more_flags); }
  static std::string flags_text(const std::vector<std::string>& more_flags);

  // Compiles a kernel that does nothing. Why it cannot; empty if it can.
  std::string try_out() const;

 private:
  HostCompiler(std::string path, const HostCompilerOptions& options);

  struct Attempt {
    std::string library;  // empty: it failed
    std::string reason;   // then
    std::string output;
  };
  Attempt attempt(const std::string& source, std::chrono::milliseconds time_limit) const;

  std::string path_;
  std::string identity_;
  HostCompilerOptions options_;
};

}  // namespace sinter
