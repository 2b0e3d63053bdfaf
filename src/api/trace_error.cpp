// "[add] shapes do not broadcast: ...; while tracing 'layer' with inputs f32(4, 8), f32(9, 3)"
#include "src/api/trace_error.h"

#include <fmt/format.h>

#include <algorithm>
#include <typeinfo>

namespace sinter {
namespace {

std::string inputs_text(std::span<const Tensor> inputs) {
  constexpr std::size_t kShown = 8;
  if (inputs.empty()) return "without inputs";
  std::string text = inputs.size() == 1 ? "with input " : "with inputs ";
  for (std::size_t i = 0; i < std::min(inputs.size(), kShown); ++i)
    text += fmt::format("{}{}{}", i ? ", " : "", name_of(inputs[i].dtype()),
                        to_string(inputs[i].shape()));
  if (inputs.size() > kShown) text += fmt::format(" and {} more", inputs.size() - kShown);
  return text;
}

}  // namespace

void rethrow_naming(const UserError& error, const std::string& name,
                    std::span<const Tensor> inputs) {
  if (typeid(error) != typeid(UserError)) throw;
  const std::string function = !name.empty()
                                   ? fmt::format("'{}'", name)
                                   : fmt::format("an unnamed function of {} tensor{}",
                                                 inputs.size(), inputs.size() == 1 ? "" : "s");
  throw UserError(
      fmt::format("{}; while tracing {} {}", error.what(), function, inputs_text(inputs)));
}

}  // namespace sinter
