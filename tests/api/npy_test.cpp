// load_npy and save_npy: files as NumPy writes them, malformed files, and the disk's state after a
// failure. The files are built byte by byte, so NumPy is not needed.
#include <gtest/gtest.h>
#include <sinter/device.h>
#include <sinter/error.h>
#include <sinter/io.h>
#include <sinter/ops.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "src/api/trace.h"

namespace sinter {
namespace {

namespace fs = std::filesystem;
using std::string_literals::operator""s;

class NpyTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "sinter-npy-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  void TearDown() override { fs::remove_all(directory_); }

  std::string path(const std::string& name = "a.npy") const { return directory_ / name; }

  std::string write(const std::string& bytes) const {
    std::ofstream(path(), std::ios::binary) << bytes;
    return path();
  }

  std::string read(const std::string& name = "a.npy") const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  // The message of load_npy on a file of these bytes, without the path.
  std::string load_error(const std::string& bytes) const {
    return error_of([&] { load_npy(write(bytes)); });
  }

  template <typename F>
  std::string error_of(F&& call) const {
    try {
      call();
    } catch (const UserError& error) {
      std::string message = error.what();
      const std::size_t at = message.find(path() + ": ");
      if (at == std::string::npos) return "no path in: " + message;
      return message.erase(at, path().size() + 2);
    }
    return "no error";
  }

  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory_))
      names.push_back(entry.path().filename());
    return names;
  }

  fs::path directory_;
};

std::string npy(const std::string& header, const std::string& data, char version = 1) {
  const auto size = static_cast<std::uint32_t>(header.size());
  std::string text = "\x93NUMPY"s + version + '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) text += static_cast<char>(size >> (8 * i));
  return text + header + data;
}

std::string dict(const std::string& descr, const std::string& shape, bool fortran = false) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': " + shape + ", }\n";
}

template <typename T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

const std::string kSixFloats = bytes_of<float>({0, 1, 2, 3, 4, 5});

// --- loading ----------------------------------------------------------------------------------

TEST_F(NpyTest, LoadsEachVersion) {
  for (char version : {1, 2, 3}) {
    const Tensor t = load_npy(write(npy(dict("<f4", "(2, 3)"), kSixFloats, version)));
    EXPECT_EQ(t.dtype(), DType::f32);
    EXPECT_EQ(t.shape(), (Shape{2, 3}));
    EXPECT_TRUE(t.is_contiguous());
    EXPECT_EQ(t.to_vector<float>(), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  }
}

TEST_F(NpyTest, LoadsEachType) {
  const auto load = [&](const std::string& descr, const std::string& data) {
    return load_npy(write(npy(dict(descr, "(2,)"), data)));
  };
  EXPECT_EQ(load("<f8", bytes_of<double>({0.1, -2})).to_vector<double>(),
            (std::vector<double>{0.1, -2}));
  EXPECT_EQ(load("<i4", bytes_of<std::int32_t>({-1, 7})).to_vector<std::int32_t>(),
            (std::vector<std::int32_t>{-1, 7}));
  EXPECT_EQ(load("=i8", bytes_of<std::int64_t>({1LL << 40, -3})).to_vector<std::int64_t>(),
            (std::vector<std::int64_t>{1LL << 40, -3}));
  const std::vector<Half> halves =
      load("f2", bytes_of<std::uint16_t>({0x3c00, 0xc000})).to_vector<Half>();
  EXPECT_EQ(static_cast<float>(halves[0]), 1.0f);
  EXPECT_EQ(static_cast<float>(halves[1]), -2.0f);
}

TEST_F(NpyTest, TruthValuesBecomeZeroAndOne) {
  const Tensor t = load_npy(write(npy(dict("|b1", "(4,)"), "\0\1\2\xff"s)));
  EXPECT_EQ(t.to_vector<bool>(), (std::vector<bool>{false, true, true, true}));
  EXPECT_EQ(static_cast<const unsigned char*>(t.data())[3], 1);
}

TEST_F(NpyTest, HeaderMayBeSpacedAndOrderedAsPythonAllows) {
  for (const std::string header :
       {"{\"shape\":(2,3),\"fortran_order\":False,\"descr\":\"<f4\"}",
        " {\n'fortran_order' :False , 'shape' : ( 2 ,\t3 , ) , 'descr':'<f4' }   \n\n",
        "{'descr': '<f4', 'shape': (2L, 3L), 'fortran_order': False, }"}) {
    const Tensor t = load_npy(write(npy(header, kSixFloats)));
    EXPECT_EQ(t.shape(), (Shape{2, 3})) << header;
  }
}

TEST_F(NpyTest, FortranOrderIsAViewOfTheFileAsItLies) {
  const Tensor t = load_npy(write(npy(dict("<f4", "(2, 3)", true), kSixFloats)));
  EXPECT_EQ(t.shape(), (Shape{2, 3}));
  EXPECT_EQ(t.strides(), (Strides{1, 2}));
  const auto* data = static_cast<const float*>(t.data());
  EXPECT_EQ(std::vector<float>(data, data + 6), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  const Tensor three = load_npy(write(npy(dict("<f4", "(1, 2, 3)", true), kSixFloats)));
  EXPECT_EQ(three.strides(), (Strides{1, 1, 2}));
}

TEST_F(NpyTest, FortranOrderReadsInRowMajorOrder) {
  const Tensor t = load_npy(write(npy(dict("<f4", "(2, 3)", true), kSixFloats)));
  EXPECT_EQ(t.to_vector<float>(), (std::vector<float>{0, 2, 4, 1, 3, 5}));
}

TEST_F(NpyTest, ZeroDimensionsAndZeroElements) {
  const Tensor scalar = load_npy(write(npy(dict("<f8", "()"), bytes_of<double>({2.5}))));
  EXPECT_EQ(scalar.rank(), 0);
  EXPECT_EQ(scalar.to_vector<double>(), std::vector<double>{2.5});
  const Tensor fortran_scalar =
      load_npy(write(npy(dict("<f8", "()", true), bytes_of<double>({2.5}))));
  EXPECT_EQ(fortran_scalar.rank(), 0);
  const Tensor none = load_npy(write(npy(dict("<f4", "(3, 0, 2)"), "")));
  EXPECT_EQ(none.shape(), (Shape{3, 0, 2}));
  EXPECT_TRUE(none.to_vector<float>().empty());
  EXPECT_EQ(load_npy(write(npy(dict("<f4", "(3, 0)", true), ""))).numel(), 0);
}

TEST_F(NpyTest, BytesAfterTheElementsAreIgnored) {
  const Tensor t = load_npy(write(npy(dict("<f4", "(6,)"), kSixFloats + "another array")));
  EXPECT_EQ(t.numel(), 6);
}

TEST_F(NpyTest, EightDimensionsAreTheMost) {
  const Tensor t = load_npy(write(npy(dict("<f4", "(1, 1, 1, 1, 1, 1, 2, 3)"), kSixFloats)));
  EXPECT_EQ(t.rank(), 8);
  EXPECT_EQ(load_error(npy(dict("<f4", "(1, 1, 1, 1, 1, 1, 1, 2, 3)"), kSixFloats)),
            "[load_npy] it has more than 8 dimensions, the most a tensor can have");
}

TEST_F(NpyTest, MissingAndNonRegularFilesAreRefused) {
  EXPECT_EQ(error_of([&] { load_npy(path()); }),
            "[load_npy] cannot open it: No such file or directory");
  fs::create_directory(path());
  EXPECT_EQ(error_of([&] { load_npy(path()); }), "[load_npy] it is not a regular file");
  fs::remove(path());
  ASSERT_EQ(mkfifo(path().c_str(), 0600), 0);
  EXPECT_EQ(error_of([&] { load_npy(path()); }), "[load_npy] it is not a regular file");
}

TEST_F(NpyTest, FilesThatAreNotNpyAreRefused) {
  const std::string wrong = "[load_npy] it is not a .npy file: it does not start with \\x93NUMPY";
  EXPECT_EQ(load_error(""), wrong);
  EXPECT_EQ(load_error("\x93NUM"), wrong);
  EXPECT_EQ(load_error("PK\3\4, a .npz file, say"), wrong);
  EXPECT_EQ(load_error("\x93NUMPY\4\0\1\0"s),
            "[load_npy] its format version is 4.0, Sinter reads 1, 2 and 3");
}

TEST_F(NpyTest, CutShortAnywhere) {
  const std::string whole = npy(dict("<f4", "(2, 3)"), kSixFloats);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const std::string message = load_error(whole.substr(0, length));
    EXPECT_NE(message.find(length < 6 ? "not a .npy file" : "the file is too short"),
              std::string::npos)
        << length << ": " << message;
  }
  EXPECT_EQ(load_error(whole.substr(0, whole.size() - 1)),
            "[load_npy] the file is too short: (2, 3) of f32 needs 24 bytes, 23 are left");
  EXPECT_EQ(load_error("\x93NUMPY\1\0\7"s),
            "[load_npy] the file is too short: the header's length needs 2 bytes, 1 are left");
}

TEST_F(NpyTest, HeaderLongerThanTheFileOrThanSense) {
  EXPECT_EQ(load_error("\x93NUMPY\2\0\xff\xff\xff\xff{}"s),
            "[load_npy] the file is too short: the header needs 4294967295 bytes, 2 are left");
  EXPECT_EQ(load_error(npy(std::string((1 << 20) + 1, ' '), "", 2)),
            "[load_npy] the header is 1048577 bytes long, at most 1048576 are expected");
}

TEST_F(NpyTest, DamagedHeaders) {
  const auto error = [&](const std::string& header) { return load_error(npy(header, kSixFloats)); };
  const std::string damaged = "[load_npy] the header is damaged: expected ";
  EXPECT_EQ(error(""), damaged + "'{' at its byte 0, found its end");
  EXPECT_EQ(error("{'descr'"), damaged + "':' at its byte 8, found its end");
  EXPECT_EQ(error("{'descr: "), damaged + "a string that ends at its byte 1, found ''descr: '");
  EXPECT_EQ(error("{descr: 1}"), damaged + "a string at its byte 1, found 'descr: 1}'");
  EXPECT_EQ(error("{'fortran_order': 1}"), damaged + "True or False at its byte 18, found '1}'");
  EXPECT_EQ(error("{'shape': 3}"), damaged + "'(' at its byte 10, found '3}'");
  EXPECT_EQ(error("{'shape': (2 3)}"), damaged + "',' at its byte 13, found '3)}'");
  EXPECT_EQ(error("{'shape': (2.5,)}"), damaged + "',' at its byte 12, found '.5,)}'");
  EXPECT_EQ(error("{'shape': (,)}"), damaged + "a size at its byte 11, found ',)}'");
  EXPECT_EQ(error("{'descr': '<f4' 'shape': ()}"),
            damaged + "',' at its byte 16, found ''shape': ()}'");
  EXPECT_EQ(error(dict("<f4", "(6,)") + "\x1b[2J"),
            damaged + "the end at its byte 58, found '?[2J'");
  EXPECT_EQ(error("{}"), "[load_npy] the header has no 'descr'");
  EXPECT_EQ(error("{'descr': '<f4', 'fortran_order': True}"),
            "[load_npy] the header has no 'shape'");
  EXPECT_EQ(error("{'descr': '<f4', 'shape': (6,)}"),
            "[load_npy] the header has no 'fortran_order'");
  EXPECT_EQ(error("{'shape': (6,), 'shape': (5,)}"), "[load_npy] the header has 'shape' twice");
  EXPECT_EQ(error("{'order': 'C'}"), "[load_npy] the header has an unknown key 'order'");
}

TEST_F(NpyTest, TypesItDoesNotHave) {
  const auto error = [&](const std::string& descr) {
    return load_error(npy(dict(descr, "(6,)"), kSixFloats));
  };
  const std::string loads = ", it loads f2 f4 f8 i4 i8 b1";
  for (const std::string descr : {"<u4", "<c8", "|O", "<U5", "<i2", "|f4 ", "<", "", "<<f4"})
    EXPECT_EQ(error(descr), "[load_npy] there is no Sinter type for descr '" + descr + "'" + loads);
  EXPECT_EQ(error(std::string(100, 'f')), "[load_npy] there is no Sinter type for descr '" +
                                              std::string(40, 'f') + "...'" + loads);
  EXPECT_EQ(error(">f4"),
            "[load_npy] its elements are big-endian ('>f4'); convert it in NumPy with "
            "astype('<f4')");
  EXPECT_EQ(load_error(npy("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (6,)}", "")),
            "[load_npy] its elements are records (a structured dtype), Sinter loads f2 f4 f8 i4 i8 "
            "b1");
}

TEST_F(NpyTest, ShapesThatCannotBe) {
  const auto error = [&](const std::string& shape) {
    return load_error(npy(dict("<f4", shape), kSixFloats));
  };
  EXPECT_EQ(error("(2, -3)"), "[load_npy] a size in its shape is negative: -3");
  EXPECT_EQ(error("(99999999999999999999,)"),
            "[load_npy] a size in its shape is too large: '99999999999999999999'");
  EXPECT_EQ(error("(4294967296, 4294967296)"),
            "[load_npy] its shape (4294967296, 4294967296) has too many elements");
  EXPECT_EQ(error("(9223372036854775807, 2)"),
            "[load_npy] its shape (9223372036854775807, 2) has too many elements");
  EXPECT_EQ(error("(0, 4611686018427387904, 4)"),
            "[load_npy] its shape (0, 4611686018427387904, 4) has too many elements");
  // Nothing is allocated for elements that are not in the file.
  EXPECT_EQ(
      error("(1000000000000,)"),
      "[load_npy] the file is too short: (1000000000000) of f32 needs 4000000000000 bytes, 24 "
      "are left");
}

// --- saving -----------------------------------------------------------------------------------

TEST_F(NpyTest, SavesTheBytesNumPyDoes) {
  save_npy(path(), from_vector<float>({0, 1, 2, 3, 4, 5}, {2, 3}));
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  header.resize(117, ' ');
  EXPECT_EQ(read(), npy(header + "\n", kSixFloats));
  EXPECT_EQ(read().size(), 128 + 24);
  EXPECT_EQ(files(), std::vector<std::string>{"a.npy"});
}

TEST_F(NpyTest, SavedShapesArePythonTuples) {
  const auto saved = [&](const Shape& shape) {
    save_npy(path(),
             from_vector(std::vector<float>(static_cast<std::size_t>(shape.numel())), shape));
    const std::string text = read();
    EXPECT_EQ((text.size() - static_cast<std::size_t>(shape.numel()) * 4) % 64, 0);
    EXPECT_EQ(load_npy(path()).shape(), shape);
    const std::size_t open = text.find('(');
    return text.substr(open, text.find(", }") - open);
  };
  EXPECT_EQ(saved({}), "()");
  EXPECT_EQ(saved({3}), "(3,)");
  EXPECT_EQ(saved({0, 2}), "(0, 2)");
  EXPECT_EQ(saved({1, 1, 1, 1, 1, 1, 2, 3}), "(1, 1, 1, 1, 1, 1, 2, 3)");
}

TEST_F(NpyTest, EachTypeComesBack) {
  const std::pair<DType, std::string> types[] = {{DType::f32, "'<f4'"}, {DType::f16, "'<f2'"},
                                                 {DType::f64, "'<f8'"}, {DType::i32, "'<i4'"},
                                                 {DType::i64, "'<i8'"}, {DType::boolean, "'|b1'"}};
  const std::vector<std::uint64_t> bits = {1, 0};  // a 1 and zeros of any type
  for (const auto& [dtype, descr] : types) {
    const Tensor t = from_host(bits.data(), {2}, dtype);
    save_npy(path(), t);
    EXPECT_NE(read().find("'descr': " + descr), std::string::npos) << descr;
    const Tensor back = load_npy(path());
    EXPECT_EQ(back.dtype(), dtype);
    EXPECT_EQ(std::memcmp(back.data(), t.data(), 2 * size_of(dtype)), 0) << descr;
  }
}

TEST_F(NpyTest, SavesAViewInRowMajorOrder) {
  const Tensor t = from_vector<float>({0, 1, 2, 3, 4, 5}, {2, 3});
  save_npy(path(), transpose(t, 0, 1));
  const Tensor back = load_npy(path());
  EXPECT_EQ(back.shape(), (Shape{3, 2}));
  EXPECT_EQ(back.to_vector<float>(), (std::vector<float>{0, 3, 1, 4, 2, 5}));
  save_npy(path(), slice(t, 0, 1, 2));
  EXPECT_EQ(load_npy(path()).to_vector<float>(), (std::vector<float>{3, 4, 5}));
}

TEST_F(NpyTest, SavesValuesWhileAFunctionIsTraced) {
  const Tensor t = transpose(from_vector<float>({0, 1, 2, 3, 4, 5}, {2, 3}), 0, 1);
  const auto trace = std::make_shared<Trace>();
  const TraceScope scope(trace.get());
  const Tensor traced = trace->add_input(t);
  EXPECT_EQ(error_of([&] { save_npy(path(), traced); }),
            "[save_npy] values are not known while a function is being traced by compile()");
  save_npy(path(), t);
  EXPECT_EQ(load_npy(path()).shape(), (Shape{3, 2}));
  EXPECT_EQ(trace->captured.size(), 0);
}

TEST_F(NpyTest, UnsavableTensorsAreRefused) {
  const std::vector<std::uint16_t> one = {0x3f80};
  EXPECT_EQ(error_of([&] { save_npy(path(), from_host(one.data(), {1}, DType::bf16)); }),
            "[save_npy] NumPy has no type for bf16; cast the tensor to f32 first");
  EXPECT_THROW(save_npy(path(), Tensor()), UserError);
  EXPECT_TRUE(files().empty());
}

TEST_F(NpyTest, NoDirectoryToSaveIn) {
  const Tensor t = from_vector<float>({1}, {1});
  try {
    save_npy(path("none/a.npy"), t);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.what(), "[save_npy] " + path("none/a.npy") +
                                ": cannot write in its directory: No such file or directory");
  }
}

TEST_F(NpyTest, OnlyRegularFilesAreReplaced) {
  const Tensor t = from_vector<float>({1}, {1});
  fs::create_directory(path());
  EXPECT_EQ(error_of([&] { save_npy(path(), t); }),
            "[save_npy] it exists and is not a regular file");
  EXPECT_EQ(files(), std::vector<std::string>{"a.npy"});
  EXPECT_THROW(save_npy("/dev/null", t), UserError);
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(NpyTest, ALinkStaysALink) {
  write("old");
  fs::create_symlink("a.npy", path("link.npy"));
  save_npy(path("link.npy"), from_vector<float>({1}, {1}));
  EXPECT_TRUE(fs::is_symlink(path("link.npy")));
  EXPECT_EQ(load_npy(path()).numel(), 1);
}

// The closest thing to a full disk that needs no privileges: a limit on file sizes.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &previous_);
    const rlimit limited{bytes, previous_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limited);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &previous_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit previous_{};
  void (*handler_)(int);
};

TEST_F(NpyTest, AFailedWriteLeavesTheOldFileAndNothingElse) {
  const Tensor large = from_vector(std::vector<float>(10'000), {10'000});
  write("old");
  std::string message;
  {
    const FileSizeLimit limit(4096);
    message = error_of([&] { save_npy(path(), large); });
  }
  EXPECT_EQ(message, "[save_npy] cannot write it: File too large");
  EXPECT_EQ(files(), std::vector<std::string>{"a.npy"});
  EXPECT_EQ(read(), "old");
}

TEST_F(NpyTest, AFullDiskIsAnIoErrorAndLeavesTheOldFile) {
  if (mount("tmpfs", directory_.c_str(), "tmpfs", 0, "size=64k") != 0)
    GTEST_SKIP() << "mounting is not permitted";
  write("old");
  const Tensor large = from_vector(std::vector<float>(100'000), {100'000});
  EXPECT_THROW(save_npy(path(), large), IoError);
  EXPECT_EQ(files(), std::vector<std::string>{"a.npy"});
  EXPECT_EQ(read(), "old");
  umount(directory_.c_str());
}

// Opening a pipe without a writer must not block, even if it replaces the file in between.
TEST_F(NpyTest, APipeIsNoFile) {
  ASSERT_EQ(mkfifo(path().c_str(), 0600), 0);
  EXPECT_EQ(error_of([&] { load_npy(path()); }), "[load_npy] it is not a regular file");
}

TEST_F(NpyTest, AFileThatPretendsToBeHugeIsNotAllocated) {
  const std::size_t before = device_memory().peak;
  EXPECT_NE(load_error(npy(dict("<f4", "(1099511627776,)"), kSixFloats)).find("too short"),
            std::string::npos);
  EXPECT_EQ(device_memory().peak, before);
}

}  // namespace
}  // namespace sinter
