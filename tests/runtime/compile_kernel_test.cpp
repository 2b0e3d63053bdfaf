// compile_kernel() and compile_kernels(): every program once, in order; errors by program.
#include "src/runtime/compile_kernel.h"

#include <gtest/gtest.h>

#include <mutex>
#include <set>

#include "src/base/check.h"
#include "tests/support/slow_device.h"

namespace sinter {
namespace {

using testing_support::SlowDevice;

// A kernel is identified by its program's name.
class NamedKernel : public CompiledKernel {
 public:
  explicit NamedKernel(std::string n) : name(std::move(n)) {}
  void launch(std::span<const tile::BufferBinding>, std::span<const std::int64_t>, std::int64_t,
              double) const override {}
  std::string name;
};

// Counts its calls; programs called bad fail.
class NamingDevice : public SlowDevice {
 public:
  KernelPtr interpret(const tile::TileProgram& program) override {
    const std::lock_guard lock(mutex);
    names.insert(program.name);
    if (program.name.starts_with("bad")) throw UserError("cannot compile " + program.name);
    return std::make_shared<NamedKernel>(program.name);
  }
  std::mutex mutex;
  std::multiset<std::string> names;
};

// Names do not tell programs apart, parameters do.
std::vector<KernelBody> programs_named(const std::vector<std::string>& names) {
  std::vector<KernelBody> programs;
  for (std::size_t i = 0; i < names.size(); ++i) {
    tile::TileProgram program;
    program.name = names[i];
    program.scalars.resize(i);
    programs.emplace_back(std::move(program));
  }
  return programs;
}

std::vector<const KernelBody*> pointers(const std::vector<KernelBody>& programs) {
  std::vector<const KernelBody*> result;
  for (const KernelBody& program : programs) result.push_back(&program);
  return result;
}

TEST(CompileKernels, KernelsComeInTheProgramsOrder) {
  NamingDevice device;
  std::vector<std::string> names;
  for (int i = 0; i < 40; ++i) names.push_back("program" + std::to_string(i));
  const auto programs = programs_named(names);
  const auto kernels = compile_kernels(device, pointers(programs));
  ASSERT_EQ(kernels.size(), names.size());
  for (std::size_t i = 0; i < names.size(); ++i)
    EXPECT_EQ(static_cast<const NamedKernel&>(*kernels[i]).name, names[i]);
  EXPECT_EQ(device.names.size(), names.size());
}

TEST(CompileKernels, TheFirstFailingProgramIsNamed) {
  NamingDevice device;
  const auto programs = programs_named({"good", "bad1", "good2", "bad2"});
  try {
    compile_kernels(device, pointers(programs));
    FAIL() << "nothing was thrown";
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(), "cannot compile bad1");
  }
  EXPECT_EQ(device.names.size(), 4u);
}

TEST(CompileKernels, OnlyMissingKernelsAreCompiled) {
  NamingDevice device;
  const auto programs = programs_named({"a", "b", "c", "d"});
  const KernelPtr b = compile_kernel(device, programs[1]);
  const auto kernels = compile_kernels(device, pointers(programs));
  EXPECT_EQ(kernels[1], b);
  EXPECT_EQ(static_cast<const NamedKernel&>(*kernels[2]).name, "c");
  EXPECT_EQ(compile_kernels(device, pointers(programs)), kernels);
  EXPECT_EQ(device.names, (std::multiset<std::string>{"a", "b", "c", "d"}));
}

TEST(CompileKernels, NothingGivesNothing) {
  NamingDevice device;
  EXPECT_TRUE(compile_kernels(device, {}).empty());
}

TEST(CompileKernel, IsFoundInMemoryTheSecondTime) {
  NamingDevice device;
  const auto programs = programs_named({"first", "second"});
  const KernelPtr kernel = compile_kernel(device, programs[0]);
  EXPECT_EQ(compile_kernel(device, programs[0]), kernel);
  EXPECT_NE(compile_kernel(device, programs[1]), kernel);
  EXPECT_EQ(device.names.size(), 2u);
  device.forget(programs[0]);
  EXPECT_EQ(device.kernels().size(), 2u) << "it is held here";
  device.forget(programs[1]);
  EXPECT_EQ(device.kernels().size(), 1u);
}

}  // namespace
}  // namespace sinter
