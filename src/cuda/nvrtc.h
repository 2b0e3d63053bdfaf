// NVRTC, the CUDA compiler library, loaded at run time like the driver. In: CUDA C++ text and an
// architecture. Out: a cubin or PTX, or a CompileError with the log and the path of the saved
// source.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace sinter {

enum class CudaImage : unsigned char { cubin, ptx };

class Nvrtc {
 public:
  // The first of `paths` that exists and is CUDA 12.0 or newer. DeviceError with installation
  // advice if there is none. The library stays loaded until the process exits.
  static std::shared_ptr<const Nvrtc> load(const std::vector<std::string>& paths);
  // This machine's, for a driver of that version (12040 is CUDA 12.4).
  static std::shared_ptr<const Nvrtc> find(int driver_version);

  Nvrtc(const Nvrtc&) = delete;
  Nvrtc& operator=(const Nvrtc&) = delete;

  const std::string& path() const { return path_; }
  int version() const { return version_; }  // 12040 is CUDA 12.4
  std::string version_text() const;         // "12.4"
  // Ascending; 90 stands for sm_90.
  const std::vector<int>& architectures() const { return architectures_; }

  // `name` is for messages; `architecture` is "sm_90a" or, for PTX, "compute_90". A source that
  // fails is saved in `failed_sources`, or in TMPDIR if that is empty. Thread-safe; calls compile
  // concurrently. `contract` allows fusing multiplications and additions into FMAs.
  std::string compile(const std::string& text, const std::string& name,
                      const std::string& architecture, CudaImage image,
                      const std::string& failed_sources = "", bool contract = true) const;

  // The options compile() passes besides the architecture, for cache keys.
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
