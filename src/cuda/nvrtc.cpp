// Loads NVRTC and compiles with it. Each call has its own NVRTC program, so concurrent calls are
// independent. In: paths, texts. Out: images, errors with advice.
#include "src/cuda/nvrtc.h"

#include <dlfcn.h>
#include <fmt/ranges.h>

#include "src/base/check.h"
#include "src/cuda/library_paths.h"
#include "src/runtime/failed_source.h"

struct _nvrtcProgram;  // NOLINT: NVRTC's own name

namespace sinter {
namespace {

using NvrtcProgram = ::_nvrtcProgram*;
using NvrtcResult = int;  // 0 is success

constexpr int kNeededVersion = 12000;
constexpr char kHint[] =
    "install the CUDA toolkit 12.0 or newer (or its package cuda-nvrtc alone), and let "
    "LD_LIBRARY_PATH or CUDA_HOME say where it is";

constexpr int kMinimalVersion = 12040;  // supports -minimal

// No fast math. -default-device: headers need no __device__. -minimal: skips the CUDA runtime's
// types and functions, which are slow to parse.
std::vector<const char*> options_of(int version) {
  std::vector<const char*> options{"-std=c++17", "-default-device"};
  if (version >= kMinimalVersion) options.push_back("-minimal");
  return options;
}

}  // namespace

// One member per function, under the library's names.
struct Nvrtc::Functions {
  NvrtcResult (*version)(int* major, int* minor) = nullptr;
  const char* (*error_string)(NvrtcResult code) = nullptr;
  NvrtcResult (*arch_count)(int* count) = nullptr;
  NvrtcResult (*archs)(int* archs) = nullptr;
  NvrtcResult (*create)(NvrtcProgram* program, const char* text, const char* name, int headers,
                        const char* const* header_texts, const char* const* header_names) = nullptr;
  NvrtcResult (*destroy)(NvrtcProgram* program) = nullptr;
  NvrtcResult (*compile)(NvrtcProgram program, int count, const char* const* options) = nullptr;
  NvrtcResult (*log_size)(NvrtcProgram program, std::size_t* bytes) = nullptr;
  NvrtcResult (*log)(NvrtcProgram program, char* log) = nullptr;
  NvrtcResult (*cubin_size)(NvrtcProgram program, std::size_t* bytes) = nullptr;
  NvrtcResult (*cubin)(NvrtcProgram program, char* image) = nullptr;
  NvrtcResult (*ptx_size)(NvrtcProgram program, std::size_t* bytes) = nullptr;
  NvrtcResult (*ptx)(NvrtcProgram program, char* image) = nullptr;

  // The name of the first missing function; null if all are present.
  const char* bind(void* library);
};

const char* Nvrtc::Functions::bind(void* library) {
  const char* missing = nullptr;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    if (!function && !missing) missing = name;
  };
  find(version, "nvrtcVersion");
  find(error_string, "nvrtcGetErrorString");
  find(arch_count, "nvrtcGetNumSupportedArchs");
  find(archs, "nvrtcGetSupportedArchs");
  find(create, "nvrtcCreateProgram");
  find(destroy, "nvrtcDestroyProgram");
  find(compile, "nvrtcCompileProgram");
  find(log_size, "nvrtcGetProgramLogSize");
  find(log, "nvrtcGetProgramLog");
  find(cubin_size, "nvrtcGetCUBINSize");
  find(cubin, "nvrtcGetCUBIN");
  find(ptx_size, "nvrtcGetPTXSize");
  find(ptx, "nvrtcGetPTX");
  return missing;
}

std::shared_ptr<const Nvrtc> Nvrtc::find(int driver_version) {
  return load(cuda_library_paths("nvrtc", driver_version));
}

std::shared_ptr<const Nvrtc> Nvrtc::load(const std::vector<std::string>& paths) {
  std::string found_but;  // why the first library found cannot be used
  for (const std::string& path : paths) {
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) continue;
    auto functions = std::make_unique<Functions>();
    std::string refusal;
    if (const char* missing = functions->bind(library)) {
      refusal = fmt::format("{} is not NVRTC of CUDA 12: it has no {}", path, missing);
    } else {
      std::shared_ptr<const Nvrtc> nvrtc(new Nvrtc(path, std::move(functions)));
      if (nvrtc->version() >= kNeededVersion) return nvrtc;
      refusal = fmt::format("{} is of CUDA {}", path, nvrtc->version_text());
    }
    if (found_but.empty()) found_but = refusal;
  }
  throw DeviceError(
      found_but.empty()
          ? fmt::format("NVRTC, the CUDA compiler library, was not found (looked for {}): {}",
                        fmt::join(paths, ", "), kHint)
          : fmt::format("{}, and CUDA 12.0 or newer is needed: {}", found_but, kHint),
      "dlopen", 0);
}

Nvrtc::Nvrtc(const std::string& path, std::unique_ptr<Functions> functions)
    : path_(path), functions_(std::move(functions)) {
  int major = 0;
  int minor = 0;
  if (functions_->version(&major, &minor) == 0) version_ = major * 1000 + minor * 10;
  int count = 0;
  if (functions_->arch_count(&count) != 0 || count < 1) return;
  architectures_.resize(static_cast<std::size_t>(count));
  if (functions_->archs(architectures_.data()) != 0) architectures_.clear();
}

std::string Nvrtc::version_text() const {
  return fmt::format("{}.{}", version_ / 1000, version_ % 1000 / 10);
}

std::string Nvrtc::options_text() const {
  return fmt::format("{}", fmt::join(options_of(version_), " "));
}

std::string Nvrtc::compile(const std::string& text, const std::string& name,
                           const std::string& architecture, CudaImage image,
                           const std::string& failed_sources, bool contract) const {
  const Functions& nvrtc = *functions_;
  const auto check = [&](const char* call, NvrtcResult code) {
    if (code != 0)
      throw DeviceError(fmt::format("[{}] {} ({})", call, nvrtc.error_string(code), code), call,
                        code);
  };
  const std::string file = name + ".cu";
  struct Program {
    const Functions& nvrtc;
    NvrtcProgram handle = nullptr;
    ~Program() {
      if (handle) nvrtc.destroy(&handle);
    }
  } program{nvrtc};
  check("nvrtcCreateProgram",
        nvrtc.create(&program.handle, text.c_str(), file.c_str(), 0, nullptr, nullptr));

  const std::string target = "--gpu-architecture=" + architecture;
  std::vector<const char*> options = options_of(version_);
  options.push_back(target.c_str());
  if (!contract) options.push_back("--fmad=false");
  const NvrtcResult code =
      nvrtc.compile(program.handle, static_cast<int>(options.size()), options.data());

  // Sizes include the terminating zero of texts.
  const auto fetch = [&](const char* call, auto size_of_it, auto get) {
    std::size_t bytes = 0;
    check(call, size_of_it(program.handle, &bytes));
    std::string result(bytes, '\0');
    if (bytes > 0) check(call, get(program.handle, result.data()));
    return result;
  };
  if (code != 0) {
    std::string log = fetch("nvrtcGetProgramLog", nvrtc.log_size, nvrtc.log);
    while (!log.empty() && (log.back() == '\0' || log.back() == '\n')) log.pop_back();
    const std::string saved = save_failed_source(failed_sources, text, ".cu");
    throw CompileError(
        fmt::format("[cuda] NVRTC {} did not compile kernel {} for {} ({}); its source is {}\n{}",
                    version_text(), name, architecture, nvrtc.error_string(code),
                    saved.empty() ? "not saved" : "in " + saved, log),
        saved, log);
  }
  if (image == CudaImage::cubin) return fetch("nvrtcGetCUBIN", nvrtc.cubin_size, nvrtc.cubin);
  std::string ptx = fetch("nvrtcGetPTX", nvrtc.ptx_size, nvrtc.ptx);
  while (!ptx.empty() && ptx.back() == '\0') ptx.pop_back();
  return ptx;
}

}  // namespace sinter
