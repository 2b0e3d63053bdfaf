// compile_all(): every program once, in order; errors by program.
#include "src/runtime/compile_all.h"

#include <gtest/gtest.h>

#include <mutex>
#include <set>

#include "src/base/check.h"

namespace sinter {
namespace {

// Compiles nothing: a kernel is identified by its program's name.
class NamedKernel : public CompiledKernel {
 public:
  explicit NamedKernel(std::string n) : name(std::move(n)) {}
  void launch(std::span<const tile::BufferBinding>, std::span<const std::int64_t>, std::int64_t,
              double) const override {}
  std::string name;
};

// Counts its calls; programs called bad fail.
struct Counter {
  KernelPtr operator()(const tile::TileProgram& program) {
    const std::lock_guard lock(mutex);
    compiled.insert(program.name);
    if (program.name.starts_with("bad")) throw UserError("cannot compile " + program.name);
    return std::make_shared<NamedKernel>(program.name);
  }
  std::mutex mutex;
  std::multiset<std::string> compiled;
};

std::vector<tile::TileProgram> programs_named(const std::vector<std::string>& names) {
  std::vector<tile::TileProgram> programs(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) programs[i].name = names[i];
  return programs;
}

std::vector<const tile::TileProgram*> pointers(const std::vector<tile::TileProgram>& programs) {
  std::vector<const tile::TileProgram*> result;
  for (const tile::TileProgram& program : programs) result.push_back(&program);
  return result;
}

TEST(CompileAll, KernelsComeInTheProgramsOrder) {
  Counter counter;
  std::vector<std::string> names;
  for (int i = 0; i < 40; ++i) names.push_back("program" + std::to_string(i));
  const auto programs = programs_named(names);
  const auto kernels = compile_all(pointers(programs), std::ref(counter));
  ASSERT_EQ(kernels.size(), names.size());
  for (std::size_t i = 0; i < names.size(); ++i)
    EXPECT_EQ(static_cast<const NamedKernel&>(*kernels[i]).name, names[i]);
  EXPECT_EQ(counter.compiled.size(), names.size());
}

TEST(CompileAll, TheFirstFailingProgramIsNamed) {
  Counter counter;
  const auto programs = programs_named({"good", "bad1", "good2", "bad2"});
  try {
    compile_all(pointers(programs), std::ref(counter));
    FAIL() << "nothing was thrown";
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(), "cannot compile bad1");
  }
  EXPECT_EQ(counter.compiled.size(), 4u);
}

TEST(CompileAll, NothingGivesNothing) {
  Counter counter;
  EXPECT_TRUE(compile_all({}, std::ref(counter)).empty());
}

}  // namespace
}  // namespace sinter
