# What runs on a device, for each other architecture whose compiler is installed: an inner build of this project with
# HONE_COMPONENTS=runtime. Leaves <build>/runtime/<arch>/{libhone_executor.a,hone-runner}, as the native build does.
# Always released code, whatever the outer preset: sanitizers rarely exist for a cross compiler.
include(ExternalProject)

function(hone_cross_runtime architecture compiler)
  find_program(HONE_CROSS_${architecture} ${compiler})
  if(NOT HONE_CROSS_${architecture})
    message(STATUS "No ${compiler}: bundles for ${architecture} will lack the executor")
    return()
  endif()
  set(output "${PROJECT_BINARY_DIR}/runtime/${architecture}")
  ExternalProject_Add(runtime-${architecture}
    SOURCE_DIR "${PROJECT_SOURCE_DIR}"
    BINARY_DIR "${PROJECT_BINARY_DIR}/runtime-${architecture}"
    STAMP_DIR "${PROJECT_BINARY_DIR}/runtime-${architecture}/stamps"
    TMP_DIR "${PROJECT_BINARY_DIR}/runtime-${architecture}/temporary"
    PREFIX "${PROJECT_BINARY_DIR}/runtime-${architecture}"
    CMAKE_ARGS
      -DHONE_COMPONENTS=runtime
      -DHONE_RUNTIME_DIRECTORY=${output}
      -DHONE_HALIDE_INCLUDE=${halide_dir}/include
      -DCMAKE_TOOLCHAIN_FILE=${PROJECT_SOURCE_DIR}/cmake/${architecture}-linux-gnu.cmake
      -DCMAKE_BUILD_TYPE=Release
      -DCMAKE_CXX_FLAGS_RELEASE=-O2
      -DCMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER}
    BUILD_ALWAYS ON
    BUILD_BYPRODUCTS "${output}/libhone_executor.a" "${output}/hone-runner"
    INSTALL_COMMAND ""
    EXCLUDE_FROM_ALL OFF)
endfunction()

if(NOT HONE_ARCHITECTURE STREQUAL "aarch64")
  hone_cross_runtime(aarch64 aarch64-linux-gnu-g++)
endif()
