/* Random events for replay.h: events KIND SEED FIRST COUNT [-t]. Episodes FIRST to FIRST+COUNT-1 of
 * LENGTH events each, every one begun by event 0 and of its own seed, so that any can be had alone.
 *
 * pelt       0 start, CPU's capacity, weight
 *            1|target<<8 delta, frequency scale|idle<<16|enters idle<<17, two arguments
 *            2|target<<8 age, load_sum, runnable_sum, util_sum|contrib<<32, averages
 *            3|target<<8 util_est
 *   targets: 0 task, 1 blocked task, 2 fair queue, 3 rt, 4 dl, 5 irq, 6 pressure, 7 none, 8 util_est
 * schedutil  0 CPUs|flags<<8|capacity<<16|rate limit<<32, six frequencies in pairs, start
 *              flags: 1 invariant, 2 driver needs new limits, 4 uclamp in use
 *            1|cpu<<8|iowait<<16|was idle<<17 delta, util|runnable|util_est|rt, dl|bw_dl|irq|min, max|rt runs<<16
 *            2 delta, min, max      3 rate limit      4 stop and start
 * ondemand,  0 as schedutil
 * conserva-  1 delta, per CPU busy|nice<<16|iowait<<32 in 1/1024
 * tive       2 delta, min, max
 *            3 0, number of a tunable, value: sampling_rate, up_threshold, sampling_down_factor,
 *              ignore_nice_load, io_is_busy or freq_step, powersave_bias or down_threshold
 * menu, teo, haltpoll  0 states|first polls<<8|tick<<32, per state exit latency|target residency<<32
 *            1 time until the timer, until timer or tick, latency limit,
 *              disabled states|tasks waiting for I/O<<8|tick is stopped<<16|ended by the tick<<17|
 *              polled out<<18|a shallower state is entered<<19, length of the sleep */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS 6
#define LENGTH 256
typedef uint64_t u64;

static u64 state;

static u64 next(void)
{
	u64 z = state += 0x9e3779b97f4a7c15;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static u64 below(u64 n) { return (unsigned __int128)next() * n >> 64; }
static u64 between(u64 low, u64 high) { return low + below(high - low + 1); }
static int one_in(u64 n) { return !below(n); }

static u64 delta(void)
{
	switch (below(12)) {
	case 0: return below(1024);
	case 1: case 2: case 3: return below(100000);
	case 4: case 5: case 6: return below(2000000);
	case 7: return 4000000;
	case 8: return between(3999000, 4001000);
	case 9: return below(40000000);
	case 10: return below(300000000);
	default: return one_in(8) ? below(5000000000) : below(12000000);
	}
}

static void pelt(u64 *e, int at)
{
	u64 target = below(9);

	if (!at) {
		e[1] = one_in(4) ? next() >> 1 : below(1000000000000);
		e[2] = one_in(3) ? 1024 : between(1, 1024);
		e[3] = one_in(3) ? 1024 : between(2, 88761);
	} else if (one_in(24)) {
		e[0] = 2 | target << 8;
		e[1] = one_in(8) ? -below(5000000) : below(5000000);
		e[2] = next() >> between(8, 60);
		e[3] = next() >> between(8, 60);
		e[4] = below(48887808) | below(1024) << 32;
		e[5] = below(1 << 20) << 40 | below(4096) << 20 | below(1030);
	} else if (one_in(24)) {
		e[0] = 3;
		e[1] = below(1030) | (u64)one_in(4) << 31;
	} else {
		e[0] = 1 | target << 8;
		e[1] = delta();
		e[2] = (one_in(3) ? 1024 : between(1, 1024)) | (u64)one_in(4) << 16 | (u64)one_in(6) << 17;
		switch (target) {
		case 0: e[3] = below(3); break;
		case 2:
			e[3] = one_in(4) ? 0 : between(2, 300000);
			e[4] = below(20) | (u64)!one_in(4) << 16;
			break;
		case 5: e[3] = below(e[1] + 1); break;
		case 6: e[3] = below(1025); break;
		default: e[3] = below(2);
		}
	}
}

static u64 cpus;

static void policy(u64 *e)
{
	u64 frequencies[6] = { 0 }, khz = 0, n = between(1, 6);

	cpus = one_in(2) ? 1 : between(2, 3);
	for (u64 at = 0; at < n; at++)
		frequencies[at] = khz += one_in(2) ? between(1, 10) * 100000 : between(1, 1500000);
	e[1] = cpus | below(8) << 8 | (one_in(3) ? 1024 : between(1, 1024)) << 16 |
	       (one_in(3) ? 0 : below(12000)) << 32;
	for (int pair = 0; pair < 3; pair++)
		e[2 + pair] = frequencies[2 * pair] | frequencies[2 * pair + 1] << 32;
	/* A driver that needs new limits passes the first rate limit after boot from 7.2 on: left out. */
	e[5] = one_in(8) && !(e[1] >> 9 & 1) ? below(20000000) : between(1000000000, 1000000000000);
}

static void limits(u64 *e)
{
	e[0] = 2;
	e[1] = delta();
	e[2] = one_in(2) ? 0 : below(4000000);
	e[3] = one_in(2) ? 10000000 : below(9000000);
}

static u64 level(u64 before)
{
	switch (below(8)) {
	case 0: return 0;
	case 1: return below(1040);
	case 2: return before + below(20) > 1040 ? 1040 : before + below(20);
	case 3: return before < 20 ? before : before - below(20);
	case 4: return before / 2;
	default: return before;
	}
}

static u64 signals[4][16];

static void schedutil(u64 *e, int at)
{
	u64 cpu = below(cpus), *s = signals[cpu];

	if (!at) {
		memset(signals, 0, sizeof(signals));
		for (int other = 0; other < 4; other++)
			signals[other][8] = 1024;
		return policy(e);
	}
	switch (below(40)) {
	case 0: return limits(e);
	case 1: e[0] = 3; e[2] = below(12000); return;
	case 2: if (one_in(3)) { e[0] = 4; return; }
	}
	e[0] = 1 | cpu << 8 | (u64)one_in(6) << 16 | (u64)one_in(3) << 17;
	e[1] = one_in(3) ? below(5000000) : delta();
	for (int signal = 0; signal < 4; signal++)
		s[signal] = level(s[signal]);
	if (one_in(4)) {
		s[4] = one_in(2) ? 0 : level(s[4]) / 2;
		s[5] = one_in(2) ? 0 : level(s[5]) / 2;
		s[6] = one_in(2) ? 0 : level(s[6]) / 2;
		s[7] = one_in(2) ? 0 : below(1025);
		s[8] = one_in(2) ? 1024 : below(1025);
		s[9] = one_in(4);
	}
	e[2] = s[0] | s[1] << 16 | s[2] << 32 | s[3] << 48;
	e[3] = s[4] | s[5] << 16 | s[6] << 32 | s[7] << 48;
	e[4] = s[8] | s[9] << 16;
}

static void dbs(u64 *e, int at, int conservative)
{
	if (!at)
		return policy(e);
	/* What is busy may change only before the first sample: our governors learn the times of a
	 * change at the next sample. */
	switch (at < 5 ? 1 : below(40)) {
	case 0: return limits(e);
	case 1:
		e[0] = 3;
		e[2] = below(at < 5 ? 6 : conservative ? 5 : 4);
		if (at >= 5 && e[2] >= 3)
			e[2]++, e[2] += !conservative;
		switch (e[2]) {
		case 0: e[3] = between(8000, one_in(2) ? 20000 : 200000); break;
		case 1: e[3] = conservative ? between(50, 100) : between(1, 100); break;
		case 2: e[3] = between(1, conservative ? 10 : 20); break;
		case 3: e[3] = below(2); break;
		case 4: e[3] = conservative ? below(30) : below(2); break;
		case 5: e[3] = conservative ? between(1, 49) : one_in(2) ? 0 : below(1001);
		}
		return;
	}
	e[0] = 1;
	e[1] = one_in(8) ? delta() : below(9000000);
	for (u64 cpu = 0; cpu < cpus; cpu++) {
		u64 busy = one_in(3) ? 1024 : one_in(2) ? 0 : below(1025), rest = 1024 - busy;
		u64 nice = one_in(4) ? below(rest + 1) : 0, iowait = one_in(4) ? below(rest - nice + 1) : 0;

		e[2 + cpu] = busy | nice << 16 | iowait << 32;
	}
}

static u64 tick, residencies[4];

/* A time about as long as a state's residency, or any. */
static u64 length(void)
{
	u64 near = residencies[below(4)];

	switch (below(8)) {
	case 0: return below(20000);
	case 1: return below(1000000);
	case 2: return below(100000000);
	case 3: return near;
	case 4: return near + below(near + 1);
	case 5: return below(near + 1);
	case 6: return tick + below(20) * 1000;
	default: return one_in(4) ? 0 : below(2 * tick);
	}
}

static void idle(u64 *e, int at)
{
	static u64 habit[3], states, stopped;

	if (!at) {
		u64 latency = one_in(3) ? 0 : below(3000), residency = one_in(2) ? 0 : below(5000);

		states = between(2, 4);
		tick = one_in(3) ? 10000000 : one_in(2) ? 4000000 : 1000000;
		e[1] = states | (u64)one_in(2) << 8 | tick << 32;
		for (u64 state = 0; state < states; state++) {
			e[2 + state] = latency | residency << 32;
			residencies[state] = residency;
			latency += below(one_in(2) ? 20000 : 400000);
			residency += below(one_in(2) ? 20000 : 6000000);
		}
		stopped = 0;
		return;
	}
	/* For a while sleeps are alike. */
	if (one_in(12) || at == 1) {
		habit[0] = length();
		habit[1] = one_in(2) ? habit[0] : length() * 4;
		habit[2] = below(4);
	}
	stopped = one_in(6) ? !stopped : stopped;
	e[0] = 1;
	e[1] = one_in(3) ? length() * 4 : habit[1];
	if (one_in(16))
		e[1] = one_in(2) ? INT64_MAX : next() >> between(1, 40);
	e[2] = stopped ? e[1] : below(tick);
	e[2] = e[2] < e[1] ? e[2] : e[1];
	e[3] = one_in(8) ? (one_in(3) ? below(8000) : length()) : INT64_MAX;
	e[4] = (one_in(8) ? below(16) : 0) | (one_in(8) ? below(3) : 0) << 8 | stopped << 16 |
	       (u64)(habit[2] ? one_in(6) : one_in(2)) << 17 | (u64)one_in(5) << 18 | (u64)one_in(12) << 19;
	e[5] = one_in(4) ? length() : habit[0] + below(habit[0] / (one_in(3) ? 2 : 64) + 1);
}

int main(int argc, char **argv)
{
	if (argc < 5)
		return 2;
	u64 seed = strtoull(argv[2], NULL, 0), first = strtoull(argv[3], NULL, 0);
	u64 episodes = strtoull(argv[4], NULL, 0);
	static u64 events[LENGTH][WORDS];

	for (u64 episode = first; episode < first + episodes; episode++) {
		state = seed ^ episode * 0xd1342543de82ef95;
		next();
		memset(events, 0, sizeof(events));
		for (int at = 0; at < LENGTH; at++) {
			u64 *e = events[at];
			if (!strcmp(argv[1], "pelt"))
				pelt(e, at);
			else if (!strcmp(argv[1], "schedutil"))
				schedutil(e, at);
			else if (!strcmp(argv[1], "menu") || !strcmp(argv[1], "teo") || !strcmp(argv[1], "haltpoll"))
				idle(e, at);
			else
				dbs(e, at, !strcmp(argv[1], "conservative"));
			if (argc > 5)
				for (int word = 0; word < WORDS; word++)
					printf("%lu%c", e[word], word + 1 < WORDS ? ' ' : '\n');
		}
		if (argc <= 5 && fwrite(events, sizeof(events), 1, stdout) != 1)
			return 1;
	}
	return 0;
}
