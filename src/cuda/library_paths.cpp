// Each version in every directory, then the next version.
#include "src/cuda/library_paths.h"

#include <cstdlib>
#include <utility>

namespace sinter {

std::vector<std::string> cuda_library_paths(const std::string& name, int driver_version,
                                            const char* cuda_home, const char* cuda_path) {
  const std::string file = "lib" + name + ".so";
  std::vector<std::string> names = {file + ".13", file + ".12", file};
  if (driver_version < 13000) std::swap(names[0], names[1]);
  std::vector<std::string> directories = {""};  // "": the loader's search path
  for (const char* home : {cuda_home, cuda_path})
    if (home && *home)
      for (const char* lib : {"/lib64/", "/lib/"}) directories.push_back(std::string(home) + lib);
  for (const char* directory : {"/usr/local/cuda/lib64/", "/usr/local/cuda/lib/"})
    directories.emplace_back(directory);
  std::vector<std::string> paths;
  for (const std::string& versioned : names)
    for (const std::string& directory : directories) paths.push_back(directory + versioned);
  return paths;
}

std::vector<std::string> cuda_library_paths(const std::string& name, int driver_version) {
  return cuda_library_paths(name, driver_version, std::getenv("CUDA_HOME"),
                            std::getenv("CUDA_PATH"));
}

}  // namespace sinter
