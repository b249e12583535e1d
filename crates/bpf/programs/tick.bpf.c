// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The rule of "Improved Power Management for FreeBSD" (B. J. Thomson, 2010, section 3), in the kernel: a statistics
 * clock ticks on every CPU; more than n busy ticks in a row raise a domain to its highest operating point, more than
 * m idle ones lower it by one. All tasks are in the class meanwhile, by its own defaults, so that what is asked for
 * is what a CPU gets. */
#include "kernel.h"

#define MOST_LEVELS 64
#define MOST_MEMBERS 64

struct domain {
	struct bpf_spin_lock lock;
	u32 busy;	/* busy ticks in a row */
	u32 idle;
	u32 level;	/* the present operating point, from the lowest */
	u32 highest;
	u32 n;
	u32 m;
	u32 count;	/* CPUs */
	u64 ticks;
	u64 period;	/* ns */
	u16 members[MOST_MEMBERS];
	u16 perf[MOST_LEVELS];	/* what to ask for, per operating point */
};

struct cpu {
	struct bpf_timer timer;
	u32 domain;
	u32 stop;
};

/* A tick, and what it led to. */
struct tick {
	u64 at;
	u64 number;	/* in its domain, from 1 */
	u16 cpu;
	u8 busy;
	u8 level;
	u32 domain;
};

#define MOST_TICKS 32768

MAP(domains, ARRAY, MOST_CPUS, struct domain);
MAP(cpus, ARRAY, MOST_CPUS, struct cpu);

/* A ring: entry `number - 1` modulo its length, for the first domain that is listed. */
MAP(ticks, ARRAY, MOST_TICKS, struct tick);

static int ticked(void *map, u32 *key, struct cpu *cpu)
{
	u32 number = cpu->domain, level, slot;
	struct domain *domain = map_lookup(&domains, &number);
	struct task_struct *task = get_current_task();
	bool busy = task->pid != 0;
	struct tick *tick;
	u64 count;

	if (!domain || cpu->stop)
		return 0;
	timer_start(&cpu->timer, domain->period, ON_THIS_CPU);
	spin_lock(&domain->lock);
	if (busy) {
		domain->idle = 0;
		domain->busy++;
		if (domain->busy > domain->n) {
			domain->busy = 0;
			domain->level = domain->highest;
		}
	} else {
		domain->busy = 0;
		domain->idle++;
		if (domain->idle > domain->m) {
			domain->idle = 0;
			if (domain->level)
				domain->level--;
		}
	}
	level = domain->level;
	count = ++domain->ticks;
	spin_unlock(&domain->lock);
	slot = (count - 1) % MOST_TICKS;
	tick = number ? 0 : map_lookup(&ticks, &slot);
	if (tick) {
		tick->at = ktime_get_ns();
		tick->cpu = *key;
		tick->busy = busy;
		tick->level = level;
		tick->domain = number;
		tick->number = count;
	}
	if (level >= MOST_LEVELS)
		return 0;
	/* Each time: one that was asked for once may have been lost. */
	for (u32 at = 0; at < MOST_MEMBERS; at++) {
		if (at >= domain->count)
			break;
		scx_bpf_cpuperf_set(domain->members[at], domain->perf[level]);
	}
	return 0;
}

/* Starts the clock of the CPU that runs it. */
SEC("syscall")
int start(void *context)
{
	u32 number = get_smp_processor_id();
	struct cpu *cpu = map_lookup(&cpus, &number);

	if (!cpu)
		return 1;
	if (timer_init(&cpu->timer, &cpus, CLOCK_MONOTONIC))
		return 2;
	if (timer_set_callback(&cpu->timer, ticked))
		return 3;
	return timer_start(&cpu->timer, 1, ON_THIS_CPU) ? 4 : 0;
}
