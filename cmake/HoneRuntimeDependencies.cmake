# A runtime build needs threads and HalideRuntime.h only.
find_package(Threads REQUIRED)
set(HONE_HALIDE_INCLUDE "" CACHE PATH "folder of HalideRuntime.h")
add_library(hone_halide_runtime_header INTERFACE)
target_include_directories(hone_halide_runtime_header SYSTEM INTERFACE "${HONE_HALIDE_INCLUDE}")
