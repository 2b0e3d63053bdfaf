// A case of the suite, checked row by row against its own reference.
#include "src/suite/cases/inputs.h"
#include "src/suite/measure/accuracy.h"
#include "src/suite/measure/workload.h"

namespace sinter::suite {
namespace {

WorkloadFacts facts_of(const Case& each, const Shape2& shape, DType dtype) {
  return {.case_name = each.name,
          .shape = to_string(shape),
          .dtype = std::string(name_of(dtype)),
          .input_bytes = input_bytes(each, shape, dtype),
          .output_bytes = output_bytes(each, shape, dtype),
          .bytes_min = bytes_min(each, shape, dtype),
          .bytes_transposed = transposed_bytes(each, shape, dtype),
          .flops = flops(each, shape),
          .elements = shape.numel()};
}

class CaseWorkload : public Workload {
 public:
  CaseWorkload(const Case& each, const Shape2& shape, DType dtype)
      : Workload(facts_of(each, shape, dtype)), each_(each), shape_(shape), dtype_(dtype) {}

  PeerProgram for_peers() const override {
    return {"", "", input_specs(each_, shape_, dtype_), output_specs(each_, shape_, dtype_)};
  }

  CompiledFunction compiled(const std::string& provider) const override {
    return compile_list(each_.program, static_cast<int>(each_.inputs.size()),
                        options_of(provider, each_.name));
  }

  std::vector<Tensor> make_inputs(const std::shared_ptr<Device>& device,
                                  ThreadPool& threads) const override {
    return suite::make_inputs(each_, shape_, dtype_, device, threads);
  }

  std::int64_t host_bytes(const Device& device) const override {
    return std::max(input_staging_bytes(each_, shape_, dtype_, device),
                    check_bytes(each_, shape_, dtype_, device));
  }

  std::vector<Checked> check(std::span<const Tensor> inputs,
                             std::span<const ProviderOutputs> results,
                             ThreadPool& threads) const override {
    std::vector<std::vector<Tensor>> outputs;
    for (const ProviderOutputs& result : results) outputs.push_back(result.outputs);
    const std::vector<Accuracy> all = check_outputs(each_, shape_, inputs, outputs, threads);
    std::vector<Checked> verdicts;
    for (std::size_t i = 0; i < all.size(); ++i) verdicts.push_back(verdict(results[i], all[i]));
    return verdicts;
  }

 private:
  Checked verdict(const ProviderOutputs& result, const Accuracy& accuracy) const {
    Checked checked;
    checked.max_abs_err = accuracy.max_abs_err;
    checked.max_rel_err = accuracy.max_rel_err;
    checked.checked_elements = accuracy.checked_elements;
    // If it is not a single kernel, fused programs keep intermediates in f32.
    if (result.provider == "fused" || result.kernels == 1 || size_of(dtype_) >= 4)
      checked.tolerance = tolerance(each_, dtype_, accuracy.rms);
    else
      checked.reasons["tolerance"] =
          "what goes from kernel to kernel is rounded to 16 bits, which no bound covers";
    return checked;
  }

  const Case& each_;
  Shape2 shape_;
  DType dtype_;
};

}  // namespace

WorkloadPtr case_workload(const Case& each, const Shape2& shape, DType dtype) {
  return std::make_shared<CaseWorkload>(each, shape, dtype);
}

}  // namespace sinter::suite
