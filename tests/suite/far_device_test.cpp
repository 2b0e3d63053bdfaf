// The suite on a device whose memory the host cannot touch.
#include "tests/suite/far_device.h"

#include <gtest/gtest.h>
#include <sinter/compile.h>
#include <sinter/error.h>

#include "src/api/tensor_impl.h"
#include "src/runtime/registry.h"
#include "src/suite/cases/inputs.h"
#include "src/suite/measure/accuracy.h"
#include "src/suite/measure/copy_limit.h"
#include "src/suite/measure/host_rows.h"
#include "src/suite/measure/runner.h"

namespace sinter::suite {
namespace {

using testing_support::FarDevice;

std::shared_ptr<FarDevice> far_device() {
  register_device("far", [] { return std::make_shared<FarDevice>(); });
  return std::dynamic_pointer_cast<FarDevice>(find_device("far"));
}

bool go_on(const Progress&) { return true; }

SuiteOptions tiny() {
  SuiteOptions options;
  options.shapes = {{33, 65}};
  options.device = "far";
  options.seconds = 0.001;
  return options;
}

TEST(FarDevice, RunsEveryCaseRight) {
  const auto device = far_device();
  SuiteOptions options = tiny();
  options.dtypes = {DType::f32, DType::bf16};
  const Results results = run_suite(options, go_on);
  EXPECT_EQ(results.device, "far");
  EXPECT_EQ(results.description, device->description());
  EXPECT_EQ(results.versions.at("compiler"), "its own");
  ASSERT_EQ(results.rows.size(), 4 * all_cases().size());
  for (const ResultRow& row : results.rows) {
    EXPECT_FALSE(row.failed()) << row.title() << ": " << row.error;
    EXPECT_TRUE(row.timing && row.limit_us && row.call_us && row.peak_bytes) << row.title();
    EXPECT_EQ(row.reasons.count("bytes_measured"), 1u);
  }
  EXPECT_GT(device->samples, 0);
  EXPECT_GT(device->waits, 0);
}

TEST(FarDevice, InputsAreThoseOfTheCpu) {
  const auto device = far_device();
  ThreadPool threads(2);
  for (const auto& [name, shape] :
       {std::pair{"softmax", Shape2{17, 23}}, {"bias_dropout_add_t", Shape2{50, 410}}}) {
    const Case& each = find_case(name);
    const auto there = make_inputs(each, shape, DType::f32, device, threads);
    const auto here = make_inputs(each, shape, DType::f32, open_device("cpu"), threads);
    ASSERT_EQ(there.size(), here.size());
    for (std::size_t i = 0; i < here.size(); ++i)
      EXPECT_EQ(there[i].to_vector<float>(), here[i].to_vector<float>()) << name << i;
  }
}

TEST(FarDevice, InputsPassThroughASmallBuffer) {
  const auto device = far_device();
  ThreadPool threads(2);
  device->largest_copy = 0;
  device->copies_in = 0;
  make_inputs(find_case("softmax"), {5000, 4100}, DType::f32, device, threads);
  EXPECT_LE(device->largest_copy, std::size_t{16} << 20);
  EXPECT_EQ(device->copies_in, 1) << "large inputs repeat what the host made";
}

// The reference is computed from regenerated rows, not from the tensors.
TEST(FarDevice, RowsOfInputsAreGeneratedWithoutTheTensors) {
  ThreadPool threads(2);
  for (const auto& [name, shape] : {std::pair{"bias_dropout_add_t", Shape2{5, 2'100'000}},
                                    {"bias_dropout_add_t", {3000, 1500}},
                                    {"softmax_backward", {3000, 1500}},
                                    {"norm_chain", {3000, 1500}},
                                    {"layernorm", {7, 9}}}) {
    const Case& each = find_case(name);
    for (const DType dtype : {DType::f32, DType::bf16}) {
      const auto inputs = make_inputs(each, shape, dtype, open_device("cpu"), threads);
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        const Layout layout = each.inputs[i].layout;
        const RowLayout lies = layout == Layout::vector   ? RowLayout{shape.cols, 0, 1}
                               : layout == Layout::matrix ? RowLayout{shape.cols, shape.cols, 1}
                                                          : RowLayout{shape.cols, 1, shape.rows};
        const std::vector<std::int64_t> rows{0, 1, shape.rows - 1};
        const HostRows there(inputs[i], lies, rows);
        const InputRows made(each, i, shape, dtype);
        std::vector<double> expected(static_cast<std::size_t>(shape.cols));
        std::vector<double> found(expected.size());
        for (std::size_t k = 0; k < rows.size(); ++k) {
          there.read(static_cast<std::int64_t>(k), expected);
          made.read(rows[k], found);
          EXPECT_EQ(found, expected) << name << " " << i << " row " << rows[k];
        }
      }
    }
  }
}

TEST(FarDevice, RowsAPowerOfTwoApartDiffer) {
  const Case& each = find_case("softmax");
  const Shape2 shape{1 << 16, 1 << 10};
  const InputRows made(each, 0, shape, DType::f32);
  std::vector<double> first(1 << 10);
  std::vector<double> other(first.size());
  made.read(0, first);
  for (std::int64_t row = 1; row < shape.rows; row *= 2) {
    made.read(row, other);
    EXPECT_NE(other, first) << row;
  }
}

// Rows of a matrix whose elements encode their position.
class FarRows : public ::testing::TestWithParam<bool> {};

TEST_P(FarRows, AreTheRightOnes) {
  const bool transposed = GetParam();
  const auto device = far_device();
  constexpr std::int64_t kRows = 3000;
  constexpr std::int64_t kCols = 7000;  // 84 MB: more than one chunk
  std::vector<float> values(kRows * kCols);
  const auto value_at = [](std::int64_t i) { return static_cast<float>(i % 65'521); };
  for (std::int64_t i = 0; i < std::ssize(values); ++i)
    values[static_cast<std::size_t>(i)] = value_at(i);
  const StoragePtr storage = device->allocate(values.size() * sizeof(float));
  device->copy_from_host(storage->data(), values.data(), storage->bytes());
  const Tensor t = make_tensor(DType::f32, dense_view({kRows * kCols}), storage, device);
  const RowLayout layout = transposed ? RowLayout{kCols, 1, kRows} : RowLayout{kCols, kCols, 1};
  for (const std::vector<std::int64_t>& rows :
       {std::vector<std::int64_t>{0}, {kRows - 1}, {0, 1, 2, 1500, 1501, kRows - 1}}) {
    device->largest_copy = 0;
    const HostRows fetched(t, layout, rows);
    EXPECT_LE(device->largest_copy, std::size_t{64} << 20);
    std::vector<double> row(kCols);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      fetched.read(static_cast<std::int64_t>(i), row);
      for (std::int64_t c = 0; c < kCols; ++c) {
        const std::int64_t at = rows[i] * layout.row_stride + c * layout.col_stride;
        ASSERT_EQ(row[static_cast<std::size_t>(c)], value_at(at)) << rows[i] << "," << c;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(HostRows, FarRows, ::testing::Bool(),
                         [](const auto& which) { return which.param ? "Transposed" : "InOrder"; });

TEST(FarDevice, AWrongElementIsFound) {
  const auto device = far_device();
  ThreadPool threads(2);
  const Case& each = find_case("softmax");
  const Shape2 shape{19, 23};
  const auto inputs = make_inputs(each, shape, DType::f32, device, threads);
  std::vector<std::vector<Tensor>> outputs{compile_list(each.program, 1).call(inputs)};
  EXPECT_EQ(outputs[0][0].device(), "far");
  EXPECT_LT(check_outputs(each, shape, inputs, outputs, threads)[0].max_rel_err, 1e-6);
  const float wrong = 2;
  auto* last = static_cast<std::byte*>(outputs[0][0].impl()->data()) + (19 * 23 - 1) * sizeof wrong;
  device->copy_from_host(last, &wrong, sizeof wrong);
  EXPECT_GT(check_outputs(each, shape, inputs, outputs, threads)[0].max_rel_err, 1);
}

TEST(FarDevice, TheLimitIsACopyWithinIt) {
  const auto device = far_device();
  ThreadPool threads(2);
  const auto stopwatch = device->stopwatch();
  for (const CopyMeans means : {CopyMeans::device, CopyMeans::kernel}) {
    const CopyLimit limit(2 * 12'345, device, threads, *stopwatch, 0, CopyWay{means});
    const int before = device->copies_within;
    limit.run();
    EXPECT_EQ(device->copies_within - before, means == CopyMeans::device ? 1 : 0);
    EXPECT_EQ(limit.buffer_bytes(), 12'352u);  // whole granules
  }
  const CopyLimit chosen(2 * 12'345, device, threads, *stopwatch);
  EXPECT_TRUE(chosen.way().means == CopyMeans::device || chosen.way().means == CopyMeans::kernel);
}

TEST(FarDevice, ALimitThatHasNoRoomGoesOverAPart) {
  const auto device = far_device();
  ThreadPool threads(2);
  const auto stopwatch = device->stopwatch();
  constexpr std::int64_t kMoved = std::int64_t{1200} << 20;
  device->available = std::size_t{1300} << 20;
  const CopyWay way{CopyMeans::device};
  EXPECT_EQ(CopyLimit(kMoved, device, threads, *stopwatch, 0, way).buffer_bytes(),
            std::size_t{600} << 20);
  EXPECT_EQ(CopyLimit(kMoved, device, threads, *stopwatch, 200 << 20, way).buffer_bytes(),
            std::size_t{512} << 20);
  device->available = std::size_t{8} << 30;
}

TEST(FarDevice, WorkloadsBeyondDeviceMemoryAreSkipped) {
  far_device()->available = 1 << 20;
  SuiteOptions options = tiny();
  options.cases = {"softmax"};
  options.shapes = {{512, 512}, {8, 8}};
  const Results results = run_suite(options, go_on);
  far_device()->available = std::size_t{8} << 30;
  ASSERT_EQ(results.rows.size(), 4u);
  EXPECT_NE(results.rows[0].skipped.find("does not fit into memory"), std::string::npos);
  EXPECT_TRUE(results.rows[2].timing);
}

TEST(FarDevice, TensorsOfTwoDevicesDoNotMeet) {
  ThreadPool threads(2);
  const Case& each = find_case("bias_dropout_add_t");
  std::vector<Tensor> inputs = make_inputs(each, {4, 8}, DType::f32, far_device(), threads);
  ASSERT_GE(inputs.size(), 2u);
  inputs[1] = make_inputs(each, {4, 8}, DType::f32, open_device("cpu"), threads)[1];
  EXPECT_THROW(compile_list(each.program, static_cast<int>(inputs.size())).call(inputs), UserError);
}

TEST(FarDevice, ACompiledFunctionKnowsItsInputsDevice) {
  ThreadPool threads(2);
  const Case& each = find_case("softmax");
  const CompiledFunction function = compile_list(each.program, 1);
  for (const std::string name : {"cpu", "far", "cpu"}) {
    const auto device = name == "far" ? far_device() : open_device(name);
    const auto inputs = make_inputs(each, {4, 8}, DType::f32, device, threads);
    EXPECT_EQ(function.call(inputs)[0].device(), name);
  }
}

}  // namespace
}  // namespace sinter::suite
