// `sinter tune`: measures alternative configs of cases' kernels on a GPU and keeps the faster ones.
// In: cases, shapes, dtypes and a time budget. Out: the tuning file, and a table of the gains.
#include <fmt/format.h>
#include <sinter/error.h>
#include <sinter/tune.h>

#include <algorithm>
#include <csignal>
#include <memory>

#include "cli/commands.h"
#include "cli/json_output.h"
#include "cli/numbers.h"
#include "cli/output.h"
#include "cli/progress_bar.h"
#include "cli/subject.h"
#include "cli/table.h"
#include "src/api/devices.h"
#include "src/api/tune.h"
#include "src/base/processors.h"
#include "src/runtime/interruption.h"
#include "src/suite/cases/program_sizes.h"
#include "src/suite/measure/runner.h"

namespace sinter::cli {
namespace {

volatile std::sig_atomic_t interrupted = 0;

// The first Ctrl-C ends the tuning after the current candidate, the second one at once.
void stop_on_interrupt() {
  struct sigaction action {};
  action.sa_handler = [](int signal) {
    interrupted = 1;
    clean_up_on_signal(signal);
  };
  action.sa_flags = SA_RESETHAND;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
}

struct TuneArguments {
  std::vector<std::string> cases;
  std::vector<std::string> shapes;
  std::vector<std::string> dtypes;
  std::string device = "cuda";
  double budget = 60;
  bool deterministic = false;
  bool json = false;
};

struct Tuned {
  Subject subject;
  TuneReport report;
  std::string error;
};

// Every case at every shape and dtype; a program at every shape.
std::vector<Subject> subjects_of(const TuneArguments& arguments) {
  std::vector<std::string> quick;
  for (const suite::Shape2& shape : suite::shapes_of_set("quick"))
    quick.push_back(to_string(shape));
  const std::vector<std::string> one_default{""};
  std::vector<Subject> subjects;
  for (const std::string& name : arguments.cases) {
    const auto& default_shapes = suite::is_program_path(name) ? one_default : quick;
    for (const std::string& dtype : arguments.dtypes.empty() ? one_default : arguments.dtypes)
      for (const std::string& shape : arguments.shapes.empty() ? default_shapes : arguments.shapes)
        subjects.push_back(find_subject({"tune", name, shape, dtype}));
  }
  return subjects;
}

// An exception becomes that row's error.
Tuned tune_subject(const Subject& subject, const TuneArguments& arguments,
                   const TuneOptions& options, const std::shared_ptr<Device>& device,
                   ThreadPool& threads) {
  Tuned tuned{subject, {}, ""};
  try {
    const CompiledFunction function =
        compile_list(subject.function, subject.arity,
                     {.name = subject.name, .deterministic = arguments.deterministic});
    const std::vector<Tensor> inputs = subject.make_inputs(device, threads);
    tuned.report = tune(function, inputs, options);
  } catch (const InternalError&) {
    throw;
  } catch (const Error& error) {
    tuned.error = error.what();
  }
  device->release_cached();
  return tuned;
}

std::vector<Tuned> tune_all(const TuneArguments& arguments, const std::vector<Subject>& subjects,
                            const std::shared_ptr<Device>& device) {
  ThreadPool threads(available_cpus());
  ProgressBar bar;
  std::vector<Tuned> all;
  for (std::size_t i = 0; i < subjects.size() && !interrupted; ++i) {
    const std::string title = subjects[i].title();
    bar.update(i, subjects.size(), title);
    TuneOptions options;
    // A share of the remaining time, or a little if none is left: every case gets a row.
    const double left = arguments.budget - bar.seconds();
    options.seconds = std::max(left / static_cast<double>(subjects.size() - i), 0.01);
    options.progress = [&](const TuneProgress& at) {
      bar.update(i, subjects.size(),
                 fmt::format("{}, kernel {} of {}, config {} of {}, {:.1f} -> {:.1f} us", title,
                             at.kernel + 1, at.kernels, at.candidate, at.candidates,
                             at.heuristic_us, at.best_us));
      return !interrupted;
    };
    all.push_back(tune_subject(subjects[i], arguments, options, device, threads));
  }
  if (!interrupted) bar.update(subjects.size(), subjects.size(), "");
  return all;
}

std::string config_text(const KernelTuning& kernel) {
  std::string text = kernel.changed ? kernel.config : "heuristic: " + kernel.config;
  if (!kernel.finished)
    text += fmt::format(" ({} of {} tried)",
                        kernel.measured + kernel.stopped + kernel.failed + kernel.wrong,
                        kernel.candidates);
  if (kernel.wrong) text += fmt::format(" ({} gave other results)", kernel.wrong);
  return text;
}

void print_table(const std::vector<Tuned>& all) {
  std::vector<std::vector<Cell>> rows;
  for (const Tuned& tuned : all) {
    const Subject& subject = tuned.subject;
    if (!tuned.error.empty())
      rows.push_back({{subject.name},
                      {subject.shape},
                      {subject.dtype},
                      {""},
                      {""},
                      {""},
                      {tuned.error, Colour::red}});
    for (const KernelTuning& kernel : tuned.report.kernels)
      rows.push_back({{subject.name},
                      {subject.shape},
                      {subject.dtype},
                      {fmt::format("{:.1f}", kernel.heuristic_us)},
                      {fmt::format("{:.1f}", kernel.us)},
                      {fmt::format("{:.2f}x", kernel.heuristic_us / std::max(kernel.us, 1e-9)),
                       kernel.changed ? Colour::green : Colour::none},
                      {config_text(kernel)}});
  }
  fmt::print("{}", table_text({{"case", true},
                               {"shape", true},
                               {"type", true},
                               {"heuristic us"},
                               {"tuned us"},
                               {"gain"},
                               {"config", true}},
                              rows, stdout));
}

Json trials_json(const std::vector<TuningTrial>& trials) {
  Json all = Json::array();
  for (const TuningTrial& trial : trials)
    all.push_back({{"config", trial.config}, {"us", trial.us}});
  return all;
}

Json kernel_json(const KernelTuning& kernel) {
  return {{"kernel", kernel.name},
          {"config", kernel.config},
          {"heuristic", kernel.heuristic},
          {"rules", rules_json(kernel.rules)},
          {"us", kernel.us},
          {"heuristic_us", kernel.heuristic_us},
          {"changed", kernel.changed},
          {"finished", kernel.finished},
          {"trials", trials_json(kernel.trials)},
          {"candidates", kernel.candidates},
          {"measured", kernel.measured},
          {"stopped", kernel.stopped},
          {"failed", kernel.failed},
          {"wrong", kernel.wrong}};
}

Json all_json(const std::vector<Tuned>& all) {
  Json rows = Json::array();
  for (const Tuned& tuned : all) {
    Json row{{"case", tuned.subject.name},
             {"shape", tuned.subject.shape},
             {"dtype", tuned.subject.dtype},
             {"error", tuned.error.empty() ? Json(nullptr) : Json(tuned.error)},
             {"kernels", Json::array()}};
    for (const KernelTuning& kernel : tuned.report.kernels)
      row["kernels"].push_back(kernel_json(kernel));
    rows.push_back(std::move(row));
  }
  return {{"file", tuning_path()}, {"interrupted", interrupted != 0}, {"rows", std::move(rows)}};
}

int run_tune_command(const TuneArguments& arguments) {
  const std::vector<Subject> subjects = subjects_of(arguments);
  const std::shared_ptr<Device> device = open_device(arguments.device);
  check_tunable(*device);
  environment_tuning().check_writable();
  stop_on_interrupt();
  const std::vector<Tuned> all = tune_all(arguments, subjects, device);
  if (arguments.json) {
    print_json(all_json(all));
  } else {
    print_table(all);
    fmt::print("\n{}: {}\n{}Kept in {}\n", device->name(), device->description(),
               interrupted ? "Interrupted; so far. " : "", tuning_path());
  }
  const bool failed =
      std::any_of(all.begin(), all.end(), [](const Tuned& each) { return !each.error.empty(); });
  return failed || interrupted ? kFailed : kOk;
}

}  // namespace

void add_tune_command(CLI::App& app, Invocation& invocation) {
  auto arguments = std::make_shared<TuneArguments>();
  CLI::App* command =
      app.add_subcommand("tune", "Find faster configs for cases' kernels on a GPU and store them");
  command
      ->add_option("case", arguments->cases,
                   "Cases of the suite (sinter suite --list), or program files (my.sinter)")
      ->required();
  command
      ->add_option("--shapes,--shape", arguments->shapes,
                   "ROWSxCOLS,..; default: the quick set; of a program, its sizes in order")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--dtype", arguments->dtypes, "f32, f16, bf16, f64; default: f32")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--device", arguments->device, "Which GPU")->capture_default_str();
  command->add_option("--budget", arguments->budget, "Seconds for everything together")
      ->check(number_between(0.1, 1e6, "a time in seconds"))
      ->capture_default_str();
  command->add_flag("--deterministic", arguments->deterministic,
                    "Only configs that give the same bits as the heuristic's");
  command->add_flag("--json", arguments->json, "Print the same and more as JSON");
  command->footer("Example:\n  sinter tune softmax --shapes 4096x4096 --budget 30");
  command->callback([arguments, &invocation] {
    invocation.run = [arguments] { return run_tune_command(*arguments); };
  });
}

}  // namespace sinter::cli
