#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>

// The smallest test harness that names what failed. Each test program is one main() that returns finish("topic").

inline int g_checks = 0;
inline int g_failures = 0;

inline void expect_at(bool ok, const char* condition, const std::string& note, const char* file, int line) {
  ++g_checks;
  if (ok) return;
  ++g_failures;
  std::printf("%s:%d: failed: %s  %s\n", file, line, condition, note.c_str());
}

#define EXPECT(cond, note) expect_at(static_cast<bool>(cond), #cond, note, __FILE__, __LINE__)

// Whether f() holds in a child process.
template <class F> bool holds_in_child(F f) {
  const pid_t child = fork();
  if (child == 0) _exit(f() ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

inline int finish(const char* topic) {
  std::printf("%s: %d checks, %d failures\n", topic, g_checks, g_failures);
  return g_failures == 0 ? 0 : 1;
}
