# What the native packages share: compiler settings, the generator, one source for several instruction sets.

if(SKBUILD_STATE STREQUAL "editable")
  message(FATAL_ERROR "${SKBUILD_PROJECT_NAME} is not installed with pip install -e, which would hide the other packages; run: nox -s dev")
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2")
find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

get_filename_component(FLAMBEAU_ROOT "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)

# The levels of x86-64 that kernels are built for. Other processors get one portable build, under the first one's name.
if(NOT DEFINED FLAMBEAU_ISAS)
  set(FLAMBEAU_ISAS v2)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    list(APPEND FLAMBEAU_ISAS v3 v4)
  endif()
endif()

option(FLAMBEAU_NATIVE_ONLY "optimise kernels for this machine's instruction set only" OFF)

# Numerics are part of the contract: no contraction the source did not ask for, so a vector body and its tail agree.
set(FLAMBEAU_KERNEL_FLAGS -O3 -fno-math-errno -fno-trapping-math -ffp-contract=off -Wall -Wextra -Wno-unused-parameter)

# flambeau_generate(<package>): runs opgen into <build>/generated at configure time. Configuring runs again when a table or the
# generator changes.
function(flambeau_generate package)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/generated)
  set(ENV{PYTHONPATH} "${FLAMBEAU_ROOT}/tools/opgen/src")
  execute_process(
    COMMAND ${Python_EXECUTABLE} -m opgen --schemas ${FLAMBEAU_ROOT}/schemas --out ${out} --package ${package}
    COMMAND_ERROR_IS_FATAL ANY)
  file(GLOB_RECURSE inputs ${FLAMBEAU_ROOT}/schemas/*.yaml ${FLAMBEAU_ROOT}/schemas/*.py ${FLAMBEAU_ROOT}/tools/opgen/src/*.py
    ${FLAMBEAU_ROOT}/packages/*/src/flambeau/_index/*.py)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${inputs})
  set(FLAMBEAU_GENERATED ${out} PARENT_SCOPE)
endfunction()

# flambeau_for_isa(<target> <isa>): the compiler's options for sources of that instruction set.
function(flambeau_for_isa target isa)
  list(LENGTH FLAMBEAU_ISAS count)
  if(count GREATER 1)
    target_compile_options(${target} PRIVATE -march=x86-64-${isa})
    if(isa STREQUAL v4)
      target_compile_options(${target} PRIVATE -mprefer-vector-width=512)
    endif()
  endif()
endfunction()

# flambeau_isa_sources(<target> <source>...): compiles each source once per instruction set into the target, which can ask
# for FL_HAVE_V3 and FL_HAVE_V4 (cpu/for_isa.h does).
function(flambeau_isa_sources target)
  # A development build optimises the machine's own instruction set; the others are there, quickly compiled and slow.
  set(native v3)
  if(EXISTS /proc/cpuinfo)
    file(STRINGS /proc/cpuinfo flags REGEX "^flags" LIMIT_COUNT 1)
  endif()
  if(flags MATCHES "avx512vl")
    set(native v4)
  endif()
  foreach(isa IN LISTS FLAMBEAU_ISAS)
    set(lib ${target}_${isa})
    add_library(${lib} OBJECT ${ARGN})
    target_compile_definitions(${lib} PRIVATE FL_ISA=${isa})
    target_compile_options(${lib} PRIVATE ${FLAMBEAU_KERNEL_FLAGS})
    list(LENGTH FLAMBEAU_ISAS count)
    if(FLAMBEAU_NATIVE_ONLY AND count GREATER 1 AND NOT isa STREQUAL native)
      target_compile_options(${lib} PRIVATE -O0)
    endif()
    flambeau_for_isa(${lib} ${isa})
    target_link_libraries(${lib} PRIVATE flambeau::core)
    target_include_directories(${lib} PRIVATE $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${lib}>)
    string(TOUPPER ${isa} upper)
    target_compile_definitions(${target} PRIVATE FL_HAVE_${upper}=1)
  endforeach()
endfunction()
