// The tuning file: what was measured to be faster than the heuristic's choice, kept on disk.
// In: a path. Out: choices that could be some candidate's; what else the file says is refused with
// one warning, and the heuristic is used. A choice is only ever used where it equals a candidate.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "src/tune/tuning_format.h"

namespace sinter {

// The file as one process sees it: read when first asked for, safe from many threads.
class TuningStore {
 public:
  explicit TuningStore(std::string path) : path_(std::move(path)) {}  // empty: there is no file

  std::optional<TunedEntry> find(const TuningKey& key) const;
  bool has_model(const std::string& model) const;
  std::size_t size() const;

  // Changes the file and what find() says. What others wrote meanwhile, and fields that this
  // version does not know, stay. A file with damaged text is kept as PATH.damaged; one that cannot
  // be read, or is another version's, is a UserError. IoError.
  void put(const TuningChanges& changes);
  // UserError where put() could not work: said before minutes are spent.
  void check_writable() const;

  const std::string& path() const { return path_; }

 private:
  const TuningTable& table() const;  // under the lock

  std::string path_;
  mutable std::mutex mutex_;
  mutable std::optional<TuningTable> table_;
};

// $SINTER_TUNING_FILE, else tuning.json in the cache's directory.
std::string tuning_path();
TuningStore& environment_tuning();  // of that file

}  // namespace sinter
