// Math functions of generated CPU kernels that are plain calls: logarithms, inverse functions, erf,
// pow and so on, for f32, f64, f32v and f64v. Needs types.h and math_call.h. A kernel that uses one
// of them may write its line here instead of pasting this header.

namespace sn {

SN_MATH1(expm1)
SN_MATH1(log)
SN_MATH1(log2)
SN_MATH1(log10)
SN_MATH1(log1p)
SN_MATH1(tan)
SN_MATH1(asin)
SN_MATH1(acos)
SN_MATH1(atan)
SN_MATH1(sinh)
SN_MATH1(cosh)
SN_MATH1(asinh)
SN_MATH1(acosh)
SN_MATH1(atanh)
SN_MATH1(erf)
SN_MATH1(erfc)
SN_MATH2(atan2)
SN_MATH2(pow)

}  // namespace sn
