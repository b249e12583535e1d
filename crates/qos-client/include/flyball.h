/* flyball.h: says to the service of `flyball qos --socket` when a thread's work begins, ends and is to be done, so that
 * the clock is there for it. Linux, C99 or C++11. Licensed under MIT or Apache-2.0, at your option.
 *
 *     #define FLYBALL_IMPLEMENTATION   in one file of the program, before its other includes
 *     #include "flyball.h"
 *
 *     flyball_class("render");         what its thread is; say it again whenever you like
 *     flyball_deadline_ms(16);         its work is to be done 16 ms after its begin
 *     flyball_begin();                 ... work ...
 *     flyball_end();
 *
 * Each call speaks for the thread that makes it. Nothing waits, nothing fails, no thread is started, no signal
 * raised. Where no service runs, a call takes no system call; every 10 s one looks again. What was said already
 * is not sent again, unless to another service. FLYBALL_QOS_SOCKET names a socket; empty, none is looked for. */
#ifndef FLYBALL_H
#define FLYBALL_H
#ifdef __cplusplus
extern "C" {
#endif
void flyball_begin(void);
void flyball_end(void);
void flyball_deadline_ms(unsigned ms); /* up to 60,000; 0: at no particular time */
void flyball_class(const char *name);  /* ui, audio, render, background or the service's own; NULL: none */
int flyball_connected(void);           /* whether a service listened when this was last known */
#ifdef __cplusplus
}
#endif
#endif

#if defined(FLYBALL_IMPLEMENTATION) && !defined(FLYBALL_IMPLEMENTED)
#define FLYBALL_IMPLEMENTED
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#if defined(__GLIBC__) && !defined(__USE_GNU)
#error "flyball.h: FLYBALL_IMPLEMENTATION comes before the other includes of its file"
#endif

/* The connection: a descriptor that is never closed, only replaced, so that no other thread sends to a stranger;
 * its number, counted from 1, and its process. */
static int flyball_fd = -1, flyball_busy;
static unsigned flyball_number;
static pid_t flyball_process;
static long long flyball_again; /* ms: no look before */
static struct sockaddr_un flyball_place[2];
static int flyball_places = -1;

/* What this thread said, and over which connection. */
static __thread struct {
  unsigned number, deadline, sent_deadline;
  pid_t process, tid;
  char name[33], sent_name[33];
} flyball_thread;

static long long flyball_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now); /* no system call */
  return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static void flyball_add_place(const char *folder, const char *file) {
  struct sockaddr_un *place = &flyball_place[flyball_places];
  place->sun_family = AF_UNIX;
  int length = folder ? snprintf(place->sun_path, sizeof place->sun_path, "%s%s", folder, file) : 0;
  if (length > 0 && (size_t)length < sizeof place->sun_path) flyball_places++;
}

static int flyball_is_ours(int fd) {
  struct sockaddr_un found;
  socklen_t length = sizeof found;
  memset(&found, 0, sizeof found);
  if (fd < 0 || getpeername(fd, (struct sockaddr *)&found, &length) || found.sun_family != AF_UNIX) return 0;
  for (int at = 0; at < flyball_places; at++)
    if (!strncmp(found.sun_path, flyball_place[at].sun_path, sizeof found.sun_path)) return 1;
  return 0;
}

/* Looks for a service, where it is time; one thread does. */
static int flyball_look(void) {
  if (flyball_now() < __atomic_load_n(&flyball_again, __ATOMIC_RELAXED)) return 0;
  if (__atomic_exchange_n(&flyball_busy, 1, __ATOMIC_ACQUIRE)) return 0;
  if (flyball_places < 0) {
    int trusted = !getauxval(AT_SECURE);
    const char *named = trusted ? getenv("FLYBALL_QOS_SOCKET") : NULL;
    flyball_places = 0;
    if (named) {
      flyball_add_place(named, "");
    } else {
      flyball_add_place(trusted ? getenv("XDG_RUNTIME_DIR") : NULL, "/flyball-qos/socket");
      flyball_add_place("/run", "/flyball-qos/socket");
    }
  }
  int found = -1, errors = errno;
  for (int at = 0; at < flyball_places && found < 0; at++) {
    found = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (found >= 0 && connect(found, (struct sockaddr *)&flyball_place[at], sizeof flyball_place[at])) {
      close(found);
      found = -1;
    }
  }
  __atomic_store_n(&flyball_again, flyball_now() + 10000, __ATOMIC_RELAXED);
  if (found >= 0) {
    int fd = __atomic_load_n(&flyball_fd, __ATOMIC_RELAXED);
    /* Only over what is ours still: a program may have closed all descriptors, and used the number again. */
    if (flyball_is_ours(fd) && dup3(found, fd, O_CLOEXEC) == fd) {
      close(found);
    } else {
      __atomic_store_n(&flyball_fd, found, __ATOMIC_RELAXED);
    }
    __atomic_store_n(&flyball_process, getpid(), __ATOMIC_RELAXED);
    __atomic_add_fetch(&flyball_number, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&flyball_again, -1, __ATOMIC_RELEASE); /* there is one */
  }
  __atomic_store_n(&flyball_busy, 0, __ATOMIC_RELEASE);
  errno = errors;
  return found >= 0;
}

int flyball_connected(void) { return __atomic_load_n(&flyball_again, __ATOMIC_ACQUIRE) == -1; }

/* Sends `verb TID argument`; whether it went. */
static int flyball_send(const char *verb, const char *argument) {
  char line[65];
  int fd = __atomic_load_n(&flyball_fd, __ATOMIC_RELAXED), errors = errno, sent = 0;
  int length = snprintf(line, sizeof line, "%s %d%s%s\n", verb, (int)flyball_thread.tid, *argument ? " " : "", argument);
  if (length < (int)sizeof line && flyball_is_ours(fd)) {
    ssize_t result = send(fd, line, (size_t)length, MSG_NOSIGNAL | MSG_DONTWAIT);
    sent = result == length;
    /* A service that is busy misses a message; one that has gone is looked for later. */
    if (sent || (result < 0 && (errno == EAGAIN || errno == EINTR))) return errno = errors, sent;
  }
  __atomic_store_n(&flyball_again, flyball_now() + 10000, __ATOMIC_RELAXED);
  errno = errors;
  return 0;
}

/* Whether somebody listens, who knows by then what this thread is. */
static int flyball_ready(void) {
  char number[16];
  if (!flyball_connected() && !flyball_look()) return 0;
  pid_t process = getpid();
  if (process != __atomic_load_n(&flyball_process, __ATOMIC_RELAXED)) { /* after a fork: one of its own */
    __atomic_store_n(&flyball_again, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&flyball_busy, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&flyball_fd, -1, __ATOMIC_RELAXED);
    if (!flyball_look()) return 0;
  }
  unsigned now = __atomic_load_n(&flyball_number, __ATOMIC_RELAXED);
  if (flyball_thread.process != process || flyball_thread.number != now) {
    flyball_thread.tid = (pid_t)syscall(SYS_gettid);
    flyball_thread.process = process;
    flyball_thread.number = now;
    flyball_thread.sent_deadline = 0;
    flyball_thread.sent_name[0] = 0;
  }
  if (strcmp(flyball_thread.name, flyball_thread.sent_name) &&
      flyball_send("class", *flyball_thread.name ? flyball_thread.name : "-"))
    strcpy(flyball_thread.sent_name, flyball_thread.name);
  if (flyball_thread.deadline != flyball_thread.sent_deadline) {
    snprintf(number, sizeof number, "%u", flyball_thread.deadline);
    if (flyball_send("deadline", number)) flyball_thread.sent_deadline = flyball_thread.deadline;
  }
  return flyball_connected();
}

void flyball_begin(void) {
  if (flyball_ready()) flyball_send("begin", "");
}

void flyball_end(void) {
  if (flyball_ready()) flyball_send("end", "");
}

void flyball_deadline_ms(unsigned ms) {
  flyball_thread.deadline = (ms > 60000 ? 60000 : ms) * 1000;
  flyball_ready();
}

void flyball_class(const char *name) {
  size_t length = name ? strcspn(name, " \n") : 0;
  if (length >= sizeof flyball_thread.name || (name && name[length])) length = 0; /* no name of a class */
  memcpy(flyball_thread.name, name ? name : "", length);
  flyball_thread.name[length] = 0;
  flyball_ready();
}
#endif
