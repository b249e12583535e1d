/* kernel/sched/cpufreq_schedutil.c with what it calls of the scheduler: a policy that switches fast.
 * See events.c for the events. */
#include "cpufreq.h"
#define _KERNEL_SCHED_SCHED_H
struct sched_attr {
	u32 size, sched_policy, sched_nice, sched_priority;
	u64 sched_flags, sched_runtime, sched_deadline, sched_period;
};
#define SCHED_DEADLINE 6
#define SCHED_FLAG_SUGOV 0
#define sched_setattr_nocheck(task, attr) ((void)(task), (void)(attr), 0)
#define em_rebuild_sched_domains() do { } while (0)
#define scx_cpuperf_target(cpu) ((void)(cpu), 0)
#define scx_switched_all() false
#define task_cpu(p) 0
#define task_on_rq_queued(p) false
#define task_util_est(p) 0
#define _task_util_est(p) 0
static unsigned long calls_of_idle[NR_CPUS];
#define tick_nohz_get_idle_calls_cpu(cpu) calls_of_idle[cpu]
enum cpu_util_type { FREQUENCY_UTIL, ENERGY_UTIL };
#define uclamp_rq_is_idle(rq) false
#define uclamp_eff_value(p, id) 0
#define current (&a_thread)
#include EXTRACTED
#include KERNEL_FILE(kernel/sched/cpufreq_schedutil.c)
#include "replay.h"

static struct cpufreq_policy policy;
static u64 now;

static void stop(void)
{
	if (!policy.governor)
		return;
	struct sugov_tunables *tunables = ((struct sugov_policy *)policy.governor_data)->tunables;

	policy.governor->stop(&policy);
	policy.governor->exit(&policy);
	free(tunables);
}

static void play(const u64 *event)
{
	struct sugov_policy *sugov;
	struct rq *rq;
	char text[24];
	int cpu = event[0] >> 8 & 0xff;

	requests = requested = 0;
	switch (event[0] & 0xff) {
	case 0:
		stop();
		make_policy(&policy, event);
		memset(runqueues, 0, sizeof(runqueues));
		memset(calls_of_idle, 0, sizeof(calls_of_idle));
		for (int at = 0; at < NR_CPUS; at++) {
			runqueues[at].cpu = at;
			runqueues[at].uclamp[UCLAMP_MAX].value = 1024;
		}
		frequency_invariant = event[1] >> 8 & 1;
		need_update_limits = event[1] >> 9 & 1;
		sched_uclamp_used = event[1] >> 10 & 1;
		now = event[5];
		policy.governor = governor();
		policy.governor->init(&policy);
		sugov = policy.governor_data;
		sugov->tunables->rate_limit_us = event[1] >> 32;
		policy.governor->start(&policy);
		break;
	case 1:
		now += event[1];
		calls_of_idle[cpu] += event[0] >> 17 & 1;
		rq = cpu_rq(cpu);
		rq->cfs.avg.util_avg = event[2] & 0xffff;
		rq->cfs.avg.runnable_avg = event[2] >> 16 & 0xffff;
#if KERNEL < 608
		rq->cfs.avg.util_est.enqueued = event[2] >> 32 & 0xffff;
#else
		rq->cfs.avg.util_est = event[2] >> 32 & 0xffff;
#endif
		rq->avg_rt.util_avg = event[2] >> 48;
		rq->avg_dl.util_avg = event[3] & 0xffff;
		rq->dl.running_bw = (event[3] >> 16 & 0xffff) << (BW_SHIFT - SCHED_CAPACITY_SHIFT);
		rq->avg_irq.util_avg = event[3] >> 32 & 0xffff;
		/* Where clamps are not in use the queue's are as at boot. */
		rq->uclamp[UCLAMP_MIN].value = sched_uclamp_used ? event[3] >> 48 : 0;
		rq->uclamp[UCLAMP_MAX].value = sched_uclamp_used ? event[4] & 0xffff : 1024;
		rq->rt.rt_queued = rq->rt.rt_nr_running = event[4] >> 16 & 1;
		hooks[cpu](hook_data[cpu], now, event[0] >> 16 & 1 ? SCHED_CPUFREQ_IOWAIT : 0);
		break;
	case 2:
		now += event[1];
		new_limits(&policy, event);
		policy.governor->limits(&policy);
		break;
	case 3:
		sugov = policy.governor_data;
		sprintf(text, "%u", (unsigned int)event[2]);
		rate_limit_us_store(&sugov->tunables->attr_set, text, strlen(text));
		break;
	case 4:
		policy.governor->stop(&policy);
		policy.governor->start(&policy);
	}
	sugov = policy.governor_data;
	put(requested);
	put(sugov->next_freq);
	put(sugov->cached_raw_freq);
	put(sugov->last_freq_update_time);
}
