// What fusion made of a program, as data: kernels, the operations in each, and every value that
// goes through memory between two of them with the reason why.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sinter {

struct PlanNode {
  int id = 0;
  std::string op;      // "input", "add", "max", ...; a constant's value
  std::string detail;  // shape and dtype
  int kernel = -1;     // the kernel that computes it; -1: it is given
  bool is_output = false;
  std::string origin = {};  // the program's operation that it is part of: "encoder/softmax"
};

struct PlanEdge {
  int from = 0;  // node ids
  int to = 0;
  // False: written by one kernel and read back by another, or a concat's part that has a kernel
  // of its own.
  bool fused = true;
  std::string reason;      // why it is not fused
  std::int64_t bytes = 0;  // what not fusing it costs: written and read; 0: a kernel more
};

struct PlanKernel {
  std::string name;
  std::string tiles;  // how it walks its domain
  std::int64_t bytes_read = 0;
  std::int64_t bytes_written = 0;
  std::int64_t flops = 0;
  double predicted_us = 0;
  bool tuned = false;  // its config was measured (docs/TUNING.md); else it is the heuristic's
  std::string config_origin = {};  // "tuned", "heuristic", with the reason where one might wonder
};

struct PlanInfo {
  std::vector<PlanNode> nodes;      // producers first
  std::vector<PlanEdge> edges;      // also those inside kernels
  std::vector<PlanKernel> kernels;  // in the order they run
};

}  // namespace sinter
