// Parsing tile programs: accepted programs, and the position and text of errors.
#include "src/tile/parse.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sinter/error.h>

#include <ostream>
#include <string>

#include "src/tile/interpreter.h"

namespace sinter::tile {
namespace {

// Handwritten style: names, numbers as operands, no types.
constexpr const char* kRowSum = R"(
kernel row_sum  // y[row] = sum of x[row, :]
  in x: f32
  out y: f32
  scalar n: i64

  %n = scalar n
  %row = program_id
  %start = mul %row, %n
  %zero = broadcast 0.0 to (1, 4)
  %sums = loop %i = 0 to %n step 4 carrying %sum = %zero
    %col = add %i, %cols
    %at = add %start, %col
    %mask = lt %col, %n
    %part = load x[%at] where %mask else 0.0
    %next = add %sum, %part
    yield %next
  %total = reduce sum %sums
  store y[%row] = %total
)";

std::string row_sum() {
  std::string text = kRowSum;
  text.insert(text.find("  %start"), "  %cols = arange cols 4\n");
  return text;
}

TEST(ParseTileTest, ReadsWhatPeopleWrite) {
  const TileProgram program = parse_tile_program(row_sum());
  EXPECT_EQ(program.name, "row_sum");
  float x[2][6] = {{1, 2, 3, 4, 5, 6}, {10, 20, 30, 40, 50, 60}};
  float y[2] = {0, 0};
  const BufferBinding buffers[] = {{x, 12}, {y, 2}};
  const std::int64_t scalars[] = {6};
  interpret(program, buffers, scalars, 0, 2);
  EXPECT_EQ(y[0], 21);
  EXPECT_EQ(y[1], 210);
}

TEST(ParseTileTest, NumbersAmongOperandsBecomeConstantsOfTheOutermostBlock) {
  EXPECT_EQ(to_string(parse_tile_program(row_sum())), R"(kernel row_sum
  in x: f32
  out y: f32
  scalar n: i64
  %0: i64 = scalar n
  %1: i64 = program_id
  %2: i64(1, 4) = arange cols 4
  %3: i64 = mul %1, %0
  %4: f32 = constant 0.0
  %5: f32(1, 4) = broadcast %4 to (1, 4)
  %6: i64 = constant 0
  %7: i64 = constant 4
  %15: f32(1, 4) = loop %8 = %6 to %0 step %7 carrying %9 = %5
    %10: i64(1, 4) = add %8, %2
    %11: i64(1, 4) = add %3, %10
    %12: bool(1, 4) = lt %10, %0
    %13: f32(1, 4) = load x[%11] where %12 else %4
    %14: f32(1, 4) = add %9, %13
    yield %14
  %16: f32 = reduce sum %15
  store y[%1] = %16
)");
}

void expect_round_trip(const std::string& text) {
  SCOPED_TRACE(text);
  TileProgram program;
  ASSERT_NO_THROW(program = parse_tile_program(text));
  const std::string printed = to_string(program);
  EXPECT_TRUE(same_key(program, parse_tile_program(printed)));
  EXPECT_EQ(to_string(parse_tile_program(printed)), printed);
}

TEST(ParseTileTest, EveryFieldIsReadBack) {
  const std::string text = R"(kernel fields
  caching results
  separate_ops
  in_place
  mapping threads = 128, threads_per_row = 32, vector = 4, cluster = 2, late_loads = true, wide_index = false
  in x: bf16 reused
  out y: bool
  scalar n: i64 multiple of 16 positive at least 48
  scalar s: f64
  %0: i64 = scalar n
  %1: f64 = scalar s
  %2: f32 = cast %1 to f16
  %3: i64(8, 1) = arange rows 8
  %4: f32(8, 1) = load x[%3]
  %5: f32(8, 1), %6: i64(8, 1) = reduce argmax %4, %3
  %7: bool(8, 1) = gt %4, %2
  store y[%3] = %7
)";
  EXPECT_EQ(to_string(parse_tile_program(text)), text);
}

TEST(ParseTileTest, ConstantsKeepTheirBits) {
  for (const char* number : {"0.1", "exact 0.1", "-0.0", "nan", "-nan", "nan(0x7ff8000000000001)",
                             "inf", "-inf", "1e-45", "1.5", "3"})
    expect_round_trip(
        fmt::format("kernel k\n  out y: f32\n  %c: f32 = constant {}\n"
                    "  store y[0] = %c\n",
                    number));
  expect_round_trip("kernel k\n  out y: i32\n  store y[0] = -2147483648\n");
  expect_round_trip("kernel k\n  out y: bool\n  store y[0] = true\n");
  expect_round_trip("kernel k\n  out y: f64\n  store y[0] = 0.1\n");
}

TEST(ParseTileTest, NumbersThatNameAllValuesStay) {
  const std::string text =
      "kernel k\n  out y: i64\n  %1: i64 = constant 5\n  %0: i64 = constant 7\n"
      "  store y[%1] = %0\n";
  EXPECT_EQ(to_string(parse_tile_program(text)), text);
}

TEST(ParseTileTest, SeveralKernelsFollowEachOther) {
  const std::string one = "kernel one\n  out y: f32\n  store y[0] = 1.0\n";
  const auto programs = parse_tile_programs(one + "\nkernel two\n" + one.substr(11));
  ASSERT_EQ(programs.size(), 2u);
  EXPECT_EQ(programs[1].name, "two");
  EXPECT_TRUE(parse_tile_programs("// nothing\n").empty());
}

// --- errors ---

struct Wrong {
  const char* name;
  const char* from;  // a part of kRowSum
  const char* to;    // its replacement
  const char* message;
};

void PrintTo(const Wrong& wrong, std::ostream* out) { *out << wrong.name; }

class WrongTileTextTest : public testing::TestWithParam<Wrong> {};

TEST_P(WrongTileTextTest, IsRefusedAtItsPosition) {
  std::string text = row_sum();
  const std::size_t at = text.find(GetParam().from);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, std::string(GetParam().from).size(), GetParam().to);
  try {
    parse_tile_program(text, "my.tile");
    FAIL() << "nothing was wrong";
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find(GetParam().message), std::string::npos)
        << error.what();
  }
}

const Wrong kWrongs[] = {
    {"operation", "add %i", "ad %i", "13:12: there is no operation 'ad'; did you mean add?"},
    {"value", "mul %row", "mul %rwo", "my.tile:10:16: %rwo is not defined; did you mean %row?"},
    {"buffer", "load x[", "load z[", "there is no buffer 'z'"},
    {"scalar", "= scalar n", "= scalar m", "there is no scalar 'm'"},
    {"reduction", "reduce sum", "reduce sun", "there is no reduction 'sun'; did you mean sum?"},
    {"axis", "arange cols", "arange columns", "expected rows or cols, got 'columns'"},
    {"statement", "  in x", "  inn x", "there is no statement 'inn'; did you mean in?"},
    {"caching", "  in x", "  caching result\n  in x", "did you mean results?"},
    {"mapping_field", "  in x", "  mapping threds = 32\n  in x", "did you mean threads?"},
    {"mapping", "  in x", "  mapping threads = 33\n  in x", "3:3: a block has 32, 64"},
    {"wide_vector", "  in x", "  mapping threads = 32, threads_per_row = 1, vector = 16\n  in x",
     "3:3: vector is a power of two up to 8, not 16"},
    {"large_cluster", "  in x", "  mapping threads = 32, threads_per_row = 1, cluster = 16\n  in x",
     "3:3: cluster is a power of two up to 8, not 16"},
    {"many_blocks", "  in x",
     "  mapping threads = 32, threads_per_row = 1, blocks_at_once = 65\n  in x",
     "3:3: blocks_at_once is from 0 to 64, not 65"},
    {"deep_prefetch", "  in x", "  mapping threads = 32, threads_per_row = 1, prefetch = 9\n  in x",
     "3:3: prefetch is from 0 to 8, not 9"},
    {"dtype", "x: f32", "x: float", "expected a type"},
    {"multiple", "n: i64", "n: i64 multiple of 3", "cannot be a multiple of 3"},
    {"positive", "n: i64", "n: f64 positive", "cannot be positive"},
    {"at_least", "n: i64", "n: f64 at least 2", "cannot be at least 2"},
    {"scalar_dtype", "n: i64", "n: f32", "scalars are i64 or f64"},
    {"two_parameters", "out y", "out x", "there are two parameters called x"},
    {"type", "%start =", "%start: i64(1, 4) =", "10:11: the type is i64, not i64(1, 4)"},
    {"half_value", "%start =", "%start: f16 =", "only buffers hold f16"},
    {"twice", "%start =", "%n =", "10:3: %n is defined twice"},
    {"operands", "mul %row, %n", "mul %row", "mul takes 2 operands, got 1"},
    {"operand_dtype", "lt %col, %n", "lt %col, %sum", "lt takes f32 here, not i64; cast it"},
    {"shapes", "arange cols 4", "arange cols 5", "do not broadcast"},
    {"after_its_loop", "= %total", "= %next", "%next is only defined inside its loop"},
    {"read_only", "store y", "store x", "20:3: store to read-only buffer x: store of %row, %total"},
    {"mask", "where %mask", "where %col", "16:13: masks are bool: load of %at, %col, 0.0"},
    {"yield_count", "yield %next", "yield", "the loop carries 1 values, not 0"},
    {"yield_type", "yield %next", "yield %mask", "%mask is carried as something else"},
    {"no_yield", "    yield %next\n  %total = reduce sum %sums\n  store y[%row] = %total\n", "",
     "12:11: the loop has no end; its body ends with yield"},
    {"results", "%total =", "%total, %more =", "reduce gives 1 value, not 2"},
    {"bounds", "= 0 to", "= 0.5 to", "i64 cannot hold 0.5"},
    {"large", "arange cols 4", "arange cols 9999999999", "expected a size from 1 to 2^31"},
    {"store_result", "  store y", "  %w = store y", "a store gives no value"},
    {"no_kernel", "kernel row_sum", "", "expected 'kernel'"},
};

INSTANTIATE_TEST_SUITE_P(ParseTileTest, WrongTileTextTest, testing::ValuesIn(kWrongs),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(ParseTileTest, LoopsAreNotNestedWithoutEnd) {
  std::string text = "kernel k\n";
  for (int i = 0; i < 100000; ++i) text += fmt::format("loop %l{} = 0 to 1 step 1\n", i);
  EXPECT_THROW(parse_tile_program(text), UserError);
}

}  // namespace
}  // namespace sinter::tile
