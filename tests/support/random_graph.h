// Small graphs of pointwise ops, reductions, concats and views, by seed.
#pragma once

#include "src/graph/graph.h"

namespace sinter::testing_support {

Graph random_graph(unsigned seed);

}  // namespace sinter::testing_support
