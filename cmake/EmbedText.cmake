# hone_embed_text(TARGET NAME FILE): compiles FILE's text into TARGET as `extern const std::string_view NAME` in namespace
# hone. Files that ship inside a program (migrations, templates) stay readable files in the source tree.
function(hone_embed_text target name file)
  set(source "${CMAKE_CURRENT_SOURCE_DIR}/${file}")
  set(generated "${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
  file(READ "${source}" text)
  string(FIND "${text}" ")hone_text\"" terminator)
  if(NOT terminator EQUAL -1)
    message(FATAL_ERROR "${source} contains the raw string terminator of hone_embed_text")
  endif()
  file(CONFIGURE OUTPUT "${generated}" @ONLY CONTENT "#include <string_view>

namespace hone {
extern const std::string_view @name@;
const std::string_view @name@ = R\"hone_text(@text@)hone_text\";
}  // namespace hone
")
  target_sources(${target} PRIVATE "${generated}")
endfunction()
