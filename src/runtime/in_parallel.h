// Independent pieces of the host's work, such as compilations, on several threads at once.
// In: how many pieces, how many threads, and what does a piece. Out: all of them done.
#pragma once

#include <cstddef>
#include <functional>

namespace sinter {

// Calls work(0) .. work(count - 1) once each, on `threads` threads at most; the caller is one of
// them. When all are done, throws what the first of those that failed threw.
void in_parallel(std::size_t count, std::size_t threads,
                 const std::function<void(std::size_t)>& work);

}  // namespace sinter
