// Peers: other software that the suite measures beside Sinter, on the same device and in turns with
// it. src/suite/peers/ has their programs. In: what to measure. Out: rows like Sinter's own.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "src/runtime/device.h"
#include "src/suite/measure/measure.h"
#include "src/suite/results/results.h"

namespace sinter::suite {

std::vector<std::string> peer_names();          // "torch"
void check_peer_name(const std::string& name);  // UserError with the nearest name

struct PeerOptions {
  std::string interpreter;  // empty: SINTER_PYTHON, else python3
  std::string script;       // source text; empty: the peer's own
  std::chrono::milliseconds hello_limit = std::chrono::minutes(3);
  // Per measurement, on top of what its seconds and bytes take: compiling may be slow.
  std::chrono::milliseconds answer_limit = std::chrono::minutes(2);
  int restarts = 3;  // in total, after it died or did not answer
};

class PeerProcess;
class ScriptFolder;

class Peer {
 public:
  // Starts it. UserError with advice if it is not installed or cannot use the device.
  Peer(const std::string& name, const std::string& device, PeerOptions options = {});
  ~Peer();  // stops it

  const std::map<std::string, std::string>& versions() const { return versions_; }
  const std::vector<std::string>& providers() const { return providers_; }  // of its rows

  // Whether it can compile graphs ahead of time, in parallel.
  bool compiles_ahead() const { return compiles_ahead_; }
  // Compiles ahead of time with one process per core. `progress` receives the number compiled;
  // returning false stops the peer. Returns why it failed, or an empty string. Graphs not compiled
  // here are compiled when they are measured.
  std::string compile_ahead(std::span<const Measurement> all, const Device& device,
                            const std::function<bool(std::size_t)>& progress);

  // One row per provider of the peer. Errors are in the rows, not thrown. The caller sets limit_us,
  // which it has measured. Skips programs from files that have no script for peers.
  std::vector<ResultRow> measure(const Measurement& what, const Device& device);

 private:
  std::string start();   // empty, or what went wrong
  std::string revive();  // start() again if it has exited and restarts are left
  std::vector<ResultRow> ask(const Measurement& what, const Device& device);
  std::vector<ResultRow> failed_rows(const Measurement& what, const Device& device,
                                     const std::string& failure) const;
  std::vector<ResultRow> skipped_rows(const Measurement& what, const Device& device,
                                      const std::string& reason) const;

  std::string name_;
  std::string device_;
  PeerOptions options_;
  int restarts_left_;
  std::unique_ptr<ScriptFolder> script_;
  std::unique_ptr<PeerProcess> process_;  // null after a failure
  std::string failure_;                   // the last one
  std::string missing_;                   // the interpreter's message if it is not installed
  std::map<std::string, std::string> versions_;
  std::vector<std::string> providers_;
  bool compiles_ahead_ = false;
};

}  // namespace sinter::suite
