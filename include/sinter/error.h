// The exceptions Sinter throws: UserError for a caller's mistake, CompileError for a failed kernel
// compilation, DeviceError for a failed device call, InternalError for a bug in Sinter.
#pragma once

#include <stdexcept>
#include <string>

namespace sinter {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Bad shapes, dtypes, files or options. The message names the operation, both sides and what was
// expected.
class UserError : public Error {
 public:
  using Error::Error;
};

// A generated kernel did not compile. Carries the source's path and the compiler's output.
class CompileError : public Error {
 public:
  CompileError(const std::string& message, std::string source_path, std::string log)
      : Error(message), source_path_(std::move(source_path)), log_(std::move(log)) {}

  const std::string& source_path() const { return source_path_; }
  const std::string& log() const { return log_; }

 private:
  std::string source_path_;
  std::string log_;
};

// A device call failed. Carries the call and its error code.
class DeviceError : public Error {
 public:
  DeviceError(const std::string& message, std::string call, int code)
      : Error(message), call_(std::move(call)), code_(code) {}

  const std::string& call() const { return call_; }
  int code() const { return code_; }

 private:
  std::string call_;
  int code_;
};

// Not enough device memory for the request. The process can continue with less.
class OutOfMemoryError : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

// An operating system failure, such as a full or failing disk.
class IoError : public Error {
 public:
  using Error::Error;
};

// A broken invariant inside Sinter. Please report it.
class InternalError : public Error {
 public:
  using Error::Error;
};

// Receives one-line warnings, each at most once per process (no compiler found, cache not
// writable). The default handler writes to stderr. May be called from any thread.
using WarningHandler = void (*)(const std::string& message);
WarningHandler set_warning_handler(WarningHandler handler);

}  // namespace sinter
