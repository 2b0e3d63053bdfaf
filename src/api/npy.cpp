// NumPy's .npy files: magic, version, header length, a Python dict as text, then the elements.
// The sizes in a file are checked before anything is allocated. The format is described in
// numpy/lib/format.py, versions 1.0, 2.0 and 3.0.
#include <sinter/io.h>
#include <sinter/ops.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "src/api/devices.h"
#include "src/api/npy_errors.h"
#include "src/api/npy_file.h"
#include "src/api/npy_header.h"
#include "src/api/op_call.h"
#include "src/api/tensor_impl.h"
#include "src/api/trace.h"

namespace sinter {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are read and written as is");

constexpr std::size_t kMaxHeader = std::size_t{1} << 20;      // NumPy's own are 128 bytes
constexpr std::int64_t kMaxElements = std::int64_t{1} << 56;  // their bytes fit an int64_t

std::size_t read_header_length(NpyInput& file, const std::string& path) {
  char magic[kNpyMagic.size()] = {};
  file.read(magic, std::min(sizeof(magic), file.left()), "the magic");
  if (std::string_view(magic, sizeof(magic)) != kNpyMagic)
    fail_load(path, "it is not a .npy file: it does not start with \\x93NUMPY");
  std::uint8_t version[2] = {};
  file.read(version, sizeof(version), "the version");
  if (version[0] < 1 || version[0] > 3)
    fail_load(path, "its format version is {}.{}, Sinter reads 1, 2 and 3", version[0], version[1]);
  std::uint32_t length = 0;  // little-endian
  file.read(&length, version[0] == 1 ? 2 : 4, "the header's length");
  return length;
}

NpyHeader read_header(NpyInput& file, const std::string& path) {
  const std::size_t length = read_header_length(file, path);
  if (length > file.left()) file.fail_short("the header", length);
  if (length > kMaxHeader)
    fail_load(path, "the header is {} bytes long, at most {} are expected", length, kMaxHeader);
  std::string text(length, '\0');
  file.read(text.data(), length, "the header");
  return parse_npy_header(path, text);
}

std::size_t checked_bytes(const NpyHeader& header, const std::string& path) {
  std::int64_t product = 1;  // without zeros: strides are products of the other sizes
  for (std::int64_t size : header.shape)
    if (__builtin_mul_overflow(product, std::max<std::int64_t>(size, 1), &product) ||
        product > kMaxElements)
      fail_load(path, "its shape {} has too many elements", to_string(header.shape));
  return static_cast<std::size_t>(header.shape.numel()) * size_of(header.dtype);
}

// Column-major: the row-major view of the reversed shape, with its axes reversed.
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

// Copies to device memory in chunks, so that the host never holds the whole file.
void read_elements(NpyInput& file, DType dtype, std::size_t bytes, std::string_view what,
                   Device& device, void* destination) {
  constexpr std::size_t kChunk = std::size_t{16} << 20;
  const bool direct = device.shares_host_memory();
  std::vector<std::uint8_t> staged(direct ? 0 : std::min(bytes, kChunk));
  for (std::size_t done = 0; done < bytes;) {
    auto* to = static_cast<std::uint8_t*>(destination) + done;
    const std::size_t count = direct ? bytes : std::min(bytes - done, kChunk);
    std::uint8_t* values = direct ? to : staged.data();
    file.read(values, count, what);
    if (dtype == DType::boolean)
      // NumPy accepts any byte as a bool; ours are 0 and 1.
      std::transform(values, values + count, values, [](std::uint8_t v) { return v != 0; });
    if (!direct) device.copy_from_host(to, values, count);
    done += count;
  }
}

}  // namespace

// Bytes after the elements are ignored, as in NumPy: a file may hold several arrays.
Tensor load_npy(const std::string& path, const std::string& device_name) {
  NpyInput file(path);
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
  const std::string header = npy_header_text(path, impl.dtype, tensor.shape());
  // A tensor with values may be saved during tracing: its copy must not be recorded.
  const TraceScope untraced(nullptr);
  const Tensor dense = impl.device->shares_host_memory() ? contiguous(tensor) : tensor.to("cpu");
  NpyOutput file(path);
  file.write(header.data(), header.size());
  file.write(dense.impl()->data(), static_cast<std::size_t>(dense.numel()) * size_of(impl.dtype));
  file.commit();
}

}  // namespace sinter
