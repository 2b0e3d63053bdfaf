// Small functions on tile programs.
#include "src/tile/program.h"

namespace sinter::tile {

TileShape broadcast(TileShape a, TileShape b) {
  auto join = [](std::int64_t x, std::int64_t y) -> std::int64_t {
    if (x == y || y == 1) return x;
    return x == 1 ? y : 0;
  };
  return {join(a.rows, b.rows), join(a.cols, b.cols)};
}

void for_each_instr(const std::vector<Instr>& body,
                    const std::function<void(const Instr&)>& visit) {
  for (const Instr& instr : body) {
    visit(instr);
    for_each_instr(instr.body, visit);
  }
}

const char* name_of(Caching caching) {
  constexpr const char* kNames[] = {"any", "results", "operands", "nothing"};
  return kNames[static_cast<std::size_t>(caching)];
}

}  // namespace sinter::tile
