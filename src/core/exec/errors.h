// The exceptions that the core throws. what() is the message for the user; fields hold the details.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace ancify {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A value that the caller passed cannot be used.
class InputError : public Error {
 public:
  using Error::Error;
};

// A file cannot be opened, read or written.
class FileError : public Error {
 public:
  FileError(const std::string& file, const std::string& problem)
      : Error("'" + file + "': " + problem), file(file) {}
  std::string file;
};

// Another process works in the folder of this lock file.
class LockError : public FileError {
 public:
  using FileError::FileError;
};

// A file's content violates its format. Lines count from 1; 0 means that no line can be named.
class FormatError : public Error {
 public:
  FormatError(const std::string& file, std::int64_t line, const std::string& problem)
      : Error("'" + file + "'" + (line > 0 ? ", line " + std::to_string(line) : "") + ": " +
              problem),
        file(file),
        line(line) {}
  std::string file;
  std::int64_t line;
};

// A compute device cannot be used, or failed.
class DeviceError : public Error {
 public:
  using Error::Error;
};

// The operating system refuses a resource, such as a thread.
class SystemError : public Error {
 public:
  using Error::Error;
};

// The user asked the job to stop.
class Interrupted : public Error {
 public:
  Interrupted() : Error("stopped by the user") {}
};

}  // namespace ancify
