// Threads take the next program until none is left; the caller is one of them.
#include "src/runtime/compile_all.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <system_error>
#include <thread>

namespace sinter {
namespace {

class Compilation {
 public:
  Compilation(std::span<const tile::TileProgram* const> programs, const CompileOne& compile)
      : programs_(programs),
        compile_(compile),
        kernels_(programs.size()),
        errors_(programs.size()) {}

  std::vector<KernelPtr> run() {
    const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
    std::vector<std::thread> helpers;
    try {
      while (helpers.size() + 1 < std::min(cores, programs_.size()))
        helpers.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      // No more threads to be had: those that run do it.
    }
    work();
    for (std::thread& helper : helpers) helper.join();
    for (const std::exception_ptr& error : errors_)
      if (error) std::rethrow_exception(error);
    return std::move(kernels_);
  }

 private:
  void work() {
    for (std::size_t i = next_++; i < programs_.size(); i = next_++) {
      try {
        kernels_[i] = compile_(*programs_[i]);
      } catch (...) {
        errors_[i] = std::current_exception();
      }
    }
  }

  std::span<const tile::TileProgram* const> programs_;
  const CompileOne& compile_;
  std::vector<KernelPtr> kernels_;
  std::vector<std::exception_ptr> errors_;
  std::atomic<std::size_t> next_{0};
};

}  // namespace

std::vector<KernelPtr> compile_all(std::span<const tile::TileProgram* const> programs,
                                   const CompileOne& compile) {
  return Compilation(programs, compile).run();
}

}  // namespace sinter
