// libfake_nvrtc.so: the functions of NVRTC that Sinter calls. A text compiles unless it has an
// #error. In: FakeNvrtc, set by the test. Out: images that are texts.
#define SINTER_FAKE_NVRTC ""  // only its loader needs the path
#include "tests/cuda/fake/fake_nvrtc.h"

#include <algorithm>
#include <cstring>
#include <mutex>

using sinter::FakeNvrtc;

namespace {

FakeNvrtc g_fake;

struct Program {
  std::string text;
  std::string name;
  std::string log;
};

int copy_text(const std::string& text, char* to) {
  std::memcpy(to, text.c_str(), text.size() + 1);
  return 0;
}

}  // namespace

extern "C" {

FakeNvrtc* fake_nvrtc_state() { return &g_fake; }

int nvrtcVersion(int* major, int* minor) {
  *major = g_fake.major;
  *minor = g_fake.minor;
  return 0;
}

const char* nvrtcGetErrorString(int code) { return code == 6 ? "NVRTC_ERROR_COMPILATION" : "?"; }

int nvrtcGetNumSupportedArchs(int* count) {
  *count = static_cast<int>(g_fake.architectures.size());
  return 0;
}

int nvrtcGetSupportedArchs(int* archs) {
  std::copy(g_fake.architectures.begin(), g_fake.architectures.end(), archs);
  return 0;
}

int nvrtcCreateProgram(Program** program, const char* text, const char* name, int,
                       const char* const*, const char* const*) {
  *program = new Program{text, name, ""};
  return 0;
}

int nvrtcDestroyProgram(Program** program) {
  delete *program;
  return 0;
}

int nvrtcCompileProgram(Program* program, int count, const char* const* options) {
  static std::mutex mutex;  // kernels are compiled concurrently
  {
    const std::lock_guard lock(mutex);
    ++g_fake.compiled;
    g_fake.options.assign(options, options + count);
  }
  if (program->text.find("#error") == std::string::npos) return 0;
  program->log = program->name + "(1): error: as the test wanted\n";
  return 6;
}

int nvrtcGetProgramLogSize(Program* program, std::size_t* bytes) {
  *bytes = program->log.size() + 1;
  return 0;
}
int nvrtcGetProgramLog(Program* program, char* log) { return copy_text(program->log, log); }

int nvrtcGetCUBINSize(Program* program, std::size_t* bytes) {
  *bytes = g_fake.image_prefix.size() + program->text.size() + 1;
  return 0;
}
int nvrtcGetCUBIN(Program* program, char* image) {
  return copy_text(g_fake.image_prefix + program->text, image);
}

int nvrtcGetPTXSize(Program* program, std::size_t* bytes) {
  *bytes = program->text.size() + 8;
  return 0;
}
int nvrtcGetPTX(Program* program, char* image) {
  return copy_text("ptx of " + program->text, image);
}

}  // extern "C"
