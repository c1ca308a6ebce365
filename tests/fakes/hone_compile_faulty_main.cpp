// SPDX-License-Identifier: MIT
// hone-compile-faulty: the real helper over a table that has faulty implementations too.
#include "codegen/builder.h"
#include "tests/fakes/faulty_implementations.h"

int main(int argc, char** argv) {
  return hone::compile_helper_main(argc, argv, hone::faulty_implementations());
}
