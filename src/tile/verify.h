// Verification errors as values: verify() throws them as an InternalError, the parser as a
// UserError at the instruction's position.
#pragma once

#include <optional>
#include <string>

#include "src/base/by_id.h"
#include "src/tile/program.h"

namespace sinter::tile {

struct Mistake {
  std::string message;
  int instr = -1;  // index in the order of for_each_instr(); -1: not in an instruction
};

// The first mistake, if there is one. `names` are the values' names in messages ("%x"); values
// without a name are named by their number.
std::optional<Mistake> find_mistake(const TileProgram& program,
                                    const ById<ValueId, std::string>& names = {});

// Why a GPU cannot run programs with this mapping; empty if it can.
std::string mapping_mistake(const Mapping& mapping);
// Why a scalar parameter cannot be declared like this; empty if it can.
std::string scalar_mistake(const ScalarParam& scalar);

}  // namespace sinter::tile
