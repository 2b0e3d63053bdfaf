// Joins the parts of the text, and makes the unaligned variant.
#include "src/codegen/kernel_source.h"

#include "src/base/check.h"

namespace sinter {

std::string KernelSource::text() const {
  std::string text = prologue;
  for (std::string_view header : headers) text += header;
  return text + body;
}

std::string to_string(const KernelSource& source) {
  const tile::Mapping& mapping = source.mapping;
  std::string launch =
      mapping.threads == 0
          ? fmt::format("{} bytes of scratch memory", source.scratch_bytes)
          : fmt::format(
                "{} threads per block{}, {} argument words", mapping.threads,
                mapping.cluster > 1 ? fmt::format(", {} blocks per cluster", mapping.cluster) : "",
                source.words);
  if (source.fetch_bytes > 0)
    launch += fmt::format(", {} bytes of dynamic shared memory", source.fetch_bytes);
  return fmt::format("// {}: {}\n{}", source.entry, launch, source.text());
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
