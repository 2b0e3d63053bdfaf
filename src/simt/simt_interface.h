// The executor's view of kernels/simt/interface.h.
#pragma once

#include "kernels/simt/interface.h"  // IWYU pragma: export
