// Loads cuBLASLt and makes its handle. A library that does not start is passed over like one that
// is not there: the caller has kernels of its own.
#include "src/cuda/cublaslt.h"

#include <dlfcn.h>

#include <type_traits>
#include <utility>

#include "src/base/check.h"

namespace sinter {

const char* CublasLtFunctions::bind(void* library) {
  const char* missing = nullptr;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    if (!function && !missing) missing = name;
  };
  find(status_string, "cublasLtGetStatusString");
  find(create, "cublasLtCreate");
  find(destroy, "cublasLtDestroy");
  find(desc_create, "cublasLtMatmulDescCreate");
  find(desc_destroy, "cublasLtMatmulDescDestroy");
  find(desc_set, "cublasLtMatmulDescSetAttribute");
  find(layout_create, "cublasLtMatrixLayoutCreate");
  find(layout_destroy, "cublasLtMatrixLayoutDestroy");
  find(layout_set, "cublasLtMatrixLayoutSetAttribute");
  find(preference_create, "cublasLtMatmulPreferenceCreate");
  find(preference_destroy, "cublasLtMatmulPreferenceDestroy");
  find(preference_set, "cublasLtMatmulPreferenceSetAttribute");
  find(heuristic, "cublasLtMatmulAlgoGetHeuristic");
  find(matmul, "cublasLtMatmul");
  return missing;
}

std::string CublasLtFunctions::failure_text(const char* call, CublasStatus status) const {
  return fmt::format("[{}] {} ({})", call, status_string(status), status);
}

void CublasLtFunctions::check(const char* call, CublasStatus status) const {
  if (status != 0) throw DeviceError(failure_text(call, status), call, status);
}

LoadedCublasLt CublasLt::load(const std::vector<std::string>& paths, CudaContextPtr primary) {
  std::string refusal;  // of the first library that was found
  const auto refuse = [&](std::string reason) {
    if (refusal.empty()) refusal = std::move(reason);
  };
  for (const std::string& path : paths) {
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) continue;
    CublasLtFunctions functions;
    if (const char* missing = functions.bind(library)) {
      refuse(fmt::format("{} has no {}", path, missing));
      continue;
    }
    void* handle = nullptr;
    const ContextScope scope(*primary);
    if (const CublasStatus status = functions.create(&handle); status != 0) {
      refuse(functions.failure_text("cublasLtCreate", status));
      continue;
    }
    return {std::shared_ptr<const CublasLt>(new CublasLt(functions, std::move(primary), handle)),
            ""};
  }
  return {nullptr, refusal.empty() ? "the library was not found" : refusal};
}

CublasLt::CublasLt(const CublasLtFunctions& functions, CudaContextPtr primary, void* handle)
    : functions_(functions), primary_(std::move(primary)), handle_(handle) {}

CublasLt::~CublasLt() {
  CUresult code = 0;
  const ContextScope scope(*primary_, code);
  if (code == 0) functions_.destroy(handle_);
}

}  // namespace sinter
