// Programs are queried in parallel and with a time limit, so the slowest one determines the
// duration.
#include "cli/findings.h"

#include <fmt/format.h>
#include <sinter/device.h>
#include <sinter/error.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <future>
#include <optional>
#include <sstream>

#include "cli/table.h"
#include "src/base/cgroup.h"
#include "src/base/options.h"
#include "src/base/processors.h"
#include "src/cpu/compiler_record.h"
#include "src/cpu/host_compiler.h"
#include "src/cpu/subprocess.h"
#include "src/profile/assets.h"
#include "src/profile/counters.h"
#include "src/runtime/disk_cache.h"

namespace sinter::cli {
namespace {

using State = Finding::State;
using std::chrono::milliseconds;

constexpr milliseconds kTimeLimit{250};

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }
// In a traceback, the line that has the message.
std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

// Fewer threads than the machine has processors, and why. Empty if all are used.
std::string thread_limit() {
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  const int asked = environment_options().num_threads;
  const int threads = asked > 0 ? asked : available_cpus();
  if (threads >= processors) return "";
  const std::optional<double> cgroup = cgroup_cpus();
  std::string reason = "the affinity mask allows no more";
  if (asked > 0)
    reason = fmt::format("SINTER_NUM_THREADS is {}", asked);
  else if (cgroup && *cgroup < static_cast<double>(processors))
    reason = fmt::format("the control group allows {:g}", *cgroup);
  return fmt::format("kernels use {} of {} processors: {}", threads, processors, reason);
}

Finding finding_of(const DeviceInfo& device) {
  if (!device.available) return {device.name, State::missing, device.note, ""};
  Finding finding{device.name, State::ready, device.description, device.note};
  if (device.name == "cpu" && finding.cost.empty()) finding.cost = thread_limit();
  if (!finding.cost.empty()) finding.state = State::limited;
  return finding;
}

Finding compiler_finding() {
  const std::string cost =
      "kernels that are not in the cache run in the interpreter, hundreds of times slower";
  Finding missing{"compiler", State::missing, "", cost};
  const std::string& cxx = environment_options().cxx;
  if (cxx == kNoCompiler) {
    missing.text = "SINTER_CXX is none";
    return missing;
  }
  try {
    const auto compiler = HostCompiler::find({.cxx = cxx, .failed_sources = ""});
    if (!compiler) {
      missing.text = fmt::format("none of {} is in PATH", HostCompiler::kLookedFor);
      return missing;
    }
    const std::string& directory = environment_options().cache_dir;
    const auto cache =
        DiskCache::refuse_directory(directory).empty() ? DiskCache::open(directory) : nullptr;
    const std::string refusal = compiler_refusal(*compiler, cache.get());
    if (!refusal.empty())
      return {"compiler", State::missing,
              fmt::format("{} compiles nothing: {}", compiler->path(), refusal),
              "calls that need a kernel that is not in the cache fail"};
    return {"compiler", State::ready,
            fmt::format("{}: {}", compiler->path(), compiler->version(kTimeLimit)), ""};
  } catch (const Error& error) {
    return {"compiler", State::missing, error.what(), "the devices cpu and simt cannot be used"};
  }
}

Finding cache_finding() {
  const std::string& directory = environment_options().cache_dir;
  std::string refusal = DiskCache::refuse_directory(directory);
  if (refusal.empty() && access(directory.c_str(), W_OK | X_OK) != 0)
    refusal = fmt::format("cannot write to {}: {}", directory, std::strerror(errno));
  if (!refusal.empty())
    return {"kernel cache", State::missing, refusal, "every process compiles its kernels again"};
  return {"kernel cache", State::ready, directory, ""};
}

// Finds the package without importing it, which takes seconds.
constexpr char kFindTorch[] =
    "import importlib.util as u, importlib.metadata as m\n"
    "print(m.version('torch') if u.find_spec('torch') else '')";

Finding torch_finding() {
  const std::string name = "PyTorch";
  const std::string cost = "no rows of PyTorch in the suite (--peers torch)";
  const std::string& python = environment_options().python;
  const SubprocessResult answer =
      run_subprocess({"/usr/bin/env", python, "-c", kFindTorch}, "", kTimeLimit);
  using End = SubprocessResult::End;
  if (answer.end == End::timed_out)
    return {name, State::unknown, python + " did not answer in time", ""};
  if (answer.end == End::exited && answer.code == 127)  // env's "not found"
    return {name, State::missing, "no " + python + " in PATH", cost};
  const std::string version = first_line(answer.output);
  if (!answer.succeeded())
    return {name, State::missing, python + " failed: " + last_line(answer.output), cost};
  if (version.empty()) return {name, State::missing, python + " has no package torch", cost};
  return {name, State::ready, version + " of " + python, ""};
}

Finding counters_finding() {
  const CounterReading reading = count([] {}, 1);
  Finding finding{"counters", State::ready, "instructions and memory traffic", ""};
  if (reading.instructions && reading.bytes) return finding;
  finding.state = reading.instructions || reading.bytes ? State::limited : State::missing;
  finding.text = reading.instructions ? reading.why_no_bytes : reading.why_no_instructions;
  finding.cost = "the suite's columns for instructions or measured traffic stay empty";
  return finding;
}

Finding charts_finding() {
  if (!chart_library().empty()) return {"charts", State::ready, "Chart.js is built in", ""};
  return {"charts", State::missing, "Sinter was built without Chart.js (Debian: libjs-chart.js)",
          "reports have tables and heat maps, but no line plots and no roofline"};
}

// Optional tools. Each is a row of `sinter devices`.
std::vector<Finding> tools() {
  std::future<Finding> torch = std::async(std::launch::async, torch_finding);
  std::vector<Finding> found;
  found.push_back(compiler_finding());
  found.push_back(cache_finding());
  found.push_back(torch.get());
  found.push_back(counters_finding());
  found.push_back(charts_finding());
  return found;
}

Colour colour_of(State state) { return state == State::ready ? Colour::green : Colour::yellow; }

// Wraps text at spaces into lines of at most `width`.
std::vector<std::string> wrapped(const std::string& text, std::size_t width) {
  std::vector<std::string> lines{""};
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > width)
      lines.emplace_back();
    lines.back() += (lines.back().empty() ? "" : " ") + word;
  }
  return lines;
}

class FindingRows {
 public:
  explicit FindingRows(std::size_t width) : width_(width) {}

  void add(const Finding& finding) {
    std::vector<Cell> start{{finding.name}, {state_name(finding.state), colour_of(finding.state)}};
    add_lines(std::move(start), finding.text, Colour::none);
    if (!finding.cost.empty()) add_lines({{""}, {""}}, "so: " + finding.cost, Colour::dim);
  }
  void add_gap() { rows_.push_back({{""}, {""}, {""}}); }
  const std::vector<std::vector<Cell>>& rows() const { return rows_; }

 private:
  void add_lines(std::vector<Cell> start, const std::string& text, Colour colour) {
    for (const std::string& line : wrapped(text, width_)) {
      start.push_back({line, colour});
      rows_.push_back(std::move(start));
      start = {{""}, {""}};
    }
  }

  std::size_t width_;
  std::vector<std::vector<Cell>> rows_;
};

// Width of the last column, wide enough to read even in a narrow terminal.
std::size_t text_width(const Findings& findings, int width) {
  std::size_t name = std::string("name").size();
  for (const auto* list : {&findings.devices, &findings.tools})
    for (const Finding& finding : *list) name = std::max(name, finding.name.size());
  const std::size_t before = name + 2 + state_name(State::limited).size() + 2;
  const auto all = static_cast<std::size_t>(width);
  return std::max<std::size_t>(all > before ? all - before : 0, 24);
}

Json list_json(const std::vector<Finding>& findings) {
  Json list = Json::array();
  for (const Finding& finding : findings)
    list.push_back({{"name", finding.name},
                    {"state", state_name(finding.state)},
                    {"text", finding.text},
                    {"cost", finding.cost}});
  return list;
}

}  // namespace

std::string state_name(State state) {
  switch (state) {
    case State::ready:
      return "ready";
    case State::limited:
      return "limited";
    case State::missing:
      return "no";
    case State::unknown:
      break;
  }
  return "unknown";
}

Findings find_all() {
  std::future<std::vector<Finding>> found_tools = std::async(std::launch::async, tools);
  Findings findings;
  for (const DeviceInfo& device : devices()) findings.devices.push_back(finding_of(device));
  findings.tools = found_tools.get();
  return findings;
}

std::string findings_text(const Findings& findings, int width) {
  FindingRows rows(text_width(findings, width));
  for (const Finding& finding : findings.devices) rows.add(finding);
  rows.add_gap();
  for (const Finding& finding : findings.tools) rows.add(finding);
  return table_text({{"name", true}, {"state", true}, {"found", true}}, rows.rows(), stdout);
}

Json findings_json(const Findings& findings) {
  return {{"devices", list_json(findings.devices)}, {"tools", list_json(findings.tools)}};
}

}  // namespace sinter::cli
