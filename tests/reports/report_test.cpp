// SPDX-License-Identifier: MIT
// A report against its approved file, and what must hold for any report: it loads nothing, escapes everything, and says
// "not available" where nothing was measured.
#include "reports/report.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>

#include "reports/html.h"
#include "reports/sections.h"
#include "tests/reports/report_input.h"

namespace hone {
namespace {

const std::string kFolder = HONE_SOURCE_DIR "/tests/reports/";

/// Every tag of the page, "<td class="number">"; text is left out.
std::vector<std::string> tags(const std::string& html) {
  std::vector<std::string> all;
  for (size_t open = html.find('<'); open != std::string::npos; open = html.find('<', open + 1)) {
    all.push_back(html.substr(open, html.find('>', open) - open + 1));
  }
  return all;
}

/// A tag without what stands between quotes (a title may hold anything), in lower case: "<td class="">".
std::string names_in(const std::string& tag) {
  std::string names;
  bool quoted = false;
  for (const char c : tag) {
    if (!quoted || c == '"') names += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (c == '"') quoted = !quoted;
  }
  return names;
}

void expect_loads_nothing(const std::string& html) {
  const std::vector<std::string> loading_tags = {"script", "link",   "img",  "iframe", "object", "embed", "video",
                                                 "audio",  "source", "base", "form",   "image",  "use"};
  const std::vector<std::string> loading_attributes = {
      "src=", "srcset=", "data=", "action=", "poster=", "background=", "xlink:href="};
  for (const std::string& tag : tags(html)) {
    const std::string names = names_in(tag);
    const std::string element = names.substr(1, names.find_first_of(" />", 1) - 1);
    EXPECT_EQ(std::count(loading_tags.begin(), loading_tags.end(), element), 0) << tag;
    for (const std::string& attribute : loading_attributes) {
      EXPECT_EQ(names.find(" " + attribute), std::string::npos) << tag;
    }
    EXPECT_EQ(names.find(" on"), std::string::npos) << "event handler: " << tag;
    if (names.find(" href=") != std::string::npos) {
      EXPECT_NE(tag.find(" href=\"#"), std::string::npos) << tag;
    }
  }
  const size_t style = html.find("<style>"), end = html.find("</style>");
  ASSERT_NE(style, std::string::npos);
  const std::string css = html.substr(style, end - style);
  EXPECT_EQ(css.find("url("), std::string::npos);
  EXPECT_EQ(css.find("@import"), std::string::npos);
}

TEST(Report, IsTheApprovedOne) {
  const std::string html = render_html(fixed_input());
  std::ifstream in(kFolder + "approved_report.html", std::ios::binary);
  const std::string approved{std::istreambuf_iterator<char>(in), {}};
  if (html != approved) {
    std::ofstream("received_report.html", std::ios::binary) << html;
    FAIL() << "the page differs from " << kFolder
           << "approved_report.html: look at received_report.html (in this test's "
           << "working folder) in a browser and copy it there if it is right";
  }
}

TEST(Report, LoadsNothing) {
  expect_loads_nothing(render_html(fixed_input()));
  expect_loads_nothing(render_html({}));
}

TEST(Report, TheCheckForLoadingSeesIt) {
  EXPECT_NONFATAL_FAILURE(expect_loads_nothing("<style></style><script></script>"), "script");
  EXPECT_NONFATAL_FAILURE(expect_loads_nothing("<style></style><a href=\"http://x\">y</a>"), "href");
  EXPECT_NONFATAL_FAILURE(expect_loads_nothing("<style></style><p title=\"\" OnClick=\"f()\">"), "event handler");
  EXPECT_NONFATAL_FAILURE(expect_loads_nothing("<style>p { background: url(x) }</style>"), "url(");
}

TEST(Report, EveryTextIsEscaped) {
  const std::string evil = "</span><script src=\"http://x/\">'&\x01\xff";
  ReportInput input = fixed_input();
  input.title = input.hone_version = input.created = input.command = evil;
  for (ModelSummary& summary : input.summaries) {
    summary.model = summary.device = summary.cpu = summary.context = evil;
    for (auto& variant : summary.variants) variant.first = evil;
  }
  for (KernelRow& kernel : input.kernels) {
    kernel.name = kernel.workload = kernel.implementation = kernel.config = evil;
    kernel.nodes = {evil, evil, evil};
  }
  for (ConvergenceCurve& curve : input.curves) curve.workload = evil;
  for (auto& decision : input.decisions) {
    decision.verdict = decision.created = decision.key.device = evil;
    input.workload_summaries[decision.key.workload] = evil;
  }
  input.trials_by_status[evil] = 1;
  input.roofs[evil] = 1;
  input.roofs["bandwidth_" + evil] = 1;
  input.provenance.emplace_back(evil, evil);
  const std::string html = render_html(input);
  expect_loads_nothing(html);
  EXPECT_EQ(html.find("<script"), std::string::npos);
  EXPECT_EQ(html.find('\x01'), std::string::npos);
  EXPECT_EQ(html.find('\xff'), std::string::npos);
}

TEST(Report, EmptyInputSaysWhatIsMissingAndHowToGetIt) {
  for (const ReportSection& section : report_sections()) {
    const std::string html = section.render({});
    EXPECT_NE(html.find(kNotAvailable), std::string::npos) << section.name;
  }
}

TEST(Report, UnmeasuredValuesAreNeverZero) {
  ReportInput input = fixed_input();
  input.roofs.clear();
  for (KernelRow& kernel : input.kernels) kernel.flops = kernel.bytes = kernel.time_ns = 0;
  input.summaries[0].unaccounted_ns = -5;
  for (auto& variant : input.summaries[0].variants) variant.second.cpu_ns.clear();
  const std::string kernels = render_kernels(input), summary = render_summary(input);
  for (const std::string& html : {kernels, summary}) {
    EXPECT_NE(html.find(kNotAvailable), std::string::npos);
    for (const char* zero : {">0<", ">0 %", ">0.0", ">-", ">nan", ">inf", ">0.000"}) {
      EXPECT_EQ(html.find(zero), std::string::npos) << zero << " in " << html;
    }
  }
}

TEST(Report, OneMissingRoofMakesNoPercentage) {
  ReportInput input = fixed_input();
  input.kernels.resize(1);
  EXPECT_NE(render_kernels(input).find(">compute<"), std::string::npos);
  input.roofs.erase("bandwidth_DRAM");
  EXPECT_EQ(render_kernels(input).find(">compute<"), std::string::npos);
}

TEST(Report, PercentOfRoofIsTheNearerRoofsTimeOverTheTime) {
  ReportInput input;
  input.roofs = {{"peak_flops", 100e9}, {"bandwidth_DRAM", 10e9}};
  KernelRow kernel;
  kernel.time_ns = 1e6;
  kernel.flops = 40e6;  // 0.4 ms
  kernel.bytes = 5e6;   // 0.5 ms
  input.kernels = {kernel};
  const std::string html = render_kernels(input);
  EXPECT_NE(html.find("50.0 %<span class=\"detail\">memory"), std::string::npos) << html;
  EXPECT_NE(html.find(">40.0<"), std::string::npos) << "GFLOP/s";
  EXPECT_NE(html.find(">5.00<"), std::string::npos) << "GB/s";
}

TEST(Report, KernelsAreSortedByShareAndUnaccountedTimeIsARow) {
  const std::string html = render_kernels(fixed_input());
  EXPECT_LT(html.find("conv2d_winograd_cpu"), html.find("conv2d_direct_cpu"));
  EXPECT_LT(html.find("conv2d_direct_cpu"), html.find("pool_cpu"));
  EXPECT_NE(html.find("(unaccounted)"), std::string::npos);
}

TEST(Report, NoIntervalWhereTheDefaultHadNoContender) {
  ReportInput input;
  add_decision(input, 'd', "no gain", 1, 1, 1);
  const std::string html = render_decisions(input);
  EXPECT_NE(html.find("the default was the fastest"), std::string::npos);
  EXPECT_EQ(html.find("1.000"), std::string::npos) << html;
}

TEST(Html, EscapeAndTruncate) {
  EXPECT_EQ(escape("a<b>&\"'\n"), "a&lt;b&gt;&amp;&quot;&#39;\n");
  EXPECT_EQ(escape("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"), "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
  EXPECT_EQ(escape("\xc3"), "\xef\xbf\xbd") << "cut off";
  EXPECT_EQ(escape("\xc0\xaf"), "\xef\xbf\xbd\xef\xbf\xbd") << "overlong";
  EXPECT_EQ(escape("\xed\xa0\x80"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd") << "surrogate";
  EXPECT_EQ(escape(std::string_view("\0", 1)), "\xef\xbf\xbd");
  EXPECT_EQ(truncated("abcd", 4), "abcd");
  EXPECT_EQ(truncated("abcde", 4), "abc\xe2\x80\xa6");
  EXPECT_EQ(truncated("\xc3\xa4\xc3\xa4\xc3\xa4", 2), "\xc3\xa4\xe2\x80\xa6") << "never inside a character";
}

TEST(Html, NumbersForPeople) {
  EXPECT_EQ(significant(0.1234), "0.123");
  EXPECT_EQ(significant(9.996), "10.0");
  EXPECT_EQ(significant(99.96), "100");
  EXPECT_EQ(significant(12345), "12300");
  EXPECT_EQ(format_time(1.5), "1.50 ns");
  EXPECT_EQ(format_time(999.6), "1.00 \xc2\xb5s");
  EXPECT_EQ(format_time(45.2e6), "45.2 ms");
  EXPECT_EQ(format_time(2.5e9), "2.50 s");
  EXPECT_EQ(format_time(0), kNotAvailable);
  EXPECT_EQ(format_time(NAN), kNotAvailable);
  EXPECT_EQ(format_giga(-1), kNotAvailable);
  EXPECT_EQ(format_percent(0.1234), "12.3 %");
  EXPECT_EQ(format_percent(1.5), "150 %");
  EXPECT_EQ(format_ratio(1.5, 1.4, 1.6), "1.500<span class=\"detail\">1.400 to 1.600</span>");
  EXPECT_EQ(format_ratio(1.5, 0, INFINITY), "1.500<span class=\"detail\">too few samples for an interval</span>");
}

}  // namespace
}  // namespace hone
