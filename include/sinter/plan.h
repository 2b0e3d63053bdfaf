// A program's fusion plan as data: kernels, the operations in each, and every value that goes
// through memory between two of them, with the reason.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sinter {

struct PlanNode {
  int id = 0;
  std::string op;      // "input", "add", "max", ...; for a constant, its value
  std::string detail;  // shape and dtype
  int kernel = -1;     // the kernel that computes it; -1 for inputs
  bool is_output = false;
  std::string origin = {};  // the user's operation it belongs to: "encoder/softmax"
};

struct PlanEdge {
  int from = 0;  // node ids
  int to = 0;
  // False: written by one kernel and read back by another, or a part of a concat with a kernel of
  // its own.
  bool fused = true;
  std::string reason;  // why it is not fused
  // Extra traffic of not fusing it (write and read); 0 if it only costs a kernel launch.
  std::int64_t bytes = 0;
};

// A rule that chose a part of a kernel's config (docs/CONFIG_RULES.md).
struct PlanRule {
  std::string part;    // "threads", "L2 cache", ..
  std::string name;    // when the rule applies: "short rows, little work"
  std::string reason;  // the measurement or the argument behind it
};

struct PlanKernel {
  std::string name;
  std::string tiles;  // tile shape and iteration order
  std::int64_t bytes_read = 0;
  std::int64_t bytes_written = 0;
  std::int64_t flops = 0;
  double predicted_us = 0;
  bool tuned = false;  // the config was measured (docs/TUNING.md), not chosen by the heuristic
  // "tuned" or "heuristic", with the reason where it is not obvious.
  std::string config_origin = {};
  std::vector<PlanRule> rules = {};  // of the heuristic; empty for tuned configs and on a CPU
  // For kernels with a matrix product: what computes it and why, "cuBLASLt: ...".
  std::string product = {};
};

struct PlanInfo {
  std::vector<PlanNode> nodes;      // in topological order
  std::vector<PlanEdge> edges;      // including those inside kernels
  std::vector<PlanKernel> kernels;  // in execution order
};

}  // namespace sinter
