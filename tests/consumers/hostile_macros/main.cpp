// SPDX-License-Identifier: BSD-3-Clause
// carom behind headers that define short names as macros. The standard library and Eigen come
// first, as they do in any program that uses such headers, because they do not compile behind all
// of them themselves. A macro acts on text, so to include all of carom is to try all of it.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <new>
#include <numbers>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <Eigen/Dense>

// Each stands for something that C++ has no use for, so one use of a name ends the compilation.
// clang-format off
#define min(a, b) @        // windows.h, as a function
#define max(a, b) @
#define near @             // windows.h, as words
#define far @
#define small @
#define hyper @
#define interface @
#define IN @
#define OUT @
#define OPTIONAL @
#define ERROR @
#define DELETE @
#define DIFFERENCE @
#define CONST @
#define VOID @
#define BOOL @
#define TRUE @
#define FALSE @
#define THIS @
#define STRICT @
#define DOMAIN @           // math.h with old extensions
#define SING @
#define OVERFLOW @
#define UNDERFLOW @
#define PLOSS @
#define TLOSS @
#define PI @               // Arduino.h and many programs
#define E @
#define DEG_TO_RAD @
#define I @                // complex.h
#define B0 @               // termios.h
#define B50 @
#define ECHO @
#define major(x) @         // sys/sysmacros.h, as functions
#define minor(x) @
#define makedev(x, y) @
#define verify(x) @        // AssertMacros.h; its `check` is left out: a carom function has that name
#define require(x, label) @
#define Success @          // X.h and Xlib.h
#define None @
#define Always @
#define Status @
#define Bool @
#define True @
#define False @
#define Complex @
#define Convex @
#define Nonconvex @
#define Unsorted @
#define Above @
#define Below @
#define slots @            // Qt
#define signals @
#define emit @
#define foreach(x, y) @
#define Q @
#define unix @             // predefined by compilers in their own dialect
#define linux @
#define _C @               // ctype.h of some platforms
#define _N @
#define _X @
// clang-format on

#include "carom/carom.hpp"
#include "carom/compiled.hpp"

int main() {
  const carom::FrictionCone<double> cone{0.5};
  const carom::ContactWeights<double> weights{1.0, 1.0};
  const auto answer = project(cone, weights, carom::Vector3<double>(3.0, 4.0, 1.0));
  return answer.region == carom::ConeRegion::slide ? 0 : 1;
}
