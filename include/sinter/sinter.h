// Everything a user of Sinter includes.
#pragma once

#include <sinter/allocator.h>
#include <sinter/bench.h>
#include <sinter/compile.h>
#include <sinter/cuda.h>
#include <sinter/device.h>
#include <sinter/dtype.h>
#include <sinter/error.h>
#include <sinter/io.h>
#include <sinter/number.h>
#include <sinter/ops.h>
#include <sinter/plan.h>
#include <sinter/scope.h>
#include <sinter/shape.h>
#include <sinter/tensor.h>
#include <sinter/tune.h>
