// Reading and writing the bytes of a .npy file.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace sinter {

// A regular file, read from its start. Errors name the path, which must outlive this.
class NpyInput {
 public:
  explicit NpyInput(const std::string& path);
  ~NpyInput();
  NpyInput(const NpyInput&) = delete;
  NpyInput& operator=(const NpyInput&) = delete;

  std::size_t left() const { return left_; }  // bytes not read yet

  // `what` names the bytes in the error if the file is shorter.
  void read(void* destination, std::size_t bytes, std::string_view what);
  [[noreturn]] void fail_short(std::string_view what, std::size_t bytes) const;

 private:
  const std::string& path_;
  int fd_ = -1;
  std::size_t left_ = 0;
};

// A temporary file beside the target, removed by the destructor unless commit() renamed it.
class NpyOutput {
 public:
  explicit NpyOutput(const std::string& path);
  ~NpyOutput();
  NpyOutput(const NpyOutput&) = delete;
  NpyOutput& operator=(const NpyOutput&) = delete;

  void write(const void* data, std::size_t bytes);
  void commit();

 private:
  [[noreturn]] void fail(std::string_view what) const;

  const std::string& path_;
  const std::filesystem::path target_;
  std::filesystem::path temporary_;
  int fd_ = -1;
  bool committed_ = false;
};

}  // namespace sinter
