// SPDX-License-Identifier: MIT
// hone-runner: executes and times kernels and bundles for hone, in children that may crash. It speaks its protocol on
// stdin and stdout, so that a command prefix (qemu-aarch64, ssh board) is all that another machine takes.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>

#include "profiler/runner_server.h"

int main(int argc, char** argv) {
  if (argc > 1 || isatty(STDIN_FILENO)) {
    fprintf(
        stderr,
        "%s is started by hone and speaks a binary protocol on stdin and stdout; it takes no arguments. See hone help "
        "tune.\n",
        argv[0]);
    return 2;
  }
  signal(SIGPIPE, SIG_IGN);
  prctl(PR_SET_CHILD_SUBREAPER, 1);  // what a kernel leaves behind comes to us, to be ended
  // The protocol moves away from 0 and 1, so that nothing that prints or reads by habit can break it.
  const int input = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
  const int output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (input < 0 || output < 0 || null < 0) {
    perror("hone-runner");
    return 1;
  }
  dup2(null, STDIN_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  close(null);
  return hone::serve(input, output);
}
