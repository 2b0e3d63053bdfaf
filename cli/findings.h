// What `sinter devices` finds out about this machine: devices, and the tools that Sinter uses where
// they are there. To add one, write a function that returns a Finding and call it in tools().
#pragma once

#include <string>
#include <vector>

#include "cli/json_output.h"

namespace sinter::cli {

struct Finding {
  enum class State { ready, limited, missing, unknown };
  std::string name;
  State state = State::ready;
  std::string text;  // what was found, or why there is nothing
  std::string cost;  // what its absence or limit costs; empty where nothing is lost
};

// "ready", "limited", "no", "unknown"
std::string state_name(Finding::State state);

struct Findings {
  std::vector<Finding> devices;
  std::vector<Finding> tools;
};
// Looks for everything. Takes less than 0.3 s where the devices answer at once.
Findings find_all();

// For stdout, in its colours and in lines of at most `width`.
std::string findings_text(const Findings& findings, int width);
Json findings_json(const Findings& findings);

}  // namespace sinter::cli
