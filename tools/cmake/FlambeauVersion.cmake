# FLAMBEAU_VERSION (X.Y.Z) and FLAMBEAU_VERSION_MINOR (X.Y) of the package that includes this, from its pyproject.toml.
file(STRINGS "${CMAKE_CURRENT_SOURCE_DIR}/pyproject.toml" line REGEX "^version = " LIMIT_COUNT 1)
string(REGEX MATCH "([0-9]+\\.[0-9]+)\\.[0-9]+" FLAMBEAU_VERSION "${line}")
set(FLAMBEAU_VERSION_MINOR ${CMAKE_MATCH_1})
