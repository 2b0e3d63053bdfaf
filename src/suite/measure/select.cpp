// Everything is read and checked before the first measurement.
#include "src/suite/measure/select.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "src/base/check.h"
#include "src/base/hash.h"
#include "src/suite/cases/program_sizes.h"

namespace sinter::suite {
namespace {

constexpr std::size_t kHashDigits = 12;

bool is_case_name(const std::string& name) {
  const auto is_it = [&](const auto& each) { return each.name == name; };
  return std::any_of(all_cases().begin(), all_cases().end(), is_it) ||
         std::any_of(pending_cases().begin(), pending_cases().end(), is_it);
}

std::string hash_of(const std::string& text) {
  return Hasher().add(text).finish().hex().substr(0, kHashDigits);
}

// "none" if there is no such file.
std::string hash_of_file(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return "none";
  std::ifstream file(path, std::ios::binary);
  return hash_of({std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()});
}

class Selector {
 public:
  explicit Selector(const SuiteOptions& options)
      : options_(options), is_used_(options.sizes.size(), 0) {}

  Selection run() {
    for (const std::string& name : options_.cases)
      is_program_path(name) ? add_program(name) : add_case(find_case(name));
    if (options_.cases.empty())
      for (const Case& each : all_cases()) add_case(each);
    check_sizes_used();
    return std::move(selection_);
  }

 private:
  void add_case(const Case& each) {
    has_cases_ = true;
    for (const DType dtype : options_.dtypes)
      for (const Shape2& shape : options_.shapes)
        selection_.workloads.push_back(case_workload(each, shape, dtype));
  }

  void add_program(const std::string& path) {
    check_name(path);
    const auto file = std::make_shared<const ProgramFile>(path);
    selection_.programs["program " + program_stem(path)] = hash_of(file->text());
    if (!options_.peers.empty())
      selection_.programs["script of " + program_stem(path)] = hash_of_file(script_beside(path));
    const ParsedProgram& program = file->program();
    expected_ += fmt::format("{}{} has {}", expected_.empty() ? "" : ", ", path,
                             program.sizes.empty() ? "no sizes" : size_names(program));
    bool any = false;
    for (std::size_t i = 0; i < options_.sizes.size() && !program.sizes.empty(); ++i) {
      if (count_sizes(options_.sizes[i]) != program.sizes.size()) continue;
      selection_.workloads.push_back(program_workload(file, options_.sizes[i]));
      is_used_[i] = 1;
      any = true;
    }
    if (!any && !options_.sizes.empty() && !program.sizes.empty())
      fail_user("suite", "'{}' does not give the sizes of {}; expected {}", options_.sizes.front(),
                path, size_names(program));
    if (!any) selection_.workloads.push_back(program_workload(file, ""));
  }

  // Rows are named after the file.
  void check_name(const std::string& path) {
    const std::string stem = program_stem(path);
    if (is_case_name(stem))
      fail_user("suite", "{} has the name of the case {}; rename the file", path, stem);
    const auto [other, is_new] = paths_.emplace(stem, path);
    if (!is_new)
      fail_user("suite", "two programs are called {}: {} and {}; rename one of the files", stem,
                other->second, path);
  }

  void check_sizes_used() const {
    if (has_cases_ && options_.shapes.empty() && !options_.sizes.empty())
      fail_user("suite", "'{}' is not a shape of the cases; expected ROWSxCOLS, e.g. 4096x128",
                options_.sizes.front());
    for (std::size_t i = 0; i < options_.sizes.size(); ++i)
      if (!is_used_[i] && !(has_cases_ && try_parse_shape(options_.sizes[i])))
        fail_user("suite", "'{}' is a shape of nothing in this run: {}{}", options_.sizes[i],
                  has_cases_ ? "cases have ROWSxCOLS, " : "", expected_);
  }

  const SuiteOptions& options_;
  Selection selection_;
  bool has_cases_ = false;
  std::vector<char> is_used_;                 // by size
  std::map<std::string, std::string> paths_;  // by stem
  std::string expected_;                      // sizes that each program declares, for messages
};

}  // namespace

Selection select_workloads(const SuiteOptions& options) { return Selector(options).run(); }

}  // namespace sinter::suite
