// Stack switching, stacks with a guard page below them, and sanitizer annotations.
#include "src/simt/fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

#include "src/base/check.h"

#if defined(__SANITIZE_ADDRESS__)
#define SINTER_FIBER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SINTER_FIBER_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define SINTER_FIBER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SINTER_FIBER_TSAN 1
#endif
#endif
#ifdef SINTER_FIBER_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef SINTER_FIBER_TSAN
#include <sanitizer/tsan_interface.h>
#endif
#if !defined(__x86_64__) && !defined(__aarch64__)
#define SINTER_FIBER_UCONTEXT 1
#include <ucontext.h>
#endif

// sinter_switch_stack(void** from, void* to): pushes the callee-saved registers, stores the stack
// pointer in *from, then restores those on the stack `to`.
#if defined(__x86_64__)
asm(R"(
.text
.globl sinter_switch_stack
.hidden sinter_switch_stack
.type sinter_switch_stack, @function
sinter_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size sinter_switch_stack, .-sinter_switch_stack
)");
#elif defined(__aarch64__)
asm(R"(
.text
.globl sinter_switch_stack
.hidden sinter_switch_stack
.type sinter_switch_stack, %function
sinter_switch_stack:
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
.size sinter_switch_stack, .-sinter_switch_stack
)");
#endif
#ifndef SINTER_FIBER_UCONTEXT
extern "C" void sinter_switch_stack(void** from, void* to);
#endif

namespace sinter {
namespace {

// The fiber being started: a fresh stack takes no argument.
thread_local Fiber* starting = nullptr;

// Enough for a cluster of the largest blocks; more would waste memory.
constexpr std::size_t kMostIdle = 8192;

std::vector<std::unique_ptr<Fiber>>& idle_fibers() {
  thread_local std::vector<std::unique_ptr<Fiber>> idle;
  return idle;
}

}  // namespace

struct Fiber::Place {
#ifdef SINTER_FIBER_UCONTEXT
  ucontext_t context;
#else
  void* stack_pointer = nullptr;
#endif
  // For sanitizers.
  const void* stack = nullptr;
  std::size_t bytes = 0;
  void* own = nullptr;  // ASan's fake stack, TSan's fiber

  static void go(Place& from, Place& to, bool for_ever) {
#ifdef SINTER_FIBER_ASAN
    __sanitizer_start_switch_fiber(for_ever ? nullptr : &from.own, to.stack, to.bytes);
#endif
#ifdef SINTER_FIBER_TSAN
    __tsan_switch_to_fiber(to.own, 0);
#endif
    (void)for_ever;
#ifdef SINTER_FIBER_UCONTEXT
    swapcontext(&from.context, &to.context);
#else
    sinter_switch_stack(&from.stack_pointer, to.stack_pointer);
#endif
  }
  // Call right after control has passed from `from` to `here`.
  static void arrived([[maybe_unused]] Place& here, [[maybe_unused]] Place& from) {
#ifdef SINTER_FIBER_ASAN
    __sanitizer_finish_switch_fiber(here.own, &from.stack, &from.bytes);
    here.own = nullptr;
#endif
  }
};

Fiber::Fiber() : here_(std::make_unique<Place>()), resumer_(std::make_unique<Place>()) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  mapped_bytes_ = kFiberStackBytes + page;
  mapping_ = mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (mapping_ == MAP_FAILED || mprotect(mapping_, page, PROT_NONE) != 0) {
    const int code = errno;
    if (mapping_ != MAP_FAILED) munmap(mapping_, mapped_bytes_);
    throw DeviceError("[simt] no memory for a thread's stack", "mmap", code);
  }
  stack_ = static_cast<char*>(mapping_) + page;
  here_->stack = stack_;
  here_->bytes = kFiberStackBytes;
#ifdef SINTER_FIBER_TSAN
  here_->own = __tsan_create_fiber(0);
#endif
}

Fiber::~Fiber() {
#ifdef SINTER_FIBER_TSAN
  __tsan_destroy_fiber(here_->own);
#endif
#ifdef SINTER_FIBER_ASAN
  if (prepared_) abandon();  // releases its fake stack
  __asan_unpoison_memory_region(stack_, kFiberStackBytes);
#endif
  munmap(mapping_, mapped_bytes_);
}

// Prepares the stack so that the first switch to it begins run().
void Fiber::prepare_stack() {
#ifdef SINTER_FIBER_ASAN
  __asan_unpoison_memory_region(stack_, kFiberStackBytes);
  here_->own = nullptr;
#endif
#if defined(SINTER_FIBER_UCONTEXT)
  getcontext(&here_->context);
  here_->context.uc_stack.ss_sp = stack_;
  here_->context.uc_stack.ss_size = kFiberStackBytes;
  here_->context.uc_link = nullptr;
  makecontext(&here_->context, &Fiber::run, 0);
#elif defined(__x86_64__)
  // Six registers, run()'s address, and a return address of 0, where debuggers stop unwinding.
  auto* top = reinterpret_cast<std::uintptr_t*>(stack_ + kFiberStackBytes) - 1;
  *top = 0;
  *--top = reinterpret_cast<std::uintptr_t>(&Fiber::run);
  for (int i = 0; i < 6; ++i) *--top = 0;
  here_->stack_pointer = top;
#else
  auto* top = reinterpret_cast<std::uintptr_t*>(stack_ + kFiberStackBytes) - 20;
  for (int i = 0; i < 20; ++i) top[i] = 0;
  top[11] = reinterpret_cast<std::uintptr_t>(&Fiber::run);  // x30
  here_->stack_pointer = top;
#endif
  prepared_ = true;
}

void Fiber::run() {
  Fiber& fiber = *starting;
  Place::arrived(*fiber.here_, *fiber.resumer_);
  for (;;) {
    fiber.function_(fiber.argument_);
    fiber.finished_ = true;
    fiber.pause();
  }
}

void Fiber::start(Function function, void* argument) {
  SINTER_ASSERT(finished_, "a fiber was started twice");
  function_ = function;
  argument_ = argument;
  finished_ = false;
  if (!prepared_) prepare_stack();
  starting = this;
  switch_to_fiber();
}

void Fiber::resume() { switch_to_fiber(); }

void Fiber::switch_to_fiber() {
#ifdef SINTER_FIBER_TSAN
  resumer_->own = __tsan_get_current_fiber();
#endif
  Place::go(*resumer_, *here_, false);
  Place::arrived(*resumer_, *here_);
}

void Fiber::pause() {
  Place::go(*here_, *resumer_, false);
  Place::arrived(*here_, *resumer_);
  if (abandoned_) leave_for_ever();
}

void Fiber::leave_for_ever() { Place::go(*here_, *resumer_, true); }

void Fiber::abandon() {
  abandoned_ = true;
  switch_to_fiber();
  abandoned_ = false;
  prepared_ = false;
  finished_ = true;
}

std::unique_ptr<Fiber> IdleFibers::take() {
  auto& idle = idle_fibers();
  if (idle.empty()) return std::make_unique<Fiber>();
  std::unique_ptr<Fiber> fiber = std::move(idle.back());
  idle.pop_back();
  return fiber;
}

void IdleFibers::give_back(std::unique_ptr<Fiber> fiber) {
  if (idle_fibers().size() < kMostIdle) idle_fibers().push_back(std::move(fiber));
}

}  // namespace sinter
