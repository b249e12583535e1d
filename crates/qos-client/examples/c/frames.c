/* A game's frame loop of 60 frames a second, with the frames that were late.
 *
 *     cc -std=c99 -O2 -I ../../include frames.c -o frames && ./frames [FRAMES]
 */
#define FLYBALL_IMPLEMENTATION
#include "flyball.h"

#include <stdint.h>

#define PERIOD_NS INT64_C(16666667)

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* Stands for what a frame takes. */
static void draw(long steps) {
  volatile uint64_t sum = 0;
  for (long step = 0; step < steps; step++) sum = sum * 31 + (uint64_t)step;
}

int main(int count, char **words) {
  long frames = count > 1 ? atol(words[1]) : 300, missed = 0;
  int64_t due = now_ns() + PERIOD_NS;
  flyball_class("render");
  flyball_deadline_ms(16);
  for (long frame = 0; frame < frames; frame++) {
    flyball_begin();
    draw(frame % 10 ? 200000 : 2000000);
    flyball_end();
    int64_t rest = due - now_ns();
    if (rest > 0) {
      struct timespec pause = {0, (long)rest};
      nanosleep(&pause, NULL);
    } else {
      missed++;
      due -= rest;
    }
    due += PERIOD_NS;
  }
  printf("%s a service: %ld of %ld frames missed\n", flyball_connected() ? "with" : "without", missed, frames);
  return 0;
}
