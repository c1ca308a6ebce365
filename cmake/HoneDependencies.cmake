# What the full build needs. scripts/setup.sh installs all of it (Debian packages, and a venv with the Halide wheel).
set(HONE_VENV "${PROJECT_SOURCE_DIR}/.venv" CACHE PATH "virtual environment that scripts/setup.sh made")
file(GLOB halide_dirs LIST_DIRECTORIES true "${HONE_VENV}/lib/python3*/site-packages/halide")
list(GET halide_dirs 0 halide_dir)
set(Halide_DIR "${halide_dir}/lib64/cmake/Halide" CACHE PATH "Halide's CMake package")
set(Python3_ROOT_DIR "${HONE_VENV}" CACHE PATH "Python that has the Halide wheel")

find_package(Threads REQUIRED)
find_package(Halide 21 REQUIRED COMPONENTS shared)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(fmt REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(Protobuf REQUIRED)
find_package(SQLiteCpp REQUIRED)
find_package(SQLite3 REQUIRED)
cmake_policy(SET CMP0167 NEW)  # BoostConfig.cmake, not the removed FindBoost
find_package(Boost 1.74 REQUIRED COMPONENTS program_options)
find_package(benchmark REQUIRED)
find_package(GTest REQUIRED)

# Debian's libonnx-dev has no CMake package.
find_library(ONNX_PROTO_LIBRARY onnx_proto REQUIRED)
add_library(onnx::proto UNKNOWN IMPORTED)
set_target_properties(onnx::proto PROPERTIES IMPORTED_LOCATION "${ONNX_PROTO_LIBRARY}")
add_library(hone_onnx_proto INTERFACE)
target_link_libraries(hone_onnx_proto INTERFACE "$<BUILD_INTERFACE:onnx::proto>" "$<BUILD_INTERFACE:protobuf::libprotobuf>")
target_compile_definitions(hone_onnx_proto INTERFACE ONNX_ML=1 ONNX_NAMESPACE=onnx)

add_library(hone_halide_runtime_header INTERFACE)
target_include_directories(hone_halide_runtime_header SYSTEM INTERFACE "${halide_dir}/include")
