// Sample: which elements of a program's results are checked, and which elements of its values these
// depend on. In: a graph and a work limit. Out: as many elements as the limit allows.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "src/graph/graph.h"
#include "src/suite/reference/element_set.h"

namespace sinter::suite {

// Evenly spaced indices along each axis of an output.
class OutputSample {
 public:
  OutputSample(const Shape& shape, const Shape& kept) : shape_(shape), kept_(kept) {}

  std::int64_t count() const { return kept_.numel(); }
  // The row-major position in the output of the sample's i-th element.
  std::int64_t position(std::int64_t i) const;

 private:
  Shape shape_;
  Shape kept_;  // how many of each axis
};

struct Sample {
  std::vector<OutputSample> outputs;
  ById<NodeId, ElementSet> needed;  // for every node except constants
  std::int64_t work = 0;            // elements computed and elements reduced
};

// All elements of the outputs if these take at most `work`. Otherwise whole slices along the axis
// that allows the most elements: rows of a program that works row by row, columns of one that works
// along columns. Nullopt if even a single element of each output takes more.
std::optional<Sample> choose_sample(const Graph& graph, std::int64_t work);

}  // namespace sinter::suite
