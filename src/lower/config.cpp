// Accessors for fields that configs share.
#include "src/lower/config.h"

#include <utility>

#include "src/base/check.h"
#include "src/lower/family.h"

namespace sinter {

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

std::string to_string(const Config& config) { return family_of(config).describe(config); }

}  // namespace sinter
