// Finding cases by name, and reading programs.
#include "cli/subject.h"

#include <fmt/format.h>

#include "src/api/program_file.h"
#include "src/base/check.h"
#include "src/suite/cases/case.h"
#include "src/suite/cases/inputs.h"
#include "src/suite/cases/program_inputs.h"
#include "src/suite/cases/program_sizes.h"

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

Subject program_subject(const SubjectArguments& arguments) {
  if (!arguments.dtype.empty())
    fail_user(arguments.command, "a program has its own types: --dtype is for the suite's cases");
  const auto file = std::make_shared<const ProgramFile>(arguments.name);
  const SizeValues sizes =
      arguments.shape.empty()
          ? SizeValues{}
          : suite::parse_sizes(arguments.shape, file->program(), arguments.name, arguments.command);
  const ParsedProgram program = file->with_sizes(sizes);
  const auto specs = suite::input_specs(program.graph);
  return {
      arguments.name,
      "",
      suite::sizes_text(program),
      suite::dtypes_text(program.graph),
      [file, sizes](std::span<const Tensor> inputs) { return file->trace_example(inputs, sizes); },
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

Subject find_subject(const SubjectArguments& arguments) {
  return suite::is_program_path(arguments.name) ? program_subject(arguments)
                                                : case_subject(arguments);
}

}  // namespace sinter::cli
