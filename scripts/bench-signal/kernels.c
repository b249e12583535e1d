/* The kernels in plain C, as a yardstick for the reference forms: W = 160, C = 64, rate 160 Hz.
 *
 * Two orders of the same loops. `plain` goes channel by channel, as textbooks and the sources do;
 * `rows` goes through memory in order, channels inside, as our reference forms do. Samples are
 * [t][c]. Build: cc -O2 -shared -fPIC -o kernels.so kernels.c -lm */
#define _GNU_SOURCE
#include <math.h>
#include <string.h>
#include <time.h>

enum { W = 160, H = 80, C = 64, TAPS = 129, HISTORY = TAPS - 1, BANDS = 2 };

static const double B[3] = {.9621952458291035, 1.3607495663024323, .9621952458291035};
static const double A[3] = {1, 1.3607495663024323, .9243904916582071};
static const int BINS[BANDS][2] = {{8, 13}, {13, 30}};
static double taps[TAPS];
static double notch_state[C][2];
static float history[HISTORY + W][C];
static float clean[W][C];

void set_taps(const double *values) { memcpy(taps, values, sizeof taps); }

static float finite_or_zero(float x) { return isnan(x) ? 0.0f : x; }

static void copy_clean(const float *in, float *out) {
  for (int i = 0; i < W * C; i++) out[i] = finite_or_zero(in[i]);
}

static void car(const float *in, float *out) {
  for (int t = 0; t < W; t++) {
    double sum = 0;
    int count = 0;
    for (int c = 0; c < C; c++) {
      float x = in[t * C + c];
      if (!isnan(x)) {
        sum += x;
        count++;
      }
    }
    double mean = count ? sum / count : 0;
    for (int c = 0; c < C; c++) {
      float x = in[t * C + c];
      out[t * C + c] = isnan(x) ? 0.0f : (float)(x - mean);
    }
  }
}

static void notch_plain(const float *in, float *out) {
  for (int c = 0; c < C; c++) {
    double z1 = notch_state[c][0], z2 = notch_state[c][1];
    for (int t = 0; t < W; t++) {
      double x = finite_or_zero(in[t * C + c]);
      double y = B[0] * x + z1;
      z1 = B[1] * x - A[1] * y + z2;
      z2 = B[2] * x - A[2] * y;
      out[t * C + c] = (float)y;
      if (t + 1 == H) {
        notch_state[c][0] = z1;
        notch_state[c][1] = z2;
      }
    }
  }
}

static void notch_rows(const float *in, float *out) {
  double state[C][2];
  memcpy(state, notch_state, sizeof state);
  for (int t = 0; t < W; t++) {
    for (int c = 0; c < C; c++) {
      double x = finite_or_zero(in[t * C + c]);
      double y = B[0] * x + state[c][0];
      state[c][0] = B[1] * x - A[1] * y + state[c][1];
      state[c][1] = B[2] * x - A[2] * y;
      out[t * C + c] = (float)y;
    }
    if (t + 1 == H) memcpy(notch_state, state, sizeof state);
  }
}

static void goertzel_plain(const float *in, float *out) {
  for (int band = 0; band < BANDS; band++)
    for (int c = 0; c < C; c++) {
      double power = 0;
      for (int k = BINS[band][0]; k <= BINS[band][1]; k++) {
        double coefficient = 2 * cos(2 * M_PI * k / W), s1 = 0, s2 = 0;
        for (int t = 0; t < W; t++) {
          double s0 = finite_or_zero(in[t * C + c]) + coefficient * s1 - s2;
          s2 = s1;
          s1 = s0;
        }
        power += s1 * s1 + s2 * s2 - coefficient * s1 * s2;
      }
      out[band * C + c] = (float)power;
    }
}

static void goertzel_rows(const float *in, float *out) {
  copy_clean(in, &clean[0][0]);
  for (int band = 0; band < BANDS; band++) {
    double power[C] = {0};
    for (int k = BINS[band][0]; k <= BINS[band][1]; k++) {
      double coefficient = 2 * cos(2 * M_PI * k / W), s1[C] = {0}, s2[C] = {0};
      for (int t = 0; t < W; t++)
        for (int c = 0; c < C; c++) {
          double s0 = clean[t][c] + coefficient * s1[c] - s2[c];
          s2[c] = s1[c];
          s1[c] = s0;
        }
      for (int c = 0; c < C; c++)
        power[c] += s1[c] * s1[c] + s2[c] * s2[c] - coefficient * s1[c] * s2[c];
    }
    for (int c = 0; c < C; c++) out[band * C + c] = (float)power[c];
  }
}

static void fir_plain(const float *in, float *out) {
  copy_clean(in, &history[HISTORY][0]);
  for (int c = 0; c < C; c++)
    for (int t = 0; t < W; t++) {
      double sum = 0;
      for (int k = 0; k < TAPS; k++) sum += taps[k] * history[HISTORY + t - k][c];
      out[t * C + c] = (float)sum;
    }
  memmove(history, history + H, HISTORY * sizeof history[0]);
}

static void fir_rows(const float *in, float *out) {
  copy_clean(in, &history[HISTORY][0]);
  for (int t = 0; t < W; t++) {
    double sum[C] = {0};
    for (int k = 0; k < TAPS; k++)
      for (int c = 0; c < C; c++) sum[c] += taps[k] * history[HISTORY + t - k][c];
    for (int c = 0; c < C; c++) out[t * C + c] = (float)sum[c];
  }
  memmove(history, history + H, HISTORY * sizeof history[0]);
}

typedef void kernel(const float *, float *);
static kernel *const kernels[] = {car,           notch_plain, notch_rows, goertzel_plain,
                                  goertzel_rows, fir_plain,   fir_rows};

/* Runs kernel `which` `repeats` times; returns nanoseconds per run. */
double run_kernel(int which, const float *in, float *out, int repeats) {
  struct timespec start, end;
  clock_gettime(CLOCK_MONOTONIC, &start);
  for (int i = 0; i < repeats; i++) {
    kernels[which](in, out);
    __asm__ volatile("" ::: "memory");
  }
  clock_gettime(CLOCK_MONOTONIC, &end);
  double ns = (end.tv_sec - start.tv_sec) * 1e9 + (end.tv_nsec - start.tv_nsec);
  return ns / repeats;
}
