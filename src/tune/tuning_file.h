// The tuning file: configs measured to be faster than the heuristic's, stored on disk. In: a path.
// Out: valid choices. Anything else in the file causes one warning and the heuristic is used. A
// choice is only ever used if it equals a candidate.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "src/tune/tuning_format.h"

namespace sinter {

// One process's view of the file: read on first use, thread-safe.
class TuningStore {
 public:
  explicit TuningStore(std::string path) : path_(std::move(path)) {}  // empty: no file

  std::optional<TunedEntry> find(const TuningKey& key) const;
  bool has_model(const std::string& model) const;
  std::size_t size() const;

  // Changes the file and the results of find(). Entries that others wrote in the meantime, and
  // fields this version does not know, are kept. A damaged file is kept as PATH.damaged; one that
  // cannot be read or has another version is a UserError. IoError.
  void put(const TuningChanges& changes);
  // UserError if put() would fail: reported before minutes are spent.
  void check_writable() const;

  const std::string& path() const { return path_; }

 private:
  const TuningTable& table() const;  // call with the lock held

  std::string path_;
  mutable std::mutex mutex_;
  mutable std::optional<TuningTable> table_;
};

// $SINTER_TUNING_FILE, else tuning.json in the cache directory.
std::string tuning_path();
TuningStore& environment_tuning();  // for tuning_path()

}  // namespace sinter
