// SPDX-License-Identifier: MIT
#include "schedules/config.h"

#include <gtest/gtest.h>

#include "executor/error.h"

namespace hone {
namespace {

SearchSpace two_knobs() {
  SearchSpace space;
  space.implementation = "conv2d_direct_cpu";
  space.params = {{"nv", {1, 2}}, {"xr", {4, 7, 14}}};
  space.constraints = {{"registers", [](const Config& c) { return c.at("nv") * c.at("xr") <= 14; }}};
  space.default_config = {"conv2d_direct_cpu", 1, {{"nv", 2}, {"xr", 7}}};
  return space;
}

TEST(Config, CanonicalTextIsSortedAndParsesBack) {
  const Config config{"conv2d_direct_cpu", 3, {{"xr", 7}, {"ku", 2}, {"skip", -1}}};
  EXPECT_EQ(config.canonical(), "conv2d_direct_cpu@3{ku=2,skip=-1,xr=7}");
  EXPECT_EQ(Config::parse(config.canonical()), config);
  const Config bare{"generic_cpu", 1, {}};
  EXPECT_EQ(Config::parse("generic_cpu@1{}"), bare);
}

TEST(Config, ParseRefusesWhatCanonicalCannotWrite) {
  for (const char* text :
       {"", "x", "x@1", "x@{}", "x@1{", "x@1{}}", "@1{}", "x@0{}", "x@01{}", "x@1{a}", "x@1{a=}", "x@1{a=1,}",
        "x@1{b=1,a=1}", "x@1{a=1,a=2}", "x@1{a=+1}", "x@1{a=1 }", "x y@1{}", "x@1{a=99999999999999999999}", "{x@1}"}) {
    EXPECT_THROW(Config::parse(text), Error) << text;
  }
}

TEST(SearchSpace, NamesTheFirstViolation) {
  const SearchSpace space = two_knobs();
  EXPECT_EQ(space.violation(space.default_config), "");
  EXPECT_EQ(space.violation({"conv2d_direct_cpu", 1, {{"nv", 2}, {"xr", 14}}}), "registers");
  EXPECT_EQ(space.violation({"conv2d_direct_cpu", 1, {{"nv", 3}, {"xr", 7}}}), "nv=3 is out of its domain");
  EXPECT_EQ(space.violation({"conv2d_direct_cpu", 1, {{"nv", 1}}}), "parameter xr is missing");
  EXPECT_EQ(space.violation({"conv2d_direct_cpu", 1, {{"nv", 1}, {"xr", 7}, {"z", 0}}}), "unknown parameter z");
  EXPECT_EQ(space.violation({"conv2d_direct_cpu", 2, {{"nv", 1}, {"xr", 7}}}), "version is 1");
  EXPECT_EQ(space.violation({"generic_cpu", 1, {}}), "implementation is conv2d_direct_cpu");
  EXPECT_EQ(space.cartesian_size(), 6);
}

TEST(SearchSpace, IdChangesWithDomainsConstraintsAndDefault) {
  const std::string id = space_id({two_knobs()});
  EXPECT_EQ(id.size(), 16u);
  EXPECT_EQ(id, space_id({two_knobs()}));
  SearchSpace other = two_knobs();
  other.params[1].values.push_back(28);
  EXPECT_NE(id, space_id({other}));
  other = two_knobs();
  other.constraints[0].name = "unroll";
  EXPECT_NE(id, space_id({other}));
  other = two_knobs();
  other.default_config.values["xr"] = 4;
  EXPECT_NE(id, space_id({other}));
  EXPECT_NE(id, space_id({two_knobs(), two_knobs()}));
}

}  // namespace
}  // namespace hone
