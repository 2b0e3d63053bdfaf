// Errors of a function that is being traced: they say which function it was, and with what inputs.
#pragma once

#include <sinter/error.h>
#include <sinter/tensor.h>

#include <span>
#include <string>

namespace sinter {

// Call it where `error` is being handled. Throws a UserError with its text first; an exception of a
// type derived from UserError goes on as it is. `name`: as in CompileOptions, may be empty.
[[noreturn]] void rethrow_naming(const UserError& error, const std::string& name,
                                 std::span<const Tensor> inputs);

}  // namespace sinter
