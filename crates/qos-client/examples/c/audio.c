/* An audio callback: 128 samples at 48 kHz, so each is to be done within 2.7 ms, and some take much more than others.
 *
 *     cc -std=c99 -O2 -I ../../include audio.c -o audio -lm && ./audio [CALLBACKS]
 */
#define FLYBALL_IMPLEMENTATION
#include "flyball.h"

#include <math.h>
#include <stdint.h>

#define SAMPLES 128
#define PERIOD_NS (SAMPLES * 1000000000LL / 48000)

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* What the sound server calls. Said each time, because that costs nothing once it was said. */
static void callback(float *samples, int voices) {
  flyball_class("audio");
  flyball_deadline_ms(2);
  flyball_begin();
  for (int at = 0; at < SAMPLES; at++) {
    samples[at] = 0;
    for (int voice = 1; voice <= voices; voice++) samples[at] += sinf((float)(at * voice) * 0.01f) / (float)voice;
  }
  flyball_end();
}

int main(int count, char **words) {
  static float samples[SAMPLES];
  long callbacks = count > 1 ? atol(words[1]) : 2000, late = 0;
  int64_t due = now_ns() + PERIOD_NS, worst = 0;
  for (long at = 0; at < callbacks; at++) {
    int64_t begin = now_ns();
    callback(samples, at % 50 ? 8 : 200);
    int64_t end = now_ns(), rest = due - end;
    if (end - begin > worst) worst = end - begin;
    if (rest > 0) {
      struct timespec pause = {(time_t)(rest / 1000000000), (long)(rest % 1000000000)};
      nanosleep(&pause, NULL);
    } else {
      late++;
      due = end;
    }
    due += PERIOD_NS;
  }
  printf("%s a service: %ld of %ld callbacks late, the longest took %.0f us\n",
         flyball_connected() ? "with" : "without", late, callbacks, (double)worst / 1000.0);
  return samples[0] > 1e6f; /* so that nothing is left out */
}
