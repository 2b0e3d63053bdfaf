// Finding cases by name, and reading programs.
#include "cli/subject.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "src/api/program_file.h"
#include "src/base/check.h"
#include "src/suite/cases/case.h"
#include "src/suite/cases/inputs.h"
#include "src/suite/cases/program_inputs.h"

namespace sinter::cli {
namespace {

Subject case_subject(const SubjectArguments& arguments) {
  const suite::Case& each = suite::find_case(arguments.name, arguments.command);
  const suite::Shape2 shape = suite::parse_shape(
      arguments.shape.empty() ? "4096x4096" : arguments.shape, arguments.command);
  const DType dtype =
      suite::parse_dtype(arguments.dtype.empty() ? "f32" : arguments.dtype, arguments.command);
  Subject subject{each.name,
                  each.formula,
                  suite::to_string(shape),
                  std::string(name_of(dtype)),
                  each.program,
                  static_cast<int>(each.inputs.size()),
                  {},
                  {}};
  subject.unbacked_inputs = [&each, shape, dtype](const std::shared_ptr<Device>& device) {
    return suite::unbacked_inputs(each, shape, dtype, device);
  };
  subject.make_inputs = [&each, shape, dtype](const std::shared_ptr<Device>& device,
                                              ThreadPool& threads) {
    return suite::make_inputs(each, shape, dtype, device, threads);
  };
  return subject;
}

// "4096x128" gives the first declared size 4096 and the second 128.
SizeValues parse_sizes(const SubjectArguments& arguments, const ParsedProgram& program) {
  SizeValues sizes;
  std::vector<std::string> names;
  for (const auto& [name, value] : program.sizes) names.push_back(name);
  const std::string_view text = arguments.shape;
  const auto fail = [&] {
    if (names.empty())
      fail_user(arguments.command, "{} declares no sizes, so it takes no --shape", arguments.name);
    fail_user(arguments.command, "'{}' does not give the sizes of {}; expected {}", text,
              arguments.name, fmt::join(names, "x"));
  };
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  for (const std::string& name : names) {
    std::int64_t value = 0;
    const auto [stop, error] = std::from_chars(at, end, value);
    const bool is_last = sizes.size() + 1 == names.size();
    if (error != std::errc() || (is_last ? stop != end : stop == end || *stop != 'x')) fail();
    sizes[name] = value;
    at = stop + (is_last ? 0 : 1);
  }
  if (names.empty()) fail();
  return sizes;
}

std::string sizes_text(const ParsedProgram& program) {
  std::vector<std::int64_t> values;
  for (const auto& [name, value] : program.sizes) values.push_back(value);
  return fmt::format("{}", fmt::join(values, "x"));
}

std::string dtypes_text(const Graph& graph) {
  std::vector<std::string_view> names;
  for (const NodeId input : graph.inputs) {
    const std::string_view name = name_of(graph[input].dtype);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return fmt::format("{}", fmt::join(names, ","));
}

Subject program_subject(const SubjectArguments& arguments) {
  if (!arguments.dtype.empty())
    fail_user(arguments.command, "a program has its own types: --dtype is for the suite's cases");
  const auto file = std::make_shared<const ProgramFile>(arguments.name);
  const ParsedProgram program = arguments.shape.empty()
                                    ? file->program()
                                    : file->with_sizes(parse_sizes(arguments, file->program()));
  const auto specs = suite::input_specs(program.graph);
  return {arguments.name, "", sizes_text(program), dtypes_text(program.graph),
          // Numbers have the values in the file: kernels take them as they take constants.
          [file](std::span<const Tensor> inputs) {
            return file->trace({inputs, file->example_numbers()});
          },
          static_cast<int>(program.inputs.size()),
          [specs](const std::shared_ptr<Device>& device) {
            return suite::unbacked_inputs(specs, device);
          },
          [specs](const std::shared_ptr<Device>& device, ThreadPool&) {
            return suite::random_inputs(specs, device);
          }};
}

}  // namespace

std::string Subject::title() const {
  std::string text = name;
  for (const std::string* part : {&shape, &dtype})
    if (!part->empty()) text += " " + *part;
  return text;
}

bool is_program_path(std::string_view name) {
  return name.ends_with(".sinter") || name.find('/') != std::string_view::npos;
}

Subject find_subject(const SubjectArguments& arguments) {
  return is_program_path(arguments.name) ? program_subject(arguments) : case_subject(arguments);
}

}  // namespace sinter::cli
