// Choices are compared field by field, by the table of the config's family.
#include "src/tune/choice.h"

#include <bit>

#include "src/base/check.h"

namespace sinter {
namespace {

bool differs_by_size_only(const TunedChoice& a, const TunedChoice& b,
                          std::span<const ConfigField> fields) {
  if (a.family != b.family) return false;
  for (std::size_t i = 0; i < fields.size(); ++i)
    if (!fields[i].follows_size && a.values[i] != b.values[i]) return false;
  return true;
}

}  // namespace

TunedChoice choice_of(const Config& config) {
  const Family& family = family_of(config);
  TunedChoice choice{std::string(family.name), {}};
  for (const ConfigField& field : family.fields) choice.values.push_back(field.get(config));
  return choice;
}

std::string refusal_of(const ConfigField& field, std::int64_t value) {
  if (value < field.least || value > field.most)
    return field.is_power
               ? fmt::format("{} is {}, not a power of two up to {}", field.name, value, field.most)
               : fmt::format("{} is {}, not from {} to {}", field.name, value, field.least,
                             field.most);
  if (field.is_power && !std::has_single_bit(static_cast<std::uint64_t>(value)))
    return fmt::format("{} is {}, not a power of two up to {}", field.name, value, field.most);
  return "";
}

std::optional<Config> matching(const TunedChoice& choice, std::span<const Config> candidates) {
  std::optional<Config> other_size;
  for (const Config& candidate : candidates) {
    const TunedChoice each = choice_of(candidate);
    if (each == choice) return candidate;
    if (!other_size && differs_by_size_only(each, choice, family_of(candidate).fields))
      other_size = candidate;
  }
  return other_size;
}

}  // namespace sinter
