// The host's C++ compiler, run without a shell. In: a kernel's source text. Out: a shared library's
// bytes, or a CompileError.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace sinter {

struct HostCompilerOptions {
  std::string cxx;             // a path or a name; empty: the first of kLookedFor
  std::string failed_sources;  // directory for sources that do not compile; empty: TMPDIR
  std::chrono::milliseconds time_limit{60'000};
  std::vector<std::string> more_flags = {};  // appended to the flags of all kernels
};

class HostCompiler {
 public:
  static constexpr char kLookedFor[] = "c++, g++, clang++";

  // Null if no compiler is installed; UserError if options.cxx names one that is not there.
  static std::unique_ptr<HostCompiler> find(const HostCompilerOptions& options);

  // The bytes of a shared library. `name` is for messages. Thread-safe.
  std::string compile(const std::string& source, const std::string& name) const;

  const std::string& path() const { return path_; }
  // The first line of `--version`, or why there is none.
  std::string version(std::chrono::milliseconds time_limit = std::chrono::seconds(2)) const;
  // Real path, size and modification time, so that another version is another identity.
  const std::string& identity() const { return identity_; }
  std::string flags_text() const { return flags_text(options_.more_flags); }
  static std::string flags_text(const std::vector<std::string>& more_flags);

  // Compiles an empty kernel. Returns why it failed, or an empty string.
  std::string try_out() const;

 private:
  HostCompiler(std::string path, const HostCompilerOptions& options);

  struct Attempt {
    std::string library;  // empty on failure
    std::string reason;   // set on failure
    std::string output;
  };
  Attempt attempt(const std::string& source, std::chrono::milliseconds time_limit) const;

  std::string path_;
  std::string identity_;
  HostCompilerOptions options_;
};

}  // namespace sinter
