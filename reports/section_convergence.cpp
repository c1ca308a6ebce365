// SPDX-License-Identifier: MIT
// Best time so far against trial number, one small plot a workload.
#include <fmt/format.h>

#include <algorithm>

#include "reports/html.h"
#include "reports/sections.h"

namespace hone {
namespace {

constexpr size_t kShown = 24;  // the rest is folded away
constexpr double kWidth = 300, kHeight = 150, kLeft = 62, kRight = 12, kTop = 12, kBottom = 32;

struct Scale {
  double from, to;  // values
  double pixel_from, pixel_to;
  double operator()(double value) const { return pixel_from + (value - from) / (to - from) * (pixel_to - pixel_from); }
};

std::string text(double x, double y, std::string_view anchor, std::string_view words) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, words);
}

std::string line(double x1, double y1, double x2, double y2, std::string_view css_class) {
  return fmt::format("<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", css_class, x1,
                     y1, x2, y2);
}

double best_of(const ConvergenceCurve& curve) {
  return curve.points.back().best_ns;
}
double gain_of(const ConvergenceCurve& curve) {
  return curve.default_ns > 0 ? curve.default_ns / best_of(curve) : 1;
}

/// The best time is a step function of the trials: it changes at a trial and not before.
std::string steps(const ConvergenceCurve& curve, const Scale& x, const Scale& y) {
  std::string path = fmt::format("M{:.1f} {:.1f}", x(static_cast<double>(curve.points.front().trial)),
                                 y(curve.points.front().best_ns));
  for (const ConvergencePoint& point : curve.points) {
    path += fmt::format("H{:.1f}V{:.1f}", x(static_cast<double>(point.trial)), y(point.best_ns));
  }
  return fmt::format("<path class=\"best\" d=\"{}\"/>\n", path);
}

std::string plot(const ConvergenceCurve& curve) {
  double low = best_of(curve), high = low;
  for (const ConvergencePoint& point : curve.points) high = std::max(high, point.best_ns);
  if (curve.default_ns > 0) {
    low = std::min(low, curve.default_ns);
    high = std::max(high, curve.default_ns);
  }
  const double room = std::max((high - low) * 0.12, high * 0.01);
  const double first = static_cast<double>(std::min<int64_t>(1, curve.points.front().trial));
  const double last = std::max(static_cast<double>(curve.points.back().trial), first + 1);
  const Scale x{first, last, kLeft, kWidth - kRight}, y{low - room, high + room, kHeight - kBottom, kTop};

  std::string svg =
      fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"best time so far against trial number\">\n",
                  kWidth, kHeight);
  svg += line(kLeft, kHeight - kBottom, kWidth - kRight, kHeight - kBottom, "axis");
  svg += line(kLeft, kTop, kLeft, kHeight - kBottom, "axis");
  if (curve.default_ns > 0) {
    svg += line(kLeft, y(curve.default_ns), kWidth - kRight, y(curve.default_ns), "default");
  }
  svg += steps(curve, x, y);
  svg += fmt::format("<circle class=\"end\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\"/>\n",
                     x(static_cast<double>(curve.points.back().trial)), y(best_of(curve)));
  // The two extremes are labelled; labels that would overlap collapse into one.
  svg += text(kLeft - 6, y(low) + 4, "end", format_time(low));
  if (y(low) - y(high) > 14) svg += text(kLeft - 6, y(high) + 4, "end", format_time(high));
  svg += text(kLeft, kHeight - kBottom + 14, "middle", fmt::format("{:.0f}", first));
  if (curve.points.back().trial > curve.points.front().trial) {
    svg += text(kWidth - kRight, kHeight - kBottom + 14, "end", fmt::format("{:.0f}", last));
  }
  svg += text((kLeft + kWidth - kRight) / 2, kHeight - 4, "middle", "trial");
  return svg + "</svg>\n";
}

std::string figure(const ConvergenceCurve& curve) {
  std::string outcome = fmt::format("best {}", format_time(best_of(curve)));
  if (curve.default_ns > 0)
    outcome += fmt::format(", default {} ({:.2f} x)", format_time(curve.default_ns), gain_of(curve));
  return fmt::format("<figure>\n<figcaption>{}<span class=\"muted\">{}</span></figcaption>\n{}</figure>\n",
                     span_with_title(curve.workload, 70), outcome, plot(curve));
}

}  // namespace

std::string render_convergence(const ReportInput& input) {
  std::vector<const ConvergenceCurve*> curves;
  for (const ConvergenceCurve& curve : input.curves) {
    if (!curve.points.empty()) curves.push_back(&curve);
  }
  if (curves.empty()) return absent_paragraph("no timed trial was read from a database.");
  std::stable_sort(curves.begin(), curves.end(),
                   [](const ConvergenceCurve* a, const ConvergenceCurve* b) { return gain_of(*a) > gain_of(*b); });
  std::string html =
      "<p class=\"muted\">Best time so far (line) against the number of the trial; dashed: the default schedule. These "
      "are the "
      "search's own times, a few per cent better than the re-measured ones above, because the luckiest of many was "
      "picked. "
      "Largest gain first.</p>\n<div class=\"plots\">\n";
  for (size_t i = 0; i < curves.size(); ++i) {
    if (i == kShown) {
      html +=
          fmt::format("</div>\n<details><summary>{} more</summary>\n<div class=\"plots\">\n", curves.size() - kShown);
    }
    html += figure(*curves[i]);
  }
  return html + "</div>\n" + (curves.size() > kShown ? "</details>\n" : "");
}

}  // namespace hone
