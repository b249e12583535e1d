// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Performance levels by two thresholds of the utilisation, as scx_bpfland and others set them. Nobody is scheduled by it: the
 * class is there, without a task in it, so that load tracking is the kernel's own and schedutil adds what is asked for
 * to it. A level is never below the utilisation, so that what is asked for is what lacks. */
#include "kernel.h"

#define MOST_MEMBERS 64

struct domain {
	struct bpf_spin_lock lock;
	u32 high;
	u32 low;
	u32 low_perf;
	u32 capacity;
	u32 count;	/* CPUs */
	u64 decisions;
	u16 members[MOST_MEMBERS];
};

struct cpu {
	struct bpf_timer timer;
	u32 domain;
	u32 util;	/* fair, real-time and deadline */
	u32 pending;	/* the domain that its timer is for */
	u32 state;	/* of the timer */
	u64 last;	/* when it decided */
};
enum { NEW = 0, QUIET = 1, ARMED = 2 };

/* A decision, and the utilisation that it was made from. */
struct decision {
	u64 at;
	u64 number;	/* in its domain, from 1 */
	u32 util;
	u32 level;
};

#define MOST_DECISIONS 32768
/* Updates that follow each other within this time are decided as one. */
#define APART 1000000ull

MAP(domains, ARRAY, MOST_CPUS, struct domain);
MAP(cpus, ARRAY, MOST_CPUS, struct cpu);

/* A ring: entry `number - 1` modulo its length, for the first domain that is listed. */
MAP(decisions, ARRAY, MOST_DECISIONS, struct decision);

/* Outside of the scheduler. */
static int decide(void *map, u32 *key, struct cpu *cpu)
{
	u32 number = cpu->pending, util = 0, level, slot;
	struct domain *domain = map_lookup(&domains, &number);
	struct decision *made;
	u64 count;

	cpu->state = QUIET;
	cpu->last = ktime_get_ns();
	if (!domain)
		return 0;
	for (u32 at = 0; at < MOST_MEMBERS; at++) {
		u32 member = domain->members[at];
		struct cpu *other;

		if (at >= domain->count)
			break;
		other = map_lookup(&cpus, &member);
		if (other && other->util > util)
			util = other->util;
	}
	if (util > domain->capacity)
		util = domain->capacity;
	level = util >= domain->high ? 1024 : util <= domain->low ? domain->low_perf : util;
	for (u32 at = 0; at < MOST_MEMBERS; at++) {
		u32 member = domain->members[at], own;
		struct cpu *other;

		if (at >= domain->count)
			break;
		other = map_lookup(&cpus, &member);
		own = other ? other->util : 0;
		scx_bpf_cpuperf_set(member, level > own ? level - own : 0);
	}
	spin_lock(&domain->lock);
	count = ++domain->decisions;
	spin_unlock(&domain->lock);
	slot = (count - 1) % MOST_DECISIONS;
	made = number ? 0 : map_lookup(&decisions, &slot);
	if (made) {
		made->at = cpu->last;
		made->util = util;
		made->level = level;
		made->number = count;
	}
	return 0;
}

/* Load tracking was brought up to date, under the lock of a CPU's queue: no place to ask for anything. */
SEC("tp_btf/pelt_cfs_tp")
int updated(u64 *arguments)
{
	struct cfs_rq *queue = (struct cfs_rq *)arguments[0];
	u32 here = get_smp_processor_id(), number;
	struct cpu *cpu, *own;
	struct rq *rq;
	u64 util, now;

	/* Of a group of threads. */
	if (queue->tg->parent)
		return 0;
	rq = queue->rq;
	number = rq->cpu;
	cpu = map_lookup(&cpus, &number);
	own = map_lookup(&cpus, &here);
	if (!cpu || !own || cpu->state == NEW)
		return 0;
	util = queue->avg.util_avg;
	if (queue->avg.runnable_avg > util)
		util = queue->avg.runnable_avg;
	if (queue->avg.util_est > util)
		util = queue->avg.util_est;
	util += rq->avg_rt.util_avg + rq->avg_dl.util_avg;
	cpu->util = util;
	if (own->state != QUIET)
		return 0;
	own->pending = cpu->domain;
	own->state = ARMED;
	now = ktime_get_ns();
	/* Where it cannot be had, with the next update. */
	if (timer_start(&own->timer, own->last + APART > now ? own->last + APART - now : 1, ON_THIS_CPU))
		own->state = QUIET;
	return 0;
}

/* Prepares the timer of the CPU that runs it. */
SEC("syscall")
int start(void *context)
{
	u32 number = get_smp_processor_id();
	struct cpu *cpu = map_lookup(&cpus, &number);

	if (!cpu)
		return 1;
	if (timer_init(&cpu->timer, &cpus, CLOCK_MONOTONIC))
		return 2;
	if (timer_set_callback(&cpu->timer, decide))
		return 3;
	cpu->pending = cpu->domain;
	cpu->state = ARMED;
	return timer_start(&cpu->timer, 1, ON_THIS_CPU) ? 4 : 0;
}

#include "partial.h"
