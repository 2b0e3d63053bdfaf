// A damaged file is renamed; one that could not be read may be intact and is left alone.
#include "src/tune/tuning_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "src/base/atomic_file.h"
#include "src/base/check.h"
#include "src/base/options.h"

namespace sinter {
namespace {

constexpr char kTag[] = "tune";
constexpr std::size_t kMostBytes = std::size_t{64} << 20;

struct FileText {
  bool is_there = false;  // exists and was read
  std::string text;
  std::string error;  // why it could not be read
};

// Reads to the end of the file. Returns an empty string, or why it failed.
std::string read_all(int fd, std::string& text) {
  constexpr std::size_t kStep = std::size_t{1} << 20;
  std::size_t size = 0;
  while (true) {
    text.resize(size + kStep);
    const ssize_t got = ::read(fd, text.data() + size, kStep);
    if (got < 0 && errno == EINTR) continue;
    size += static_cast<std::size_t>(std::max<ssize_t>(got, 0));
    text.resize(size);
    if (got < 0) return std::strerror(errno);
    if (got == 0) return "";
    if (size > kMostBytes) return fmt::format("it has more than {} bytes", kMostBytes);
  }
}

FileText read_text(const std::string& path) {
  FileText file;
  if (path.empty()) return file;
  // O_NONBLOCK: opening a fifo must not block.
  const int fd = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) {
    if (errno != ENOENT && errno != ENOTDIR) file.error = std::strerror(errno);
    return file;
  }
  struct stat info {};
  if (fstat(fd, &info) != 0)
    file.error = std::strerror(errno);
  else if (!S_ISREG(info.st_mode))
    file.error = "it is not a regular file";
  else
    file.error = read_all(fd, file.text);
  ::close(fd);
  file.is_there = file.error.empty();
  return file;
}

// Held while the file is being changed.
class FileLock {
 public:
  explicit FileLock(const std::string& path)
      : fd_(::open((path + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)) {
    if (fd_ < 0) fail_user(kTag, "cannot write {}.lock: {}", path, std::strerror(errno));
    while (flock(fd_, LOCK_EX) != 0)
      if (errno != EINTR) break;  // no locks on this file system: the last writer wins
  }
  ~FileLock() { ::close(fd_); }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int fd_;
};

// What the next version of the file is based on. `set_aside`: the current file is damaged.
struct Basis {
  std::string text;
  bool set_aside = false;
};

Basis basis_of(const std::string& path) {
  const auto refuse = [&](const std::string& why) {
    fail_user(kTag, "{} is not overwritten: {}; set SINTER_TUNING_FILE to another path", path, why);
  };
  FileText file = read_text(path);
  if (!file.error.empty()) refuse(file.error);
  if (!file.is_there) return {};
  const ParsedTuning parsed = parse_tuning(file.text);
  if (parsed.is_newer) refuse(parsed.refusal);
  if (parsed.refusal.empty()) return {std::move(file.text), false};
  return {"", true};
}

}  // namespace

const TuningTable& TuningStore::table() const {
  if (table_) return *table_;
  const FileText file = read_text(path_);
  ParsedTuning parsed;
  if (file.is_there) parsed = parse_tuning(file.text);
  const std::string& refusal = file.error.empty() ? parsed.refusal : file.error;
  if (!refusal.empty())
    warn_once(fmt::format("the tuning file {} is not used: {}", path_, refusal));
  else if (parsed.refused > 0)
    warn_once(
        fmt::format("{} of the tuning file {} {} not used, {}",
                    parsed.refused == 1 ? "one entry" : fmt::format("{} entries", parsed.refused),
                    path_, parsed.refused == 1 ? "is" : "are", parsed.first_refused));
  table_ = std::move(parsed.table);
  return *table_;
}

std::optional<TunedEntry> TuningStore::find(const TuningKey& key) const {
  const std::lock_guard lock(mutex_);
  const auto it = table().find(key);
  return it == table().end() ? std::nullopt : std::optional(it->second);
}

bool TuningStore::has_model(const std::string& model) const {
  const std::lock_guard lock(mutex_);
  const auto it = table().lower_bound({model, "", false});
  return it != table().end() && it->first.model == model;
}

std::size_t TuningStore::size() const {
  const std::lock_guard lock(mutex_);
  return table().size();
}

void TuningStore::check_writable() const {
  if (path_.empty()) fail_user(kTag, "no path for the tuning file: set SINTER_TUNING_FILE or HOME");
  const std::string folder = std::filesystem::path(path_).parent_path().string();
  if (!folder.empty()) make_directory(kTag, folder);
  const FileLock lock(path_);
  basis_of(path_);
}

void TuningStore::put(const TuningChanges& changes) {
  if (changes.empty()) return;
  check_writable();
  const std::lock_guard guard(mutex_);
  const FileLock lock(path_);
  const Basis basis = basis_of(path_);
  const std::string aside = path_ + ".damaged";
  if (basis.set_aside && std::rename(path_.c_str(), aside.c_str()) != 0)
    fail_user(kTag, "cannot move the damaged {} to {}: {}", path_, aside, std::strerror(errno));
  const std::string text = changed_tuning(basis.text, changes);
  write_file_atomically(kTag, path_, text);
  table_ = parse_tuning(text).table;
}

std::string tuning_path() {
  const Options& options = environment_options();
  if (!options.tuning_file.empty()) return options.tuning_file;
  return options.cache_dir.empty() ? "" : options.cache_dir + "/tuning.json";
}

// Never destroyed: programs may be built while the process exits.
TuningStore& environment_tuning() {
  static TuningStore& store = *new TuningStore(tuning_path());
  return store;
}

}  // namespace sinter
