// Runs independent host work, such as compilations, on several threads. In: the number of items,
// the number of threads and the work of one item. Out: all items done.
#pragma once

#include <cstddef>
#include <functional>

namespace sinter {

// Calls work(0) .. work(count - 1) once each on at most `threads` threads, including the caller's.
// When all are done, rethrows the exception of the first item that failed.
void in_parallel(std::size_t count, std::size_t threads,
                 const std::function<void(std::size_t)>& work);

}  // namespace sinter
