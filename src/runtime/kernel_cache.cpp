// Kernels are here when they are finished; BuildOnce knows those being compiled.
// The key hashes the program's fields rather than its text: no strings are made for a cache hit.
#include "src/runtime/kernel_cache.h"

#include <bit>
#include <utility>

namespace sinter {
namespace {

template <typename Enum>
std::uint64_t number_of(Enum value) {
  return static_cast<std::uint64_t>(value);
}

void add_ids(Hasher& hasher, const std::vector<tile::ValueId>& ids) {
  hasher.add(ids.size());
  for (const tile::ValueId id : ids) hasher.add(static_cast<std::uint64_t>(id));
}

void add_block(Hasher& hasher, const std::vector<tile::Instr>& body) {
  hasher.add(body.size());
  for (const tile::Instr& instr : body) {
    hasher.add(number_of(instr.code)).add(number_of(instr.op));
    hasher.add(number_of(instr.reduce_kind)).add(number_of(instr.axis));
    hasher.add(number_of(instr.storage)).add(static_cast<std::uint64_t>(instr.index));
    hasher.add(std::bit_cast<std::uint64_t>(instr.real));
    hasher.add(static_cast<std::uint64_t>(instr.integer));
    add_ids(hasher, instr.results);
    add_ids(hasher, instr.args);
    add_ids(hasher, instr.body_params);
    add_ids(hasher, instr.body_yields);
    add_block(hasher, instr.body);
  }
}

}  // namespace

Hash128 program_key(const tile::TileProgram& program) {
  Hasher hasher;
  hasher.add(program.name).add(static_cast<std::uint64_t>(program.caching));
  hasher.add(std::uint64_t{program.separate_ops});
  for (const int number :
       {program.mapping.threads, program.mapping.threads_per_row, program.mapping.vector,
        program.mapping.cluster, program.mapping.blocks_at_once, program.mapping.ahead})
    hasher.add(static_cast<std::uint64_t>(number));
  hasher.add(std::uint64_t{program.mapping.wide_index})
      .add(std::uint64_t{program.mapping.late_loads});
  hasher.add(program.buffers.size());
  for (const tile::BufferParam& buffer : program.buffers)
    hasher.add(buffer.name)
        .add(number_of(buffer.dtype))
        .add(std::uint64_t{buffer.written})
        .add(std::uint64_t{buffer.reused});
  hasher.add(program.scalars.size());
  for (const tile::ScalarParam& scalar : program.scalars)
    hasher.add(scalar.name)
        .add(number_of(scalar.dtype))
        .add(static_cast<std::uint64_t>(scalar.multiple_of));
  hasher.add(program.values.size());
  for (const tile::Value& value : program.values)
    hasher.add(number_of(value.dtype))
        .add(static_cast<std::uint64_t>(value.shape.rows))
        .add(static_cast<std::uint64_t>(value.shape.cols));
  add_block(hasher, program.body);
  return hasher.finish();
}

KernelCache::KernelCache()
    : fork_listener_([this] { mutex_.lock(); }, [this](bool) { mutex_.unlock(); }) {}

KernelPtr KernelCache::find(const Hash128& key) const {
  const std::lock_guard lock(mutex_);
  const auto it = kernels_.find(key);
  return it == kernels_.end() ? nullptr : it->second;
}

KernelPtr KernelCache::get(const Hash128& key, const std::function<KernelPtr()>& compile) {
  if (KernelPtr kernel = find(key)) return kernel;
  return builds_.run(key, [&] {
    if (KernelPtr kernel = find(key)) return kernel;
    KernelPtr kernel = compile();
    KernelPtr replaced = kernel;  // destroyed after the lock is gone
    const std::lock_guard lock(mutex_);
    kernels_[key].swap(replaced);
    return kernel;
  });
}

std::size_t KernelCache::size() const {
  const std::lock_guard lock(mutex_);
  return kernels_.size();
}

void KernelCache::clear() {
  decltype(kernels_) dropped;  // destroyed after the lock is gone
  const std::lock_guard lock(mutex_);
  dropped.swap(kernels_);
}

void KernelCache::drop_if_unused(const Hash128& key) {
  KernelPtr dropped;  // destroyed after the lock is gone
  const std::lock_guard lock(mutex_);
  const auto it = kernels_.find(key);
  // Copies of the pointer are made from copies, and from here, under the lock.
  if (it == kernels_.end() || it->second.use_count() != 1) return;
  dropped = std::move(it->second);
  kernels_.erase(it);
}

}  // namespace sinter
