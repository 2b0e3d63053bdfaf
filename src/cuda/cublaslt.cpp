// Loads cuBLASLt and makes its handle.
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

void CublasLtFunctions::check(const char* call, CublasStatus status) const {
  if (status != 0)
    throw DeviceError(fmt::format("[{}] {} ({})", call, status_string(status), status), call,
                      status);
}

std::shared_ptr<const CublasLt> CublasLt::load(const std::vector<std::string>& paths,
                                               CudaContextPtr primary) {
  for (const std::string& path : paths) {
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) continue;
    CublasLtFunctions functions;
    if (functions.bind(library)) continue;
    return std::shared_ptr<const CublasLt>(new CublasLt(functions, std::move(primary)));
  }
  return nullptr;
}

CublasLt::CublasLt(const CublasLtFunctions& functions, CudaContextPtr primary)
    : functions_(functions), primary_(std::move(primary)) {
  const ContextScope scope(*primary_);
  functions_.check("cublasLtCreate", functions_.create(&handle_));
}

CublasLt::~CublasLt() {
  CUresult code = 0;
  const ContextScope scope(*primary_, code);
  if (code == 0) functions_.destroy(handle_);
}

}  // namespace sinter
