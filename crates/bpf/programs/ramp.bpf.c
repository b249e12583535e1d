// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The response-time ramp for tagged threads, by frequency alone: while one of them runs, its CPU is asked for what
 * its ramp says beyond what load tracking already sees. Nobody is scheduled by it: the class is there, without a
 * task in it, so that schedutil adds what is asked for to the fair class's utilisation. */
#include "kernel.h"

/* A thread that is treated, by its number. */
struct tagged {
	u32 ramp;	/* row of `ramps` */
	u32 pad;
	u64 start;	/* as /proc has it, in hundredths of a second: numbers are given away again */
	u64 before;	/* ns that it has been running without a sleep, before it got the CPU that it has */
};

/* Demand after 0, 1, 2 ... ms of running; the last entry is for all later ones. */
#define STEPS 256
struct ramp {
	u16 demand[STEPS];
};

struct cpu {
	struct bpf_timer timer;
	u64 since;	/* when the thread got it */
	u32 tid;	/* the tagged thread that runs; 0: none */
	u32 target;	/* what was asked for */
	u32 state;	/* of the timer */
	u32 pad;
	u64 asked;	/* how often, since the start */
};
enum { NEW = 0, QUIET = 1, ARMED = 2 };

MAP(threads, HASH, 16384, struct tagged);
MAP(ramps, ARRAY, 65, struct ramp);
MAP(cpus, ARRAY, MOST_CPUS, struct cpu);

/* A run shorter than this gets nothing, as in the controller outside of the kernel. */
#define SHORTEST 3000000ull
/* The series' own step. */
#define STEP 1000000ull
/* What can grow no further is said again at this pace: the first may have been lost. */
#define FULL_STEP 4000000ull

static u32 demand(struct tagged *thread, u64 running)
{
	struct ramp *ramp = map_lookup(&ramps, &thread->ramp);
	u64 ms = running / 1000000;

	if (!ramp || running < SHORTEST)
		return 0;
	if (ms > STEPS - 1)
		ms = STEPS - 1;
	return ramp->demand[ms];
}

/* On the CPU itself, outside of the scheduler. */
static int look(void *map, u32 *key, struct cpu *cpu)
{
	u32 tid = cpu->tid;
	struct tagged *thread = tid ? map_lookup(&threads, &tid) : 0;
	struct task_struct *task;
	u32 wanted, seen;
	u64 now;

	cpu->state = QUIET;
	if (!thread) {
		if (cpu->target) {
			cpu->target = 0;
			cpu->asked++;
			scx_bpf_cpuperf_set(*key, 0);
		}
		return 0;
	}
	now = ktime_get_ns();
	wanted = demand(thread, thread->before + (now - cpu->since));
	task = get_current_task();
	seen = task->se.avg.util_avg;
	/* The upper bit is a flag. */
	if ((task->se.avg.util_est & 0x7fffffff) > seen)
		seen = task->se.avg.util_est & 0x7fffffff;
	cpu->state = ARMED;
	if (wanted >= 1024) {
		timer_start(&cpu->timer, FULL_STEP, ON_THIS_CPU);
	} else {
		timer_start(&cpu->timer, STEP, ON_THIS_CPU);
	}
	wanted = wanted > seen ? wanted - seen : 0;
	if (wanted || cpu->target) {
		cpu->target = wanted;
		cpu->asked++;
		scx_bpf_cpuperf_set(*key, wanted);
	}
	return 0;
}

SEC("tp_btf/sched_switch")
int switched(u64 *arguments)
{
	bool preempted = arguments[0];
	struct task_struct *before = (struct task_struct *)arguments[1];
	struct task_struct *after = (struct task_struct *)arguments[2];
	u64 state = arguments[3] & 0xffffffff;
	u32 old = before->pid, new = after->pid, number = get_smp_processor_id();
	struct cpu *cpu = map_lookup(&cpus, &number);
	struct tagged *thread;
	u64 now;

	if (!cpu)
		return 0;
	thread = map_lookup(&threads, &new);
	if (thread && after->start_boottime / 10000000 != thread->start)
		thread = 0;
	if (!thread && !cpu->tid)
		return 0;
	now = ktime_get_ns();
	if (cpu->tid && cpu->tid == old) {
		struct tagged *left = map_lookup(&threads, &old);

		if (left)
			left->before = preempted || !state ? left->before + (now - cpu->since) : 0;
	}
	cpu->tid = thread ? new : 0;
	cpu->since = now;
	if (cpu->state == ARMED || (!thread && !cpu->target))
		return 0;
	if (cpu->state == NEW) {
		if (timer_init(&cpu->timer, &cpus, CLOCK_MONOTONIC))
			return 0;
		timer_set_callback(&cpu->timer, look);
	}
	cpu->state = ARMED;
	/* At once where it goes on from before, or where what was asked for is to go. */
	if (!thread || thread->before >= SHORTEST)
		timer_start(&cpu->timer, 1, ON_THIS_CPU);
	else
		timer_start(&cpu->timer, SHORTEST - thread->before, ON_THIS_CPU);
	return 0;
}

#include "partial.h"
