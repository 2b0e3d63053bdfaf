// TunedChoice: what tuning decides of a Config, without what follows from the sizes, so that it can
// be kept in a file and found again among the candidates of another space.
// In: a Config. Out: its choice, and the candidate that a choice means.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "src/lower/config.h"

namespace sinter {

struct TunedChoice {
  Form form = Form::pointwise;
  int threads = 0;  // of a block
  int threads_per_row = 0;
  int vector = 1;  // elements that a thread takes at once
  int cluster = 1;
  std::int64_t tile_rows = 1;
  std::int64_t vectors =
      1;                   // that a thread takes of a row of the tile; rows: follows from the size
  int blocks_at_once = 0;  // rows: follows from the size, too
  int ahead = 0;           // programs that a block fetches while it runs another
  tile::Caching caching = tile::Caching::any;
  bool online = false;
  friend bool operator==(const TunedChoice&, const TunedChoice&) = default;
};

TunedChoice choice_of(const Config& config);

// Why no GPU's candidate can be this; empty if one can.
std::string refusal_of(const TunedChoice& choice);

// The candidate that `choice` means; nothing where these have none.
std::optional<Config> matching(const TunedChoice& choice, std::span<const Config> candidates);

}  // namespace sinter
