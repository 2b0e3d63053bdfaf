// kernels/simt/interface.h, for the executor's side.
#pragma once

#include "kernels/simt/interface.h"  // IWYU pragma: export
