// SPDX-License-Identifier: MIT
// hone-compile: started by hone, compiles kernels of the built-in implementations in killable children.
#include "codegen/builder.h"

int main(int argc, char** argv) {
  return hone::compile_helper_main(argc, argv, hone::implementations());
}
