// Measuring one's own functions: a layer fused and not, over sizes, as a table and as files.
#include <sinter/sinter.h>

#include <iostream>

namespace sn = sinter;

sn::Tensor layer(const sn::Tensor& x) { return sn::softmax(sn::gelu(x) * 2.0, -1); }

// The function to be timed at a size, holding its input: it is freed before the next size.
sn::SizedRun at_size(const sn::CompileOptions& options) {
  return [options](std::int64_t rows) {
    const sn::Tensor x = sn::full({rows, 256}, 0.5);
    auto run = sn::compile([](sn::Tensor input) { return layer(input); }, options);
    return [run, x] { run(x); };
  };
}

int main() {
  sn::PerfReportOptions options;
  options.title = "gelu-softmax";
  options.x_name = "rows of 256";
  options.sizes = {64, 256, 1024, 4096};
  options.unit = "GB/s";
  options.value = [](std::int64_t rows, double us) {
    return 2.0 * 256 * sizeof(float) * static_cast<double>(rows) / us / 1e3;
  };
  options.bench.seconds = 0.05;

  const std::vector<sn::PerfLine> lines{{"fused", at_size({.fuse = true})},
                                        {"op by op", at_size({.fuse = false})}};
  const sn::PerfReport report = sn::perf_report(lines, options);
  std::cout << report.table();
  report.save("measure-results");  // gelu-softmax.csv, .json, and .html with a plot
  return report.lines.front().points.size() == options.sizes.size() ? 0 : 1;
}
