/* Reads events on standard input and writes what the kernel's code makes of each. In binary an
 * event is WORDS words of 64 bits and its result one: a checksum over all values. With -t both are
 * text, a line each, the values one by one. crates/governors/examples/kernel_replay.rs does the same
 * with our code. */
#pragma once
#define WORDS 6

static u64 values[32];
static int count;

static void put(u64 value) { values[count++] = value; }

static void play(const u64 *event);

int main(int argc, char **argv)
{
	static u64 events[4096][WORDS], sums[4096];
	bool text = argc > 1 && !strcmp(argv[1], "-t");
	size_t got;

	while (text) {
		for (int at = 0; at < WORDS; at++)
			if (scanf("%lu", &events[0][at]) != 1)
				return 0;
		count = 0;
		play(events[0]);
		for (int at = 0; at < count; at++)
			printf("%lu%c", values[at], at + 1 < count ? ' ' : '\n');
	}
	while ((got = fread(events, sizeof(events[0]), 4096, stdin))) {
		for (size_t at = 0; at < got; at++) {
			u64 sum = 0;
			count = 0;
			play(events[at]);
			for (int value = 0; value < count; value++)
				sum = (sum ^ values[value]) * 0x9e3779b97f4a7c15, sum ^= sum >> 29;
			sums[at] = sum;
		}
		if (fwrite(sums, sizeof(sums[0]), got, stdout) != got)
			return 1;
	}
	return 0;
}
