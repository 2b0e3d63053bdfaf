// NumPy's .npy files: magic, version, header length, a Python dict as text, then the elements.
// load_npy() trusts nothing in the file and checks its size before allocating; save_npy() writes
// beside the target and renames. The format: numpy/lib/format.py, versions 1.0, 2.0 and 3.0.
#include <fcntl.h>
#include <sinter/io.h>
#include <sinter/ops.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <optional>
#include <random>
#include <string_view>
#include <system_error>
#include <utility>

#include "src/api/devices.h"
#include "src/api/op_call.h"
#include "src/api/tensor_impl.h"
#include "src/api/trace.h"
#include "src/base/check.h"
#include "src/base/printable.h"

namespace sinter {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are read and written as is");

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMaxHeader = std::size_t{1} << 20;      // NumPy's own are 128 bytes
constexpr std::size_t kHeaderAlignment = 64;                  // of the first element in the file
constexpr std::int64_t kMaxElements = std::int64_t{1} << 56;  // their bytes fit an int64_t

struct NpyType {
  std::string_view name;  // as in descr, after the byte order
  DType dtype;
};
constexpr NpyType kTypes[] = {{"f4", DType::f32}, {"f2", DType::f16}, {"f8", DType::f64},
                              {"i4", DType::i32}, {"i8", DType::i64}, {"b1", DType::boolean}};
constexpr std::string_view kTypeNames = "f2 f4 f8 i4 i8 b1";
constexpr std::string_view kByteOrders = "<>=|";

struct NpyHeader {
  DType dtype = DType::f32;
  bool fortran_order = false;
  Shape shape;
};

std::string error_text(int code) { return std::generic_category().message(code); }

template <typename... Args>
[[noreturn]] void fail_load(const std::string& path, fmt::format_string<Args...> format,
                            Args&&... args) {
  fail_user("load_npy", "{}: {}", path, fmt::format(format, std::forward<Args>(args)...));
}

// A full or failing disk is nobody's mistake.
void throw_if_disk_failed(std::string_view op, const std::string& path, int code) {
  if (code == ENOSPC || code == EDQUOT || code == EIO)
    throw IoError(fmt::format("[{}] {}: {}", op, path, error_text(code)));
}

template <typename... Args>
[[noreturn]] void fail_save(const std::string& path, fmt::format_string<Args...> format,
                            Args&&... args) {
  fail_user("save_npy", "{}: {}", path, fmt::format(format, std::forward<Args>(args)...));
}

std::string quoted(std::string_view text) { return "'" + printable(text, 40) + "'"; }

// --- the header's dict ------------------------------------------------------------------------

// Reads what Python would accept of {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }:
// any order of keys, any spacing, either quote.
class HeaderParser {
 public:
  HeaderParser(const std::string& path, std::string_view text) : path_(path), text_(text) {}

  NpyHeader parse() {
    expect('{');
    while (!accept('}')) {
      parse_entry();
      if (accept('}')) break;
      expect(',');
    }
    skip_space();
    if (at_ < text_.size()) fail("the end");
    require(descr_.has_value(), "descr");
    require(fortran_order_.has_value(), "fortran_order");
    require(shape_.has_value(), "shape");
    return {dtype_of_descr(*descr_), *fortran_order_, *shape_};
  }

 private:
  void parse_entry() {
    const std::string_view key = parse_string();
    expect(':');
    if (key == "descr")
      put(descr_, key, parse_descr());
    else if (key == "fortran_order")
      put(fortran_order_, key, parse_bool());
    else if (key == "shape")
      put(shape_, key, parse_shape());
    else
      fail_load(path_, "the header has an unknown key {}", quoted(key));
  }

  template <typename T>
  void put(std::optional<T>& slot, std::string_view key, T value) {
    if (slot) fail_load(path_, "the header has '{}' twice", key);
    slot = std::move(value);
  }

  void require(bool there, std::string_view key) const {
    if (!there) fail_load(path_, "the header has no '{}'", key);
  }

  std::string_view parse_descr() {
    skip_space();
    if (at_ < text_.size() && text_[at_] == '[')
      fail_load(path_, "its elements are records (a structured dtype), Sinter loads {}",
                kTypeNames);
    return parse_string();
  }

  DType dtype_of_descr(std::string_view descr) const {
    std::string_view name = descr;
    const bool has_order = !name.empty() && kByteOrders.find(name[0]) != std::string_view::npos;
    if (has_order) name.remove_prefix(1);
    for (const NpyType& type : kTypes) {
      if (name != type.name) continue;
      if (descr[0] == '>' && size_of(type.dtype) > 1)
        fail_load(path_, "its elements are big-endian ({}); convert it in NumPy with astype('<{}')",
                  quoted(descr), type.name);
      return type.dtype;
    }
    fail_load(path_, "there is no Sinter type for descr {}, it loads {}", quoted(descr),
              kTypeNames);
  }

  bool parse_bool() {
    if (accept_word("True")) return true;
    if (accept_word("False")) return false;
    fail("True or False");
  }

  Shape parse_shape() {
    Shape shape;
    expect('(');
    while (!accept(')')) {
      const std::int64_t size = parse_size();
      if (shape.rank() == kMaxRank)
        fail_load(path_, "it has more than {} dimensions, the most a tensor can have", kMaxRank);
      shape.push_back(size);
      if (accept(')')) break;
      expect(',');
    }
    return shape;
  }

  std::int64_t parse_size() {
    skip_space();
    std::int64_t size = 0;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), size);
    if (error == std::errc::invalid_argument) fail("a size");
    if (error == std::errc::result_out_of_range)
      fail_load(path_, "a size in its shape is too large: {}",
                quoted({begin, static_cast<std::size_t>(end - begin)}));
    if (size < 0) fail_load(path_, "a size in its shape is negative: {}", size);
    at_ += static_cast<std::size_t>(end - begin);
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2 wrote 3L
    return size;
  }

  // Without escapes: no key and no type has one.
  std::string_view parse_string() {
    skip_space();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') fail("a string");
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) fail("a string that ends");
    const std::string_view result = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return result;
  }

  void skip_space() {
    const std::size_t next = text_.find_first_not_of(" \t\r\n\f\v", at_);
    at_ = next == std::string_view::npos ? text_.size() : next;
  }

  bool accept(char c) {
    skip_space();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  bool accept_word(std::string_view word) {
    skip_space();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  void expect(char c) {
    if (!accept(c)) fail(std::string("'") + c + "'");
  }

  [[noreturn]] void fail(std::string_view wanted) const {
    fail_load(path_, "the header is damaged: expected {} at its byte {}, found {}", wanted, at_,
              at_ < text_.size() ? quoted(text_.substr(at_)) : "its end");
  }

  const std::string& path_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::optional<std::string_view> descr_;
  std::optional<bool> fortran_order_;
  std::optional<Shape> shape_;
};

// --- reading ----------------------------------------------------------------------------------

// A regular file, read from its start; every failure names the path.
class InputFile {
 public:
  explicit InputFile(const std::string& path) : path_(path) {
    // O_NONBLOCK: opening a pipe would wait for its other end.
    fd_ = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd_ < 0) fail_load(path, "cannot open it: {}", error_text(errno));
    struct stat info {};
    const int code = ::fstat(fd_, &info) == 0 ? 0 : errno;
    if (code != 0 || !S_ISREG(info.st_mode)) ::close(std::exchange(fd_, -1));
    if (code != 0) fail_load(path, "cannot open it: {}", error_text(code));
    if (fd_ < 0) fail_load(path, "it is not a regular file");
    left_ = static_cast<std::size_t>(info.st_size);
  }
  ~InputFile() {
    if (fd_ >= 0) ::close(fd_);
  }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  std::size_t left() const { return left_; }  // bytes not read yet

  // `what` is for the message where the file is shorter.
  void read(void* destination, std::size_t bytes, std::string_view what) {
    if (bytes > left_) fail_short(what, bytes);
    auto* to = static_cast<std::byte*>(destination);
    for (std::size_t done = 0; done < bytes;) {
      const ssize_t got = ::read(fd_, to + done, bytes - done);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) throw_if_disk_failed("load_npy", path_, errno);
      if (got < 0) fail_load(path_, "cannot read it: {}", error_text(errno));
      if (got == 0) fail_load(path_, "it became shorter while it was read");
      done += static_cast<std::size_t>(got);
    }
    left_ -= bytes;
  }

  [[noreturn]] void fail_short(std::string_view what, std::size_t bytes) const {
    fail_load(path_, "the file is too short: {} needs {} bytes, {} are left", what, bytes, left_);
  }

 private:
  const std::string& path_;
  int fd_ = -1;
  std::size_t left_ = 0;
};

std::size_t read_header_length(InputFile& file, const std::string& path) {
  char magic[kMagic.size()] = {};
  file.read(magic, std::min(sizeof(magic), file.left()), "the magic");
  if (std::string_view(magic, sizeof(magic)) != kMagic)
    fail_load(path, "it is not a .npy file: it does not start with \\x93NUMPY");
  std::uint8_t version[2] = {};
  file.read(version, sizeof(version), "the version");
  if (version[0] < 1 || version[0] > 3)
    fail_load(path, "its format version is {}.{}, Sinter reads 1, 2 and 3", version[0], version[1]);
  std::uint32_t length = 0;  // little-endian, as this machine is
  file.read(&length, version[0] == 1 ? 2 : 4, "the header's length");
  return length;
}

NpyHeader read_header(InputFile& file, const std::string& path) {
  const std::size_t length = read_header_length(file, path);
  if (length > file.left()) file.fail_short("the header", length);
  if (length > kMaxHeader)
    fail_load(path, "the header is {} bytes long, at most {} make sense", length, kMaxHeader);
  std::string text(length, '\0');
  file.read(text.data(), length, "the header");
  return HeaderParser(path, text).parse();
}

std::size_t checked_bytes(const NpyHeader& header, const std::string& path) {
  std::int64_t product = 1;  // zeros left out: strides are products of the other sizes
  for (std::int64_t size : header.shape)
    if (__builtin_mul_overflow(product, std::max<std::int64_t>(size, 1), &product) ||
        product > kMaxElements)
      fail_load(path, "its shape {} has too many elements", to_string(header.shape));
  return static_cast<std::size_t>(header.shape.numel()) * size_of(header.dtype);
}

// Column-major: the row-major view of the reversed shape with its axes reversed back.
View column_major_view(const Shape& shape) {
  const int rank = shape.rank();
  Shape reversed = shape;
  Shape axes = shape;
  for (int i = 0; i < rank; ++i) {
    reversed[i] = shape[rank - 1 - i];
    axes[i] = rank - 1 - i;
  }
  return permute(dense_view(reversed), axes);
}

// To where the host cannot write it goes piece by piece: the host need not have room for all of it.
void read_elements(InputFile& file, DType dtype, std::size_t bytes, std::string_view what,
                   Device& device, void* destination) {
  constexpr std::size_t kPiece = std::size_t{16} << 20;
  const bool direct = device.shares_host_memory();
  std::vector<std::uint8_t> staged(direct ? 0 : std::min(bytes, kPiece));
  for (std::size_t done = 0; done < bytes;) {
    auto* to = static_cast<std::uint8_t*>(destination) + done;
    const std::size_t count = direct ? bytes : std::min(bytes - done, kPiece);
    std::uint8_t* values = direct ? to : staged.data();
    file.read(values, count, what);
    if (dtype == DType::boolean)
      // Any byte is a truth value to NumPy; ours are 0 and 1.
      std::transform(values, values + count, values, [](std::uint8_t v) { return v != 0; });
    if (!direct) device.copy_from_host(to, values, count);
    done += count;
  }
}

// --- writing ----------------------------------------------------------------------------------

std::string descr_of(DType dtype, const std::string& path) {
  for (const NpyType& type : kTypes)
    if (type.dtype == dtype) return fmt::format("{}{}", size_of(dtype) > 1 ? '<' : '|', type.name);
  fail_save(path, "NumPy has no type for {}; cast the tensor to f32 first", name_of(dtype));
}

// Everything before the elements, padded with spaces to the alignment.
std::string header_text(const std::string& descr, const Shape& shape) {
  std::string sizes;
  for (int i = 0; i < shape.rank(); ++i) sizes += fmt::format("{}{}", i ? ", " : "", shape[i]);
  if (shape.rank() == 1) sizes += ",";  // Python's tuple of one
  std::string dict =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, sizes);
  const std::size_t before = kMagic.size() + 4;  // version 1.0 and a length of two bytes
  const std::size_t used = before + dict.size() + 1;
  dict.append((kHeaderAlignment - used % kHeaderAlignment) % kHeaderAlignment, ' ');
  dict += '\n';
  const auto length = static_cast<std::uint16_t>(dict.size());
  std::string text(kMagic);
  text += {'\1', '\0', static_cast<char>(length & 0xff), static_cast<char>(length >> 8)};
  return text + dict;
}

// Where the file goes: a link's target, so that the link stays. A pipe or /dev/null is refused,
// rename() would put a file in its place.
std::filesystem::path target_of(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    fail_save(path, "it exists and is not a regular file");
  std::filesystem::path resolved = std::filesystem::canonical(path, error);
  return error ? std::filesystem::path(path) : resolved;
}

// A file beside the target, gone with this object unless it was renamed to it.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path) : path_(path), target_(target_of(path)) {
    std::random_device random;
    do {
      // Not mkstemp: its file is readable by the owner only, whatever the umask says.
      temporary_ = target_.parent_path() / fmt::format(".sinter-{:08x}.npy", random());
      fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (fd_ < 0 && errno == EEXIST);
    if (fd_ < 0) fail("cannot write in its directory");
  }
  ~OutputFile() {
    if (fd_ >= 0) ::close(fd_);
    if (!committed_) ::unlink(temporary_.c_str());
  }
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(const void* data, std::size_t bytes) {
    const auto* from = static_cast<const std::byte*>(data);
    for (std::size_t done = 0; done < bytes;) {
      const ssize_t put = ::write(fd_, from + done, bytes - done);
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) fail("cannot write it");
      done += static_cast<std::size_t>(put);
    }
  }

  void commit() {
    // Some file systems say only here that the disk is full.
    if (::close(std::exchange(fd_, -1)) != 0) fail("cannot write it");
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail("cannot put it in place");
    committed_ = true;
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    const int code = errno;
    throw_if_disk_failed("save_npy", path_, code);
    fail_save(path_, "{}: {}", what, error_text(code));
  }

  const std::string& path_;
  const std::filesystem::path target_;
  std::filesystem::path temporary_;
  int fd_ = -1;
  bool committed_ = false;
};

}  // namespace

// What follows the elements is left alone, as NumPy does: a file may hold several arrays.
Tensor load_npy(const std::string& path, const std::string& device_name) {
  InputFile file(path);
  const NpyHeader header = read_header(file, path);
  const std::size_t bytes = checked_bytes(header, path);
  const std::string what = fmt::format("{} of {}", to_string(header.shape), name_of(header.dtype));
  if (bytes > file.left()) file.fail_short(what, bytes);
  const std::shared_ptr<Device> device = open_device(device_name);
  StoragePtr storage = device->allocate(bytes);
  read_elements(file, header.dtype, bytes, what, *device, storage->data());
  const View view =
      header.fortran_order ? column_major_view(header.shape) : dense_view(header.shape);
  return make_tensor(header.dtype, view, std::move(storage), device);
}

void save_npy(const std::string& path, const Tensor& tensor) {
  const TensorImpl& impl = checked("save_npy", tensor);
  if (impl.is_traced())
    fail_save(path, "values are not known while a function is being traced by compile()");
  const std::string header = header_text(descr_of(impl.dtype, path), tensor.shape());
  // A tensor with values may be saved while a function is traced: its copy is not recorded.
  const TraceScope untraced(nullptr);
  const Tensor dense = impl.device->shares_host_memory() ? contiguous(tensor) : tensor.to("cpu");
  OutputFile file(path);
  file.write(header.data(), header.size());
  file.write(dense.impl()->data(), static_cast<std::size_t>(dense.numel()) * size_of(impl.dtype));
  file.commit();
}

}  // namespace sinter
