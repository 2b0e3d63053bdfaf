// What `sinter devices` reports about this machine: devices and optional tools. To add a tool,
// write a function that returns a Finding and call it in tools().
#pragma once

#include <string>
#include <vector>

#include "cli/json_output.h"

namespace sinter::cli {

struct Finding {
  enum class State { ready, limited, missing, unknown };
  std::string name;
  State state = State::ready;
  std::string text;  // what was found, or why nothing was
  std::string cost;  // what its absence or limit costs; empty if nothing
};

// "ready", "limited", "no", "unknown"
std::string state_name(Finding::State state);

struct Findings {
  std::vector<Finding> devices;
  std::vector<Finding> tools;
};
// Looks for everything. Takes less than 0.3 s if the devices answer at once.
Findings find_all();

// For stdout, in its colours, in lines of at most `width`.
std::string findings_text(const Findings& findings, int width);
Json findings_json(const Findings& findings);

}  // namespace sinter::cli
