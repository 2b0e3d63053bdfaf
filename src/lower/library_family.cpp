// Library: a matrix product as one call of the machine's library, without any fusion.
#include <algorithm>
#include <string_view>

#include "src/base/check.h"
#include "src/fuse/products.h"
#include "src/lower/families.h"

namespace sinter {
namespace {

MatrixProduct product_of(const IterationSpace& space) {
  const auto write = std::find_if(space.accesses.begin(), space.accesses.end(),
                                  [](const Access& access) { return access.write; });
  return matrix_product(space.axes, {space.accesses[space.contraction->a].strides,
                                     space.accesses[space.contraction->b].strides, write->strides});
}

std::int64_t multiplications_of(const IterationSpace& space) {
  std::int64_t count = 1;
  for (AxisId i = 0; i < space.axes.end_id(); ++i) count *= space.size(i);
  return count;
}

// The planner leaves large products of tensors in memory to the library.
std::string_view runs_alone(const Graph& graph, const Node& node, const View& result,
                            const Machine& machine) {
  if (machine.matmul_library != MatmulLibrary::cublaslt || node.op != Op::contract) return "";
  for (const Operand& operand : node.operands)
    if (is_scalar(graph[operand.node].op) || graph[operand.node].op == Op::iota) return "";
  if (!is_worth_a_library(node.operands[0].view.shape.numel()) || !reuses_operands(node)) return "";
  if (!matrix_product(node, result).refusal.empty()) return "";
  return "the matrix product runs in cuBLASLt, which gains more than fusing would";
}

Offer offer(const IterationSpace& space, const Machine& machine, Wanted) {
  if (!space.contraction) return refused("the group is no matrix product");
  if (machine.kind == MachineKind::cpu) return refused("the device has no cuBLASLt");
  if (space.batch_invariant)
    return refused("cuBLASLt chooses the order of additions by shape, this program by length only");
  const char* const library_refused = "cuBLASLt refused a product of this program";
  const bool has_refused = machine.matmul_library == MatmulLibrary::refused;
  if (!space.contraction->is_alone)
    return refused(has_refused && is_worth_a_library(multiplications_of(space))
                       ? library_refused
                       : "the product is fused with what follows it");
  if (std::any_of(space.accesses.begin(), space.accesses.end(),
                  [](const Access& access) { return access.split.has_value(); }))
    return refused("an operand steps unevenly along the summed axis");
  const MatrixProduct product = product_of(space);
  if (!product.refusal.empty()) return refused(product.refusal);
  if (!is_worth_a_library(multiplications_of(space))) return refused("the product is small");
  // Last: a device loads its library when a program has work for it.
  if (machine.matmul_library == MatmulLibrary::none) return refused("the device has no cuBLASLt");
  if (has_refused) return refused(library_refused);
  return {{LibraryConfig{}}, "", {library_rule()}};
}

// A matrix with these strides. The stride along a unit axis is ignored.
LibraryMatrix stored(std::int64_t rows, std::int64_t cols, const MatrixStrides& strides) {
  const bool by_rows = (cols == 1 || strides.col == 1) && (rows == 1 || strides.row >= cols);
  LibraryMatrix matrix;
  matrix.is_transposed = !by_rows;
  matrix.line = by_rows ? (rows == 1 ? cols : strides.row) : (cols == 1 ? rows : strides.col);
  matrix.batch = strides.batch;
  return matrix;
}

Kernel lower_group(const Plan& plan, GroupId group, const IterationSpace& space, const Config&) {
  const MatrixProduct product = product_of(space);
  const NodeId id = plan.groups[group].nodes.front();
  const Node& node = plan.graph[id];
  LibraryMatmul call;
  call.dtype = plan.graph.dtype(node.operands[0]);
  call.result = node.dtype;
  call.m = product.m;
  call.n = product.n;
  call.k = product.k;
  call.batch = product.batch;
  call.a = stored(product.m, product.k, product.a);
  call.b = stored(product.k, product.n, product.b);
  call.c = stored(product.m, product.n, product.c);

  Kernel kernel;
  kernel.body = call;
  kernel.grid = 1;
  for (const Access* access : {&space.accesses[space.contraction->a],
                               &space.accesses[space.contraction->b], &space.find_write(id)}) {
    const NodeId owner = plan.placements[access->node].buffer;
    kernel.buffers.push_back({owner, access->offset, access->write});
  }
  return kernel;
}

}  // namespace

RuleText library_rule() {
  return {"tile of a product", "cuBLASLt takes the product", "the library picks its own kernel"};
}

Family library_family() {
  return {.name = "library",
          .offer = offer,
          .lower = lower_group,
          .same_bits = [](const Config&, const Config&) { return true; },
          .fields = {},
          .describe = [](const Config&) { return std::string("cuBLASLt"); },
          .runs_alone = runs_alone,
          .merit = "it gains more than fusing with what follows would"};
}

}  // namespace sinter
