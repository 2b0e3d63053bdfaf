// Reads and checks the SINTER_* variables. A variable that is set but empty counts as unset.
#include "src/base/options.h"

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "src/base/check.h"

namespace sinter {
namespace {

std::string text_of(const char* value) { return value ? value : ""; }

std::string default_cache_dir(const char* (*get)(const char*)) {
  // XDG rule: a relative path is invalid and ignored.
  const std::string xdg = text_of(get("XDG_CACHE_HOME"));
  if (xdg.starts_with('/')) return xdg + "/sinter";
  const std::string home = text_of(get("HOME"));
  if (home.starts_with('/')) return home + "/.cache/sinter";
  return "";
}

std::int64_t parse_whole(std::string_view variable, std::string_view text, std::int64_t least,
                         std::int64_t most) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < least || number > most)
    fail_user(variable, "expected a whole number from {} to {}, got '{}'", least, most, text);
  return number;
}

int parse_vector_bytes(std::string_view text) {
  if (text.empty()) return 0;
  for (const int bytes : {16, 32, 64})
    if (text == std::to_string(bytes)) return bytes;
  fail_user("SINTER_VECTOR_BYTES", "expected 16, 32 or 64, got '{}'", text);
}

const char* getenv_as_const(const char* name) { return std::getenv(name); }

}  // namespace

Options read_options(const char* (*get)(const char* name)) {
  Options options;
  options.cache_dir = text_of(get("SINTER_CACHE_DIR"));
  if (options.cache_dir.empty())
    options.cache_dir = default_cache_dir(get);
  else if (!options.cache_dir.starts_with('/'))
    fail_user("SINTER_CACHE_DIR", "expected an absolute path, got '{}'", options.cache_dir);
  const std::string threads = text_of(get("SINTER_NUM_THREADS"));
  if (!threads.empty())
    options.num_threads =
        static_cast<int>(parse_whole("SINTER_NUM_THREADS", threads, 1, kMaxThreads));
  const std::string limit = text_of(get("SINTER_CACHE_LIMIT_MIB"));
  if (!limit.empty())
    options.cache_limit_bytes =
        static_cast<std::uint64_t>(parse_whole("SINTER_CACHE_LIMIT_MIB", limit, 0, kMaxCacheMib))
        << 20;
  options.cxx = text_of(get("SINTER_CXX"));
  options.vector_bytes = parse_vector_bytes(text_of(get("SINTER_VECTOR_BYTES")));
  options.device = text_of(get("SINTER_DEVICE"));
  options.tuning_file = text_of(get("SINTER_TUNING_FILE"));
  if (!options.tuning_file.empty() && !options.tuning_file.starts_with('/'))
    fail_user("SINTER_TUNING_FILE", "expected an absolute path, got '{}'", options.tuning_file);
  if (const std::string python = text_of(get("SINTER_PYTHON")); !python.empty())
    options.python = python;
  options.simt_sources = text_of(get("SINTER_SIMT_SOURCES"));
  if (!options.simt_sources.empty() && !options.simt_sources.starts_with('/'))
    fail_user("SINTER_SIMT_SOURCES", "expected an absolute path, got '{}'", options.simt_sources);
  return options;
}

const Options& environment_options() {
  static const Options options = read_options(&getenv_as_const);
  return options;
}

}  // namespace sinter
