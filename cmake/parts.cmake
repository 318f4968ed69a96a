# SPDX-License-Identifier: GPL-2.0-or-later
# Optional parts of the program. A build without a part does not need the part's library. docs/install.md lists them.
option(KMEMTRACE_PARTS "Default of the optional parts below" ON)

# Defines the option KMEMTRACE_${part}. If it is ON, the pkg-config modules that follow are required.
function(kmt_part part description)
  option(KMEMTRACE_${part} "${description}" ${KMEMTRACE_PARTS})
  if(KMEMTRACE_TESTS AND NOT KMEMTRACE_${part})
    message(FATAL_ERROR "The tests need all optional parts, but KMEMTRACE_${part} is OFF")
  endif()
  if(KMEMTRACE_${part} AND ARGN)
    pkg_check_modules(${part} REQUIRED IMPORTED_TARGET GLOBAL ${ARGN})
  endif()
endfunction()

kmt_part(ANONYMISE "Anonymise traces (libsodium)" libsodium)
kmt_part(ARCHIVES "Read compressed support archives (libarchive)" libarchive)
kmt_part(CTF "Read CTF traces (babeltrace2)" babeltrace2)
kmt_part(DEBUG_INFO "Read lines and inlined functions from debug info (libdw)" libdw libelf)
kmt_part(FLEET "Load traces into ClickHouse and query them (libcurl)" libcurl)
kmt_part(HTML "Write HTML reports (Node.js and npm or esbuild, only to build)")
# libcrypto: newer headers of cpp-httplib call it. Its pkg-config file names it only for static linking.
kmt_part(PROMETHEUS "Serve metrics for Prometheus (prometheus-cpp, cpp-httplib)" prometheus-cpp-core cpp-httplib libcrypto)
kmt_part(SCREEN "Show `top` as an interactive screen (ncurses)" ncursesw)
kmt_part(SQLITE "Export traces to SQLite (libsqlite3)" sqlite3)
kmt_part(THREADS "Analyse traces with several threads (oneTBB)")
if(KMEMTRACE_THREADS)
  find_package(TBB REQUIRED)
  add_library(PkgConfig::THREADS ALIAS TBB::tbb)
endif()

# Selects the source files of an optional part. Call it before kmt_library(). The files of `SOURCES` are compiled only
# with the part, and the files of `INSTEAD` only without it. The latter report that the part is missing.
macro(kmt_part_sources part)
  cmake_parse_arguments(PART "" "" "SOURCES;INSTEAD" ${ARGN})
  if(KMEMTRACE_${part})
    list(APPEND left_out ${PART_INSTEAD})
    if(TARGET PkgConfig::${part})
      list(APPEND libraries_of_parts PkgConfig::${part})
    endif()
  else()
    list(APPEND left_out ${PART_SOURCES})
  endif()
endmacro()
