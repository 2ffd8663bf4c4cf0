// Every kernel that checks, of the corpus, the library and the examples, before and after each pass.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "frontend/check/check.h"
#include "frontend/parse/parse.h"
#include "passed.h"
#include "passes/pipeline.h"

namespace tenon::passes {
namespace {
