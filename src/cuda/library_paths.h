// Where libraries of the CUDA toolkit may be. In: a library's name, the driver's version, the
// environment. Out: paths for dlopen, in order.
#pragma once

#include <string>
#include <vector>

namespace sinter {

// `name` is "nvrtc" for libnvrtc.so. The driver's own CUDA version comes first, since a library of
// a newer CUDA may not run on it.
std::vector<std::string> cuda_library_paths(const std::string& name, int driver_version,
                                            const char* cuda_home, const char* cuda_path);
// With this process' CUDA_HOME and CUDA_PATH.
std::vector<std::string> cuda_library_paths(const std::string& name, int driver_version);

}  // namespace sinter
