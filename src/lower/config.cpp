// Access to what configs share, and printing.
#include "src/lower/config.h"

#include <utility>

#include "src/base/check.h"
#include "src/lower/family.h"

namespace sinter {
namespace {

std::string to_string(const tile::Mapping& mapping) {
  std::string text;
  if (mapping.threads > 0)
    text +=
        fmt::format(", {} threads, {} a row, vectors of {}{}", mapping.threads,
                    mapping.threads_per_row, mapping.vector,
                    mapping.cluster > 1 ? fmt::format(", clusters of {}", mapping.cluster) : "");
  if (mapping.ahead > 0) text += fmt::format(", {} fetched ahead", mapping.ahead);
  return text;
}

}  // namespace

const Tiling& tiling_of(const Config& config) {
  return std::visit(
      [](const auto& each) -> const Tiling& {
        if constexpr (requires { each.tiling; }) return each.tiling;
        SINTER_ASSERT(false, "a library call has no tiles");
      },
      config);
}

Tiling& tiling_of(Config& config) { return const_cast<Tiling&>(tiling_of(std::as_const(config))); }

bool is_online(const Config& config) {
  if (const auto* column = std::get_if<ColumnConfig>(&config)) return column->online;
  if (const auto* chunked = std::get_if<ChunkedConfig>(&config)) return chunked->online;
  return false;
}

std::string to_string(const Config& config) {
  if (std::holds_alternative<LibraryConfig>(config)) return "a call of cuBLASLt";
  const Tiling& tiling = tiling_of(config);
  std::string text =
      fmt::format("{} ({}, {})", family_of(config).name, tiling.tile_rows, tiling.tile_cols);
  if (tiling.caching != tile::Caching::any)
    text += fmt::format(" keeps {}", name_of(tiling.caching));
  if (is_online(config)) text += " online";
  return text + to_string(tiling.mapping);
}

}  // namespace sinter
