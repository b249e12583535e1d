/* What programs do that a library in them has to live with; the test reads what it says. */
#define FLYBALL_IMPLEMENTATION
#include "flyball.h"

#include <sys/wait.h>

int main(int count, char **words) {
  const char *mode = count > 1 ? words[1] : "";
  flyball_begin();
  flyball_end();
  if (!strcmp(mode, "loop")) {
    for (int at = 0; at < 1000000; at++) {
      flyball_begin();
      flyball_end();
    }
  } else if (!strcmp(mode, "fork")) {
    pid_t child = fork();
    if (child == 0) {
      flyball_begin();
      _exit(0);
    }
    waitpid(child, NULL, 0);
    flyball_begin();
  } else if (!strcmp(mode, "closed")) {
    /* All descriptors closed, and their numbers used again: by a socket, so that sending would work. */
    int pair[2], got = 0;
    char text[64];
    for (int fd = 3; fd < 64; fd++) close(fd);
    for (int at = 0; at < 8; at++) {
      if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair)) return 2;
      flyball_begin();
      got |= read(pair[0], text, sizeof text) > 0 || read(pair[1], text, sizeof text) > 0;
    }
    return got;
  } else if (!strcmp(mode, "gone")) {
    /* The test ends its service meanwhile. */
    char byte;
    if (write(1, "\n", 1) != 1 || read(0, &byte, 1) != 1) return 2;
    for (int at = 0; at < 1000; at++) flyball_begin();
    errno = 77;
    flyball_begin();
    return errno != 77 || flyball_connected();
  }
  return 0;
}
