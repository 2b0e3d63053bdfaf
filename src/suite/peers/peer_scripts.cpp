// Which files of src/suite/peers/ belong to which peer. An embedded file that is not listed cannot
// be imported by Python; a test compares the list with the folder.
#include "src/suite/peers/peer_scripts.h"

namespace sinter::suite {
namespace {

constexpr std::string_view kTorchFiles[] = {
    "torch_peer.py",          "torch_suite/__init__.py",  "torch_suite/accuracy.py",
    "torch_suite/ahead.py",   "torch_suite/cases.py",     "torch_suite/channel.py",
    "torch_suite/clocks.py",  "torch_suite/compiler.py",  "torch_suite/inputs.py",
    "torch_suite/memory.py",  "torch_suite/problems.py",  "torch_suite/rows.py",
    "torch_suite/scripts.py", "torch_suite/workloads.py",
};

}  // namespace

std::span<const std::string_view> peer_files(std::string_view peer) {
  if (peer == "torch") return kTorchFiles;
  return {};
}

}  // namespace sinter::suite
