#pragma once

// Symbols that other packages link against. Everything else is hidden, so that the shared library's table stays small
// and two wheels can never interpose each other's internals.
#define FL_API __attribute__((visibility("default")))

#define FL_LIKELY(x) (__builtin_expect(static_cast<bool>(x), 1))
#define FL_UNLIKELY(x) (__builtin_expect(static_cast<bool>(x), 0))
