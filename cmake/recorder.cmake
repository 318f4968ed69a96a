# SPDX-License-Identifier: GPL-2.0-or-later
# Settings for the recorder, which is one small file without shared libraries. packaging/static uses them.
set(KMEMTRACE_PARTS OFF CACHE BOOL "" FORCE)
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
set(CMAKE_POSITION_INDEPENDENT_CODE OFF)
set(size_option -Os)
if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
  set(size_option -Oz)
endif()
string(REPLACE -O3 ${size_option} CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")
# Source files of commands that only the full program has, below src/.
set(absent_sources
    analysis/growth/ analysis/simulation/
    cli/all_commands cli/completion cli/files/export cli/files/fleet cli/investigate/ "cli/record/graph\\.cpp"
    cli/watch/armed cli/watch/memory_account cli/watch/serve cli/watch/without_prometheus
    "cli/report/(diff|flamegraph|graph|histogram|html|leaks|pages|report|series|simulate|timeline)"
    "views/export/(chrome|collapsed|firefox|lines|perfetto|pprof\\.cpp|speedscope|tracks|without_prometheus|without_sqlite)" views/html/)
list(JOIN absent_sources | absent_sources)
# A static program has a fixed address. By default, Debian's compilers produce code for any address, which is 2 % larger
# on amd64 and 7 % larger on i386.
add_compile_options(-fno-pie -ffunction-sections -fdata-sections)
add_link_options(-static -Wl,--gc-sections)
set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON) # makes the program 7 % smaller
