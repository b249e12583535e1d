/* Run queues, as far as load tracking and schedutil look at them. */
#pragma once
#include "stubs.h"

#define CONFIG_SMP 1
#define CONFIG_NO_HZ_COMMON 1
#define CONFIG_HAVE_SCHED_AVG_IRQ 1
#define CONFIG_SCHED_HW_PRESSURE 1
#define CONFIG_SCHED_THERMAL_PRESSURE 1
#define UTIL_AVG_UNCHANGED 0x80000000u
#define UTIL_EST_WEIGHT_SHIFT 2
#define UTIL_EST_MARGIN (SCHED_CAPACITY_SCALE / 100)
#define sched_feat(x) 1

struct util_est { unsigned int enqueued, ewma; };
struct sched_avg {
	u64 last_update_time, load_sum, runnable_sum;
	u32 util_sum, period_contrib;
	unsigned long load_avg, runnable_avg, util_avg;
#if KERNEL < 608
	struct util_est util_est;
#else
	unsigned int util_est;
#endif
};
struct load_weight { unsigned long weight; };
struct sched_entity {
	struct load_weight load;
	unsigned int on_rq;
	struct sched_avg avg;
};
struct task_struct {
	const struct sched_class *sched_class;
	bool idle;
	struct sched_entity se;
};
struct cfs_rq {
	struct load_weight load;
	unsigned int h_nr_running, h_nr_queued, h_nr_delayed, h_nr_runnable;
	struct sched_entity *curr, *h_curr;
	struct sched_avg avg;
};
struct rt_rq { int rt_queued; unsigned int rt_nr_running; };
struct dl_rq { u64 running_bw; };
enum uclamp_id { UCLAMP_MIN, UCLAMP_MAX, UCLAMP_CNT };
struct uclamp_rq { unsigned int value; };
struct rq {
	u64 clock, clock_task, clock_pelt, lost_idle_time, clock_idle, clock_pelt_idle;
	struct sched_avg avg_rt, avg_dl, avg_irq, avg_hw, avg_thermal;
	struct cfs_rq cfs;
	struct rt_rq rt;
	struct dl_rq dl;
	struct uclamp_rq uclamp[UCLAMP_CNT];
	struct task_struct *curr, *donor;
	int cpu;
};
static const struct sched_class rt_sched_class, dl_sched_class;
struct task_struct a_thread;
static struct rq runqueues[NR_CPUS];
static unsigned long cpu_capacity = 1024, cpu_frequency_scale = 1024;
static bool sched_uclamp_used, frequency_invariant;

#define cpu_rq(cpu) (&runqueues[cpu])
#define cpu_of(rq) ((rq)->cpu)
#define rq_of(queue) container_of(queue, struct rq, cfs)
#define rq_clock(rq) ((rq)->clock)
#define rq_clock_task(rq) ((rq)->clock_task)
#define lockdep_assert_rq_held(rq) ((void)(rq))
#define assert_clock_updated(rq) ((void)(rq))
#define u64_u32_store(var, val) ((var) = (val))
#define is_idle_task(p) ((p)->idle)
#define scale_load_down(w) (w)
#define se_weight(se) ((se)->load.weight)
#define se_runnable(se) (!!(se)->on_rq)
#define cap_scale(v, s) ((v) * (s) >> SCHED_CAPACITY_SHIFT)
#define arch_scale_cpu_capacity(cpu) ((void)(cpu), cpu_capacity)
#define capacity_orig_of(cpu) ((void)(cpu), cpu_capacity)
#define arch_scale_freq_capacity(cpu) ((void)(cpu), cpu_frequency_scale)
#define arch_scale_hw_pressure(cpu) ((void)(cpu), 0UL)
#define arch_scale_freq_invariant() frequency_invariant
#define arch_scale_freq_ref(cpu) 0
#define trace_pelt_se_tp(x) ((void)(x))
#define trace_pelt_cfs_tp(x) ((void)(x))
#define trace_pelt_rt_tp(x) ((void)(x))
#define trace_pelt_dl_tp(x) ((void)(x))
#define trace_pelt_hw_tp(x) ((void)(x))
#define trace_pelt_thermal_tp(x) ((void)(x))
#define trace_pelt_irq_tp(x) ((void)(x))
#define trace_sched_util_est_se_tp(x) ((void)(x))
#define within_margin(value, margin) ((unsigned int)((value) + (margin)-1) < (2 * (margin)-1))
#define task_util(p) ((p)->se.avg.util_avg)
#define task_runnable(p) ((p)->se.avg.runnable_avg)
