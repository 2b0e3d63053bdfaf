// One controller that cannot be decoded makes all of them unusable: a sum without it would be
// wrong.
#include "src/profile/memory_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <utility>

namespace sinter {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestFile = 4096;  // sysfs files are at most one page
constexpr int kMostProcessors = 65536;
constexpr std::size_t kMostEvents = 4096;

// Server processors count cache lines; client processors have free-running counters.
struct EventPair {
  const char* read;
  const char* write;
};
constexpr std::array kPairs = {EventPair{"cas_count_read", "cas_count_write"},
                               EventPair{"data_reads", "data_writes"},
                               EventPair{"data_read", "data_write"}, EventPair{"read", "write"}};

// Without the newline. nullopt if the file is missing or larger than sysfs files are.
std::optional<std::string> read_line(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  std::string text(kLargestFile + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.empty() || text.size() > kLargestFile) return std::nullopt;
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

// Parses the whole text, decimal or 0x.
std::optional<std::uint64_t> parse_number(std::string_view text) {
  const bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  std::uint64_t number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, hex ? 16 : 10);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// "3" is {3, 3}; both below `limit`.
std::optional<BitRange> parse_range(std::string_view text, int limit) {
  const std::size_t dash = text.find('-');
  const auto low = parse_number(text.substr(0, dash));
  const auto high = dash == std::string_view::npos ? low : parse_number(text.substr(dash + 1));
  if (!low || !high || *low > *high || *high >= static_cast<std::uint64_t>(limit))
    return std::nullopt;
  return BitRange{static_cast<int>(*low), static_cast<int>(*high)};
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::optional<int> word_of(std::string_view name) {
  if (name == "config") return 0;
  if (name == "config1") return 1;
  if (name == "config2") return 2;
  return std::nullopt;
}

std::uint64_t& word_at(PerfEvent& event, int word) {
  return word == 0 ? event.config : word == 1 ? event.config1 : event.config2;
}

// False if the value has more bits than the format.
bool place_bits(PerfEvent& event, const TermFormat& format, std::uint64_t value) {
  for (const BitRange& range : format.ranges) {
    const int width = range.high - range.low + 1;
    const std::uint64_t mask = width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
    std::uint64_t& word = word_at(event, format.word);
    word = (word & ~(mask << range.low)) | ((value & mask) << range.low);
    value = width == 64 ? 0 : value >> width;
  }
  return value == 0;
}

std::map<std::string, TermFormat> read_formats(const fs::path& directory) {
  std::map<std::string, TermFormat> formats;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    const auto text = read_line(it->path());
    const auto format = text ? parse_format(*text) : std::nullopt;
    if (format && formats.size() < kMostEvents) formats[it->path().filename().string()] = *format;
  }
  return formats;
}

// Scale times unit: "6.103515625e-5" and "MiB" give 64.
std::optional<double> bytes_of_count(const fs::path& event) {
  const auto scale = read_line(event.string() + ".scale");
  const auto unit = read_line(event.string() + ".unit");
  if (!scale || !unit) return std::nullopt;
  double number = 0;
  const auto [end, error] = std::from_chars(scale->data(), scale->data() + scale->size(), number);
  if (error != std::errc() || end != scale->data() + scale->size()) return std::nullopt;
  constexpr std::array<std::pair<std::string_view, double>, 5> kUnits{
      {{"Bytes", 1}, {"B", 1}, {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}}};
  for (const auto& [name, bytes] : kUnits)
    if (*unit == name) {
      const double result = number * bytes;
      // Plausible values are near a cache line; anything else is an error.
      return result > 0 && result <= 0x1p20 ? std::optional(result) : std::nullopt;
    }
  return std::nullopt;
}

// Adds the controller's two events. Returns what is wrong with it, or an empty string.
std::string add_controller(const fs::path& directory, const EventPair& pair,
                           std::vector<MemoryEvent>& events) {
  const std::string name = directory.filename().string();
  const auto type_text = read_line(directory / "type");
  const auto type = type_text ? parse_number(*type_text) : std::nullopt;
  if (!type || *type > UINT32_MAX) return fmt::format("{}/type is not a number", name);
  const auto mask = read_line(directory / "cpumask");
  const auto processors = mask ? parse_processors(*mask) : std::nullopt;
  if (!processors) return fmt::format("{}/cpumask is not a list of processors", name);
  const std::map<std::string, TermFormat> formats = read_formats(directory / "format");
  for (const char* event_name : {pair.read, pair.write}) {
    const fs::path path = directory / "events" / event_name;
    const auto text = read_line(path);
    auto event = text ? parse_event(*text, formats) : std::nullopt;
    if (!event) return fmt::format("{}/events/{} cannot be understood", name, event_name);
    const auto bytes = bytes_of_count(path);
    if (!bytes) return fmt::format("{}/events/{} has no scale and unit in bytes", name, event_name);
    event->type = static_cast<std::uint32_t>(*type);
    events.push_back({*event, *processors, *bytes});
  }
  return "";
}

const EventPair* pair_of(const fs::path& controller) {
  std::error_code error;
  for (const EventPair& pair : kPairs)
    if (fs::exists(controller / "events" / pair.read, error) ||
        fs::exists(controller / "events" / pair.write, error))
      return &pair;
  return nullptr;
}

// Controllers with events, in order. If the same traffic appears in free-running and programmable
// counters, takes the latter.
std::vector<fs::path> controllers_in(const std::string& directory) {
  std::vector<fs::path> programmable;
  std::vector<fs::path> free_running;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (!name.starts_with("uncore_imc") || !pair_of(it->path())) continue;
    const bool always_runs = name.find("free_running") != std::string::npos;
    (always_runs ? free_running : programmable).push_back(it->path());
  }
  std::vector<fs::path>& found = programmable.empty() ? free_running : programmable;
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

std::optional<std::vector<int>> parse_processors(std::string_view text) {
  std::vector<int> processors;
  for (const std::string_view part : split(text)) {
    const auto range = parse_range(part, kMostProcessors);
    if (!range) return std::nullopt;
    for (int i = range->low; i <= range->high; ++i) processors.push_back(i);
    if (processors.size() > kMostProcessors) return std::nullopt;
  }
  return processors;
}

std::optional<TermFormat> parse_format(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto word = word_of(text.substr(0, colon));
  if (!word) return std::nullopt;
  TermFormat format{*word, {}};
  for (const std::string_view part : split(text.substr(colon + 1))) {
    const auto range = parse_range(part, 64);
    if (!range) return std::nullopt;
    format.ranges.push_back(*range);
  }
  return format;
}

std::optional<PerfEvent> parse_event(std::string_view text,
                                     const std::map<std::string, TermFormat>& formats) {
  PerfEvent event;
  for (const std::string_view term : split(text)) {
    const std::size_t equals = term.find('=');
    const std::string name(term.substr(0, equals));
    // A term without a value is a flag.
    const auto value = equals == std::string_view::npos ? std::optional<std::uint64_t>(1)
                                                        : parse_number(term.substr(equals + 1));
    if (!value) return std::nullopt;
    const auto format = formats.find(name);
    if (format != formats.end()) {
      if (!place_bits(event, format->second, *value)) return std::nullopt;
    } else if (const auto word = word_of(name)) {
      word_at(event, *word) = *value;
    } else {
      return std::nullopt;
    }
  }
  return event;
}

MemoryEvents find_memory_events(const std::string& directory) {
  const std::vector<fs::path> controllers = controllers_in(directory);
  if (controllers.empty())
    return {{},
            "no uncore_imc counters of memory traffic here (Intel's memory controllers show them, "
            "outside of virtual machines)"};
  MemoryEvents found;
  for (const fs::path& controller : controllers) {
    const std::string wrong = add_controller(controller, *pair_of(controller), found.events);
    if (!wrong.empty()) return {{}, "the counters of memory traffic are not usable: " + wrong};
    if (found.events.size() > kMostEvents)
      return {{}, "the counters of memory traffic are not usable: there are too many"};
  }
  return found;
}

}  // namespace sinter
