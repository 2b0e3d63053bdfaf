// TunedChoice: the part of a Config that tuning decides, without what follows from the sizes, so
// that it can be stored in a file and found among the candidates for another size. In: a Config.
// Out: its choice, and the candidate that a choice selects.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "src/lower/config.h"

namespace sinter {

struct TunedChoice {
  Form form = Form::pointwise;
  int threads = 0;  // per block
  int threads_per_row = 0;
  int vector = 1;  // elements per vector access
  int cluster = 1;
  std::int64_t tile_rows = 1;
  // Vectors per thread and row of the tile; for rows it follows from the size.
  std::int64_t vectors = 1;
  int blocks_at_once = 0;  // for rows it follows from the size too
  int ahead = 0;           // prefetch depth: programs a block loads while it runs another
  tile::Caching caching = tile::Caching::any;
  bool online = false;
  friend bool operator==(const TunedChoice&, const TunedChoice&) = default;
};

TunedChoice choice_of(const Config& config);

// Why no candidate on any GPU can match this; empty if one can.
std::string refusal_of(const TunedChoice& choice);

// The candidate that `choice` selects; nullopt if there is none.
std::optional<Config> matching(const TunedChoice& choice, std::span<const Config> candidates);

}  // namespace sinter
