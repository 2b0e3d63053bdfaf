// Errors during tracing: they name the function and its inputs.
#pragma once

#include <sinter/error.h>
#include <sinter/tensor.h>

#include <span>
#include <string>

namespace sinter {

// Call while handling `error`. Throws a UserError that begins with its text; exceptions derived
// from UserError propagate unchanged. `name` is CompileOptions::name and may be empty.
[[noreturn]] void rethrow_naming(const UserError& error, const std::string& name,
                                 std::span<const Tensor> inputs);

}  // namespace sinter
