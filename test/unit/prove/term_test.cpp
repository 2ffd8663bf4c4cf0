#include <gtest/gtest.h>

#include "test/unit/prove/expressions.h"
