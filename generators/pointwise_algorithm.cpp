// SPDX-License-Identifier: MIT
// Halide expressions of the pointwise operators, a line each, in the order of pointwise.cpp. Nothing here calls libm
// for 16- and 32-bit floats: exp, log, pow are Halide's own vectorised code, erf and tanh are fitted below.
#include <algorithm>
#include <array>
#include <cmath>

#include "executor/error.h"
#include "generators/algorithm_parts.h"
#include "generators/algorithms.h"
#include "generators/pointwise.h"

namespace hone {
namespace {

using Halide::Expr;
using Halide::Type;

/// Operands, numeric attributes in the order of the line, and the result's dtype.
struct Terms {
  std::span<const Expr> x;
  std::span<const double> p;
  DType dtype;

  /// Attribute as a constant of the operands' type.
  Expr constant(size_t i) const { return Halide::Internal::make_const(x[0].type(), p[i]); }
};
using T = const Terms&;

Expr number(const Expr& like, double value) {
  return Halide::Internal::make_const(like.type(), value);
}

/// bool is a byte that is 0 or 1.
Expr truth(const Expr& condition) {
  return cast(Halide::UInt(8), condition);
}

/// odd(x) = x P(x^2) / Q(x^2) on |x| <= limit, constant beyond. Coefficients: minimax fits of ours (iteratively
/// re-weighted least squares), lowest power first, Q(0) = 1.
struct OddRational {
  double limit;
  std::array<double, 7> p;
  std::array<double, 5> q;
};

/// Error in fp32, absolute and relative: 3.7e-7, 6.5e-7.
constexpr OddRational kErf = {4,
                              {1.128378677e+00, 2.139448114e-01, 5.243348905e-02, 4.293039510e-03, 1.555351170e-04,
                               -1.990288514e-06, 1.921677655e-08},
                              {1, 5.229313099e-01, 1.207996699e-01, 1.555109034e-02, 1.098029848e-03}};
/// Error in fp32, absolute and relative: 3.5e-7, 3.5e-7.
constexpr OddRational kTanh = {
    9,
    {9.999999939e-01, 1.367634025e-01, 3.863925217e-03, 2.792321533e-05, 3.040056089e-08, -1.208279797e-11, 0},
    {1, 4.700967093e-01, 2.722952849e-02, 3.931032900e-04, 1.281723242e-06}};

template <size_t N>
Expr polynomial(const Expr& u, const std::array<double, N>& coefficients) {
  Expr value;
  for (size_t i = N; i-- > 0;) {
    if (!value.defined() && coefficients[i] == 0) continue;
    value = value.defined() ? value * u + number(u, coefficients[i]) : number(u, coefficients[i]);
  }
  return value;
}

Expr odd_rational(const Expr& x, const OddRational& fit) {
  const Expr c = clamp(x, number(x, -fit.limit), number(x, fit.limit));
  const Expr value = c * polynomial(c * c, fit.p) / polynomial(c * c, fit.q);
  const Expr bounded = clamp(value, number(x, -1), number(x, 1));
  return select(is_nan(x), x, bounded);
}

/// Narrow floats go through fp32 and back; fp64 keeps Halide's function (which calls libm).
template <typename Narrow, typename Wide>
Expr by_width(const Expr& x, Narrow narrow, Wide wide) {
  if (x.type().bits() == 64) return wide(x);
  return cast(x.type(), narrow(cast(Halide::Float(32), x)));
}

Expr erf_of(const Expr& x) {
  return by_width(
      x, [](const Expr& v) { return odd_rational(v, kErf); }, [](const Expr& v) { return Halide::erf(v); });
}
Expr tanh_of(const Expr& x) {
  return by_width(
      x, [](const Expr& v) { return odd_rational(v, kTanh); }, [](const Expr& v) { return Halide::tanh(v); });
}

Expr sigmoid(const Expr& x) {
  return number(x, 1) / (number(x, 1) + nan_exp(-x));
}
Expr softplus(const Expr& x) {
  return nan_max(x, number(x, 0)) + nan_log(number(x, 1) + nan_exp(-abs(x)));
}
Expr clip(const Expr& x, const Expr& low, const Expr& high) {
  return nan_min(nan_max(x, low), high);
}

/// Integers: toward zero as C does, 0 for a divisor of 0 (where the machine would trap).
Expr divide(const Expr& a, const Expr& b) {
  if (a.type().is_float()) return a / b;
  const Expr one = Halide::Internal::make_one(b.type());
  Expr safe = select(b == 0, one, b);
  if (!a.type().is_int()) return select(b == 0, Halide::Internal::make_zero(a.type()), a / safe);
  safe = select(b == -1, one, safe);  // the smallest integer has no negative: that traps too
  return select(b == 0, Halide::Internal::make_zero(a.type()), select(b == -1, -a, Halide::div_round_to_zero(a, safe)));
}

Expr remainder(T t) {
  const Expr a = t.x[0], b = t.x[1];
  if (a.type().is_float()) return a - b * trunc(a / b);  // infer allows floats with fmod=1 only
  const Expr rest = select(b == 0, Halide::Internal::make_zero(a.type()), a - b * divide(a, b));
  if (t.p[0] != 0 || !a.type().is_int()) return rest;
  return select(rest != 0 && (rest < 0) != (b < 0), rest + b, rest);
}

Expr power(const Expr& base, const Expr& exponent) {
  const Type type = base.type();
  if (type.is_float()) return pow(base, cast(type, exponent));
  return cast(type, round(pow(cast(Halide::Float(64), base), cast(Halide::Float(64), exponent))));
}

Expr gelu(T t) {
  const Expr x = t.x[0];
  const Expr half = number(x, 0.5), one = number(x, 1);
  if (t.p[0] == 0) return half * x * (one + erf_of(x * number(x, 0.70710678118654752)));
  return half * x * (one + tanh_of(number(x, 0.79788456080286536) * (x + number(x, 0.044715) * x * x * x)));
}

Expr convert(T t) {
  const Expr x = t.x[0];
  if (t.dtype == DType::boolean) return truth(x != 0);
  const Type to = halide_type(t.dtype);
  return x.type().is_float() && !to.is_float() ? saturating_cast(to, x) : cast(to, x);
}

/// Integers have no infinity: the default bounds of Clip do nothing there.
Expr clip_line(T t) {
  Expr value = t.x[0];
  const bool is_float = value.type().is_float();
  if (is_float || std::isfinite(t.p[0])) value = nan_max(value, t.constant(0));
  if (is_float || std::isfinite(t.p[1])) value = nan_min(value, t.constant(1));
  return value;
}

Expr is_inf_line(T t) {
  const Expr negative = t.p[0] != 0 ? t.x[0] < 0 : Halide::Internal::const_false();
  const Expr positive = t.p[1] != 0 ? t.x[0] > 0 : Halide::Internal::const_false();
  return truth(is_inf(t.x[0]) && (negative || positive));
}

Expr sign(const Expr& x) {
  const Expr zero = number(x, 0), one = number(x, 1);
  if (x.type().is_uint()) return select(x > 0, one, zero);
  const Expr value = select(x > 0, one, select(x < 0, number(x, -1), zero));
  return x.type().is_float() ? select(is_nan(x), x, value) : value;
}

template <typename Step>
Expr fold(T t, Step step) {
  Expr value = t.x[0];
  for (const Expr& x : t.x.subspan(1)) value = step(value, x);
  return value;
}

struct PointwiseLine {
  std::string_view name;
  Expr (*value)(T t);
};

constexpr PointwiseLine kLines[] = {
    {"Abs", [](T t) { return cast(t.x[0].type(), abs(t.x[0])); }},
    {"Add", [](T t) { return t.x[0] + t.x[1]; }},
    {"And", [](T t) { return truth(t.x[0] != 0 && t.x[1] != 0); }},
    {"Cast", convert},
    {"Ceil", [](T t) { return ceil(t.x[0]); }},
    {"Celu",
     [](T t) {
       const Expr x = t.x[0], zero = number(x, 0);
       return nan_max(x, zero) + nan_min(t.constant(0) * (nan_exp(x / t.constant(0)) - number(x, 1)), zero);
     }},
    {"Clip", clip_line},
    {"Div", [](T t) { return divide(t.x[0], t.x[1]); }},
    {"Elu", [](T t) { return select(t.x[0] < 0, t.constant(0) * (nan_exp(t.x[0]) - number(t.x[0], 1)), t.x[0]); }},
    {"Equal", [](T t) { return truth(t.x[0] == t.x[1]); }},
    {"Erf", [](T t) { return erf_of(t.x[0]); }},
    {"Exp", [](T t) { return nan_exp(t.x[0]); }},
    {"Floor", [](T t) { return floor(t.x[0]); }},
    {"Gelu", gelu},
    {"Greater", [](T t) { return truth(t.x[0] > t.x[1]); }},
    {"GreaterOrEqual", [](T t) { return truth(t.x[0] >= t.x[1]); }},
    {"HardSigmoid",
     [](T t) { return clip(t.x[0] * t.constant(0) + t.constant(1), number(t.x[0], 0), number(t.x[0], 1)); }},
    {"HardSwish",
     [](T t) {
       const Expr x = t.x[0];
       return x * clip(x * number(x, 1.0 / 6) + number(x, 0.5), number(x, 0), number(x, 1));
     }},
    {"IsInf", is_inf_line},
    {"IsNaN", [](T t) { return truth(is_nan(t.x[0])); }},
    {"LeakyRelu", [](T t) { return select(t.x[0] < 0, t.constant(0) * t.x[0], t.x[0]); }},
    {"Less", [](T t) { return truth(t.x[0] < t.x[1]); }},
    {"LessOrEqual", [](T t) { return truth(t.x[0] <= t.x[1]); }},
    {"Log", [](T t) { return nan_log(t.x[0]); }},
    {"Max", [](T t) { return fold(t, nan_max); }},
    {"Mean",
     [](T t) {
       return fold(t, [](const Expr& a, const Expr& b) { return a + b; }) * number(t.x[0], 1.0 / double(t.x.size()));
     }},
    {"Min", [](T t) { return fold(t, nan_min); }},
    {"Mish", [](T t) { return t.x[0] * tanh_of(softplus(t.x[0])); }},
    {"Mod", remainder},
    {"Mul", [](T t) { return t.x[0] * t.x[1]; }},
    {"Neg", [](T t) { return -t.x[0]; }},
    {"Not", [](T t) { return truth(t.x[0] == 0); }},
    {"Or", [](T t) { return truth(t.x[0] != 0 || t.x[1] != 0); }},
    {"PRelu", [](T t) { return select(t.x[0] < 0, t.x[1] * t.x[0], t.x[0]); }},
    {"Pow", [](T t) { return power(t.x[0], t.x[1]); }},
    {"Reciprocal", [](T t) { return number(t.x[0], 1) / t.x[0]; }},
    {"Relu", [](T t) { return nan_max(t.x[0], number(t.x[0], 0)); }},
    {"Round", [](T t) { return round(t.x[0]); }},
    {"Selu",
     [](T t) {
       const Expr x = t.x[0];
       return t.constant(1) * select(x > 0, x, t.constant(0) * (nan_exp(x) - number(x, 1)));
     }},
    {"Sigmoid", [](T t) { return sigmoid(t.x[0]); }},
    {"Sign", [](T t) { return sign(t.x[0]); }},
    {"Softplus", [](T t) { return softplus(t.x[0]); }},
    {"Softsign", [](T t) { return t.x[0] / (number(t.x[0], 1) + abs(t.x[0])); }},
    {"Sqrt", [](T t) { return sqrt(t.x[0]); }},
    {"Sub", [](T t) { return t.x[0] - t.x[1]; }},
    {"Sum", [](T t) { return fold(t, [](const Expr& a, const Expr& b) { return a + b; }); }},
    {"Tanh", [](T t) { return tanh_of(t.x[0]); }},
    {"ThresholdedRelu", [](T t) { return select(t.x[0] > t.constant(0), t.x[0], number(t.x[0], 0)); }},
    {"Where", [](T t) { return select(t.x[0] != 0, t.x[1], t.x[2]); }},
    {"Xor", [](T t) { return truth((t.x[0] != 0) != (t.x[1] != 0)); }},
};

}  // namespace

Expr pointwise_expr(const Node& node, std::span<const Expr> inputs) {
  const auto* line = std::find_if(std::begin(kLines), std::end(kLines),
                                  [&](const PointwiseLine& candidate) { return candidate.name == node.op; });
  CHECK(line != std::end(kLines));
  const std::vector<double> parameters = pointwise_parameters(node);
  const DType dtype = node.outputs[0].dtype;
  const Expr value = line->value({inputs, parameters, dtype});
  // An epilogue may hand in accumulators that are wider than the node's tensors.
  return value.type() == halide_type(dtype) ? value : cast(halide_type(dtype), value);
}

Halide::Func pointwise_algorithm(const AlgorithmRequest& request) {
  const Shape& shape = request.output_shape();
  const std::vector<Halide::Var> vars = index_vars(shape.size());
  const std::vector<Expr> index(vars.rbegin(), vars.rend());
  std::vector<Expr> operands;
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    operands.push_back(request.inputs[i](broadcast_index(index, request.types[i].shape, shape)));
  }
  return define(request, vars, pointwise_expr(request.node, operands));
}

}  // namespace hone
