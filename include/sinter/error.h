// The exceptions Sinter throws. A caller's mistake is a UserError; a failed kernel compilation is a
// CompileError; a device that says no is a DeviceError; our own bug is an InternalError.
#pragma once

#include <stdexcept>
#include <string>

namespace sinter {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Bad shapes, dtypes, files, options: the message names the operation, both sides and what was
// expected.
class UserError : public Error {
 public:
  using Error::Error;
};

// A generated kernel did not compile: says where its source is and what the compiler printed.
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

// A device call failed: which call, and its code.
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

// There is not enough memory on the device for what was asked. Nothing was lost: the process can
// go on with less.
class OutOfMemoryError : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

// The system could not do what was right to ask: a full disk, a failing one.
class IoError : public Error {
 public:
  using Error::Error;
};

// A broken invariant inside Sinter. Please report it.
class InternalError : public Error {
 public:
  using Error::Error;
};

// Receives one-line warnings, each at most once a process (no compiler found, cache not writable).
// The default writes them to stderr; the handler may be called from any thread.
using WarningHandler = void (*)(const std::string& message);
WarningHandler set_warning_handler(WarningHandler handler);

}  // namespace sinter
