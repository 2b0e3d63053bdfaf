// NVRTC, the CUDA compiler as a library, found at run time as the driver is.
// In: CUDA C++ text and an architecture. Out: a cubin or PTX, or a CompileError with the log and
// the path of the kept source.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace sinter {

enum class CudaImage : unsigned char { cubin, ptx };

class Nvrtc {
 public:
  // The first of `paths` that is there and of CUDA 12.0 or newer. DeviceError that says what to
  // install where none is. The library stays loaded for the life of the process.
  static std::shared_ptr<const Nvrtc> load(const std::vector<std::string>& paths);
  // This machine's, for a driver of that version (12040 is CUDA 12.4): a cubin of a newer CUDA
  // than the driver's may not load, so the driver's own generation is looked for first.
  static std::shared_ptr<const Nvrtc> find(int driver_version);
  // Where find() looks, in order.
  static std::vector<std::string> candidates(int driver_version, const char* cuda_home,
                                             const char* cuda_path);

  Nvrtc(const Nvrtc&) = delete;
  Nvrtc& operator=(const Nvrtc&) = delete;

  const std::string& path() const { return path_; }
  int version() const { return version_; }  // 12040 is CUDA 12.4
  std::string version_text() const;         // "12.4"
  // As "90" for sm_90, in ascending order.
  const std::vector<int>& architectures() const { return architectures_; }

  // `name` is for messages; `architecture` is "sm_90a" or, for PTX, "compute_90" too. A source
  // that fails is kept in `failed_sources`, or in TMPDIR if that is empty. Safe from many threads:
  // they compile at the same time. `contract`: products may become part of the sums they feed.
  std::string compile(const std::string& text, const std::string& name,
                      const std::string& architecture, CudaImage image,
                      const std::string& failed_sources = "", bool contract = true) const;

  // What compile() passes besides the architecture, for keys.
  std::string options_text() const;

 private:
  struct Functions;
  explicit Nvrtc(const std::string& path, std::unique_ptr<Functions> functions);

  std::string path_;
  std::unique_ptr<Functions> functions_;
  int version_ = 0;
  std::vector<int> architectures_;
};

}  // namespace sinter
