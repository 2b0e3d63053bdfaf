// One JSON value per line in both directions: a hello first, then one answer per measurement.
// src/suite/peers/torch_peer.py is the other side.
#include "src/suite/peers/peers.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "src/base/atomic_file.h"
#include "src/base/check.h"
#include "src/base/nearest_name.h"
#include "src/base/options.h"
#include "src/base/processors.h"
#include "src/cpu/cpu_info.h"
#include "src/runtime/temporary_directory.h"
#include "src/suite/peers/peer_process.h"
#include "src/suite/peers/peer_scripts.h"
#include "src/suite/results/results_json.h"

namespace sinter::suite {
namespace {

using Json = nlohmann::ordered_json;
using std::chrono::milliseconds;

constexpr char kTorch[] = "torch";
constexpr double kBytesPerMs = 1e5;  // rate at which one slow thread generates inputs
constexpr double kSecondsSlack = 10;

// Host memory of a compiling process.
constexpr std::size_t kWorkerBytes = std::size_t{3} << 30;

int threads_of(const Device& device) {
  return device.name() == "cpu" ? device.parallelism() : 0;  // 0: the peer's default
}

Json tensors_of(std::span<const TensorSpec> specs) {
  Json tensors = Json::array();
  for (const TensorSpec& spec : specs) {
    Json shape = Json::array();
    for (const std::int64_t size : spec.shape) shape.push_back(size);
    Json& tensor =
        tensors.emplace_back(Json{{"shape", std::move(shape)}, {"dtype", name_of(spec.dtype)}});
    if (!spec.values.empty()) tensor["values"] = spec.values;
    if (spec.row_axis) tensor["row_axis"] = *spec.row_axis;
  }
  return tensors;
}

// What every request says about a cell.
Json cell_of(const Workload& workload) {
  const WorkloadFacts& facts = workload.facts();
  const PeerProgram program = workload.for_peers();
  Json cell{{"case", facts.case_name}, {"shape", facts.shape}, {"dtype", facts.dtype}};
  if (!program.script.empty()) cell["script"] = program.script;
  cell["inputs"] = tensors_of(program.inputs);
  cell["outputs"] = tensors_of(program.outputs);
  return cell;
}

Json ahead_request(std::span<const Measurement> all, const Device& device) {
  Json cells = Json::array();
  for (const Measurement& what : all) cells.push_back(cell_of(*what.workload));
  const std::size_t memory = system_memory().available;
  const auto fitting = static_cast<int>(std::min<std::size_t>(memory / kWorkerBytes, 1024));
  return {{"compile_ahead", std::move(cells)},
          {"workers", std::clamp(fitting, 1, available_cpus())},
          {"threads", threads_of(device)},
          {"memory", memory}};
}

Json request_of(const Measurement& what, const Device& device) {
  const bool on_cpu = device.name() == "cpu";
  Json request = cell_of(*what.workload);
  request["device"] = device.name();
  request["seconds"] = what.seconds;
  request["threads"] = threads_of(device);
  request["memory"] = on_cpu ? system_memory().available : 0;
  return request;
}

milliseconds time_limit(const PeerOptions& options, const Measurement& what) {
  const auto bytes = static_cast<double>(what.workload->facts().bytes_min);
  return options.answer_limit + milliseconds(static_cast<std::int64_t>(
                                    bytes / kBytesPerMs + what.seconds * 1e3 * kSecondsSlack));
}

Json parse(const std::string& line) {
  Json json = Json::parse(line, nullptr, false);
  if (!json.is_object()) throw PeerError(fmt::format("it answered '{}'", line.substr(0, 200)));
  return json;
}

}  // namespace

// A program's files in their own folder, so that nothing else can be imported by accident. Files
// that Python and the program write there are removed with it.
class ScriptFolder {
 public:
  // The peer's own program, or `script` instead.
  ScriptFolder(std::string_view peer, const std::string& script) {
    if (!script.empty())
      add("peer.py", script);
    else
      for (const std::string_view name : peer_files(peer)) add(name, peer_script(name));
  }

  const std::string& start() const { return start_; }  // the file to start

 private:
  void add(std::string_view name, std::string_view text) {
    SINTER_ASSERT(!text.empty(), "{} is not embedded", name);
    const std::string path = fmt::format("{}/{}", folder_.path(), name);
    make_directory("suite", std::filesystem::path(path).parent_path());
    write_file_atomically("suite", path, text);
    if (start_.empty()) start_ = path;
  }

  TemporaryDirectory folder_;
  std::string start_;
};

std::vector<std::string> peer_names() { return {kTorch}; }

void check_peer_name(const std::string& name) {
  const std::vector<std::string> names = peer_names();
  if (std::find(names.begin(), names.end(), name) == names.end())
    fail_user("suite", "there is no peer '{}'; did you mean {}?", name, nearest_name(name, names));
}

Peer::Peer(const std::string& name, const std::string& device, PeerOptions options)
    : name_(name),
      device_(device),
      options_(std::move(options)),
      restarts_left_(options_.restarts) {
  check_peer_name(name);
  if (options_.interpreter.empty()) options_.interpreter = environment_options().python;
  script_ = std::make_unique<ScriptFolder>(name, options_.script);
  const std::string failure = start();
  if (!missing_.empty())
    fail_user("suite",
              "--peers torch needs PyTorch: `{} -c 'import torch'` says {}; pip install torch, or "
              "set SINTER_PYTHON to a Python that has it",
              options_.interpreter, missing_);
  if (!failure.empty()) fail_user("suite", "--peers {} on {}: {}", name_, device_, failure);
}

Peer::~Peer() = default;

std::string Peer::start() {
  try {
    process_ = std::make_unique<PeerProcess>(
        std::vector<std::string>{options_.interpreter, script_->start(), device_});
  } catch (const PeerError& error) {
    return failure_ = missing_ = error.what();
  }
  try {
    const Json hello = parse(process_->read_line(options_.hello_limit));
    missing_ = hello.value("missing", "");
    if (hello.contains("error")) throw PeerError(hello["error"].get<std::string>());
    if (missing_.empty()) {
      hello.at("versions").get_to(versions_);
      hello.at("providers").get_to(providers_);
      compiles_ahead_ = hello.value("compiles_ahead", false);
      return "";
    }
    failure_ = missing_;
  } catch (const Json::exception& error) {
    failure_ = fmt::format("its hello is wrong: {}", error.what());
  } catch (const PeerError& error) {
    failure_ = error.what();
  }
  process_.reset();
  return failure_;
}

std::string Peer::revive() {
  if (process_ && process_->has_ended()) process_.reset();
  if (process_) return "";
  if (restarts_left_-- <= 0)
    return fmt::format("the peer has failed too often to be started again: {}", failure_);
  return start();
}

std::string Peer::compile_ahead(std::span<const Measurement> all, const Device& device,
                                const std::function<bool(std::size_t)>& progress) {
  try {
    if (std::string failure = revive(); !failure.empty()) return failure;
    process_->write_line(ahead_request(all, device).dump());
    // Its worker processes start up too.
    milliseconds limit = options_.hello_limit + options_.answer_limit;
    for (bool go_on = progress(0); go_on; limit = options_.answer_limit) {
      const Json answer = parse(process_->read_line(limit));
      if (answer.contains("error")) throw PeerError(answer["error"].get<std::string>());
      if (answer.contains("ready")) return "";
      go_on = progress(answer.at("compiled").get<std::size_t>());
    }
    process_.reset();
    return "";
  } catch (const std::exception& error) {
    process_.reset();
    return failure_ = error.what();
  }
}

std::vector<ResultRow> Peer::measure(const Measurement& what, const Device& device) {
  if (const std::string missing = what.workload->for_peers().missing; !missing.empty())
    return skipped_rows(what, device,
                        fmt::format("{} measures programs from files by a script "
                                    "beside them; {}",
                                    name_, missing));
  std::string failure = revive();
  try {
    if (failure.empty()) return ask(what, device);
  } catch (const PeerError& error) {
    // It may be in the middle of a request: the next measurement gets a fresh process.
    process_.reset();
    failure = failure_ = fmt::format("the peer failed: {}", error.what());
  }
  return failed_rows(what, device, failure);
}

std::vector<ResultRow> Peer::failed_rows(const Measurement& what, const Device& device,
                                         const std::string& failure) const {
  std::vector<ResultRow> rows;
  for (const std::string& provider : providers_) {
    rows.push_back(empty_row(what, provider, device));
    rows.back().error = failure;
  }
  return rows;
}

std::vector<ResultRow> Peer::skipped_rows(const Measurement& what, const Device& device,
                                          const std::string& reason) const {
  std::vector<ResultRow> rows;
  for (const std::string& provider : providers_) {
    rows.push_back(empty_row(what, provider, device));
    rows.back().skipped = reason;
    rows.back().visits = 1;
  }
  return rows;
}

std::vector<ResultRow> Peer::ask(const Measurement& what, const Device& device) {
  process_->write_line(request_of(what, device).dump());
  const Json answer = parse(process_->read_line(time_limit(options_, what)));
  std::vector<ResultRow> rows;
  try {
    if (answer.contains("error"))
      return failed_rows(what, device, answer["error"].get<std::string>());
    for (const Json& measured : answer.at("rows")) {
      Json row = row_to_json(empty_row(what, measured.at("provider").get<std::string>(), device));
      row.update(measured);
      rows.push_back(row_from_json(row));
      rows.back().visits = 1;
    }
    // A missing row would be requested again and again.
    for (ResultRow& row : failed_rows(what, device, "the peer's answer has no row of it"))
      if (std::none_of(rows.begin(), rows.end(),
                       [&](const ResultRow& given) { return given.provider == row.provider; }))
        rows.push_back(std::move(row));
  } catch (const std::exception& error) {
    throw PeerError(fmt::format("its answer is wrong: {}", error.what()));
  }
  return rows;
}

}  // namespace sinter::suite
