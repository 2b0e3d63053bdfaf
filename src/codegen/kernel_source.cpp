// The parts of the text as one, and its variant for any address.
#include "src/codegen/kernel_source.h"

#include "src/base/check.h"

namespace sinter {

std::string KernelSource::text() const {
  std::string text = prologue;
  for (std::string_view header : headers) text += header;
  return text + body;
}

KernelSource unaligned(KernelSource source) {
  constexpr std::string_view kAligned = "#define SN_ALIGNED true\n";
  constexpr std::string_view kUnaligned = "#define SN_ALIGNED false\n";
  const std::size_t at = source.prologue.find(kAligned);
  SINTER_ASSERT(at != std::string::npos, "kernel {} has no aligned form", source.name);
  source.prologue.replace(at, kAligned.size(), kUnaligned);
  source.alignments.assign(source.alignments.size(), 1);
  return source;
}

}  // namespace sinter
