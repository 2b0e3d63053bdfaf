// Programs are asked beside each other and with a time limit: the slowest decides how long it
// takes.
#include "cli/findings.h"

#include <fmt/format.h>
#include <sinter/device.h>
#include <sinter/error.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <future>

#include "cli/table.h"
#include "src/base/options.h"
#include "src/cpu/cgroup.h"
#include "src/cpu/cpu_info.h"
#include "src/cpu/host_compiler.h"
#include "src/cpu/subprocess.h"
#include "src/runtime/disk_cache.h"

namespace sinter::cli {
namespace {

using State = Finding::State;
using std::chrono::milliseconds;

constexpr milliseconds kTimeLimit{250};

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// Fewer threads than the machine has processors, and who decided that. Empty: nobody did.
std::string thread_limit() {
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  if (const int asked = environment_options().num_threads; asked > 0)
    return fmt::format("SINTER_NUM_THREADS sets {} thread{}", asked, asked == 1 ? "" : "s");
  const std::optional<double> cgroup = cgroup_cpus();
  if (cgroup && *cgroup < static_cast<double>(processors))
    return fmt::format("the control group allows {:g} of {} processors", *cgroup, processors);
  if (available_cpus() < processors)
    return fmt::format("the process may run on {} of {} processors", available_cpus(), processors);
  return "";
}

Finding finding_of(const DeviceInfo& device) {
  if (!device.available) return {device.name, State::missing, device.note, ""};
  Finding finding{device.name, State::ready, device.description, device.note};
  if (device.name == "cpu" && finding.cost.empty()) finding.cost = thread_limit();
  if (!finding.cost.empty()) finding.state = State::limited;
  return finding;
}

Finding compiler_finding() {
  const std::string cost = "kernels run in the interpreter, hundreds of times slower";
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
    const SubprocessResult answer = run_subprocess({compiler->path(), "--version"}, "", kTimeLimit);
    const std::string version = answer.succeeded() ? first_line(answer.output) : answer.describe();
    return {"compiler", State::ready, fmt::format("{}: {}", compiler->path(), version), ""};
  } catch (const Error& error) {
    missing.text = error.what();
    return missing;
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
  const SubprocessResult answer =
      run_subprocess({"/usr/bin/env", "python3", "-c", kFindTorch}, "", kTimeLimit);
  using End = SubprocessResult::End;
  if (answer.end == End::timed_out)
    return {name, State::unknown, "python3 did not answer in time", ""};
  if (answer.end == End::exited && answer.code == 127)  // env's answer
    return {name, State::missing, "no python3 in PATH", cost};
  const std::string version = first_line(answer.output);
  if (!answer.succeeded()) return {name, State::missing, "python3 failed: " + version, cost};
  if (version.empty()) return {name, State::missing, "python3 has no package torch", cost};
  return {name, State::ready, version + " of python3", ""};
}

// What Sinter uses where it is there. A line more is a row more in `sinter devices`.
std::vector<Finding> tools() {
  std::future<Finding> torch = std::async(std::launch::async, torch_finding);
  std::vector<Finding> found;
  found.push_back(compiler_finding());
  found.push_back(cache_finding());
  found.push_back(torch.get());
  return found;
}

Colour colour_of(State state) { return state == State::ready ? Colour::green : Colour::yellow; }

void add_rows(const std::vector<Finding>& findings, std::vector<std::vector<Cell>>& rows) {
  for (const Finding& finding : findings) {
    rows.push_back(
        {{finding.name}, {state_name(finding.state), colour_of(finding.state)}, {finding.text}});
    if (!finding.cost.empty()) rows.push_back({{""}, {""}, {"so: " + finding.cost, Colour::dim}});
  }
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

std::string findings_text(const Findings& findings) {
  std::vector<std::vector<Cell>> rows;
  add_rows(findings.devices, rows);
  rows.push_back({{""}, {""}, {""}});
  add_rows(findings.tools, rows);
  return table_text({{"name", true}, {"state", true}, {"found", true}}, rows, stdout);
}

Json findings_json(const Findings& findings) {
  return {{"devices", list_json(findings.devices)}, {"tools", list_json(findings.tools)}};
}

}  // namespace sinter::cli
