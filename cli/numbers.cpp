// Replaces CLI::Range, which accepts NaN because it is neither below nor above the bounds.
#include "cli/numbers.h"

#include <fmt/format.h>

#include <charconv>

namespace sinter::cli {

CLI::Validator number_between(double least, double most, const std::string& what) {
  const auto check = [=](std::string& text) -> std::string {
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    // Written so that NaN is refused too.
    const bool accepted = error == std::errc() && stop == end && value >= least && value <= most;
    if (accepted) return "";
    return fmt::format("'{}' is not {}: expected a number from {} to {}", text, what, least, most);
  };
  return {check, fmt::format("FLOAT in [{} - {}]", least, most)};
}

CLI::Validator whole_number_between(std::uint64_t least, std::uint64_t most,
                                    const std::string& what) {
  const auto check = [=](std::string& text) -> std::string {
    std::uint64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc() && stop == end && value >= least && value <= most) return "";
    return fmt::format("'{}' is not {}: expected a whole number from {} to {}", text, what, least,
                       most);
  };
  return {check, fmt::format("INT in [{} - {}]", least, most)};
}

}  // namespace sinter::cli
