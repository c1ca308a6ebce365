# One library per folder, explicit sorted source lists, one include root (the repository).

# Warnings for our own code; presets decide whether they are errors.
add_library(hone_warnings INTERFACE)
target_compile_options(hone_warnings INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor)

# hone_library(NAME SOURCES a.cpp... HEADERS a.h... LINK public... LINK_PRIVATE private...)
function(hone_library target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;HEADERS;LINK;LINK_PRIVATE")
  add_library(${target} STATIC)
  target_sources(${target} PRIVATE ${arg_SOURCES})
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}" FILES ${arg_HEADERS})
  set_target_properties(${target} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${target} PUBLIC "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${target} PUBLIC ${arg_LINK} PRIVATE $<BUILD_INTERFACE:hone_warnings> ${arg_LINK_PRIVATE})
endfunction()

# hone_program(NAME SOURCES a.cpp... LINK libs...): placed in the build root, where hone finds its helpers.
function(hone_program target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  add_executable(${target} ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE ${arg_LINK} hone_warnings)
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
endfunction()

# hone_test(NAME LABEL label SOURCES a_test.cpp... LINK libs... [TIMEOUT s] [ENVIRONMENT k=v...]): a GoogleTest program,
# one CTest entry a program (start-up of Halide programs costs more than their cases).
function(hone_test target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LABEL;TIMEOUT" "SOURCES;LINK;ENVIRONMENT")
  add_executable(${target} ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE ${arg_LINK} GTest::gtest GTest::gtest_main hone_warnings)
  add_test(NAME ${target} COMMAND ${target})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  set_tests_properties(${target} PROPERTIES LABELS "${arg_LABEL}" TIMEOUT ${arg_TIMEOUT} ENVIRONMENT "${arg_ENVIRONMENT}")
endfunction()
