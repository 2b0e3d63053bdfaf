// Peers: other software that the suite measures beside Sinter, on the same device, in turns with
// it case by case. src/suite/peers/ has the programs that do so.
// In: what to measure. Out: rows like Sinter's own.
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
  std::string script;       // its text; empty: the peer's own
  std::chrono::milliseconds hello_limit = std::chrono::minutes(3);
  // For each measurement, besides what its seconds and bytes take: compiling may be slow.
  std::chrono::milliseconds answer_limit = std::chrono::minutes(2);
  int restarts = 3;  // in all, after it died or did not answer
};

class PeerProcess;
class ScriptFolder;

class Peer {
 public:
  // Starts it. UserError that says what to do where it is not installed, or cannot use the device.
  Peer(const std::string& name, const std::string& device, PeerOptions options = {});
  ~Peer();  // ends it

  const std::map<std::string, std::string>& versions() const { return versions_; }
  const std::vector<std::string>& providers() const { return providers_; }  // of its rows

  // Whether it can compile what it will measure, many graphs at once.
  bool compiles_ahead() const { return compiles_ahead_; }
  // Has it do so, with as many processes as there are cores. `progress` hears how many are
  // compiled; false from it ends the peer. Returns why it failed, or nothing: what is not compiled
  // then is compiled when it is measured.
  std::string compile_ahead(std::span<const Measurement> all, const Device& device,
                            const std::function<bool(std::size_t)>& progress);

  // One row a provider of the peer. What goes wrong is in the rows, not thrown. limit_us is left
  // to the caller, who has measured it.
  std::vector<ResultRow> measure(const Measurement& what, const Device& device);

 private:
  std::string start();   // empty, or what went wrong
  std::string revive();  // start(), where it has ended and may be started again
  std::vector<ResultRow> ask(const Measurement& what, const Device& device);
  std::vector<ResultRow> failed_rows(const Measurement& what, const Device& device,
                                     const std::string& failure) const;

  std::string name_;
  std::string device_;
  PeerOptions options_;
  int restarts_left_;
  std::unique_ptr<ScriptFolder> script_;
  std::unique_ptr<PeerProcess> process_;  // null: it has failed
  std::string failure_;                   // the last one
  std::string missing_;                   // what the interpreter says where the peer is not there
  std::map<std::string, std::string> versions_;
  std::vector<std::string> providers_;
  bool compiles_ahead_ = false;
};

}  // namespace sinter::suite
