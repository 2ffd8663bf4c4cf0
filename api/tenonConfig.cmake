# find_package(tenon) gives the target tenon::tenon.
include("${CMAKE_CURRENT_LIST_DIR}/tenonTargets.cmake")
