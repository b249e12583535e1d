/* kernel/sched/pelt.c, pelt.h: one run queue with a task. See events.c for the events. */
#include "sched.h"
#define _KERNEL_SCHED_SCHED_H
#include KERNEL_FILE(kernel/sched/pelt.h)
#include KERNEL_FILE(kernel/sched/pelt.c)
#include EXTRACTED
#include "replay.h"

static struct task_struct task, idle = { .idle = true };

static struct sched_avg *avg_of(struct rq *rq, int target)
{
	switch (target) {
	case 0: case 1: case 8: return &task.se.avg;
	case 2: return &rq->cfs.avg;
	case 3: return &rq->avg_rt;
	case 4: return &rq->avg_dl;
	case 5: return &rq->avg_irq;
#if KERNEL < 610
	default: return &rq->avg_thermal;
#else
	default: return &rq->avg_hw;
#endif
	}
}

static u32 *word_of_util_est(struct sched_avg *avg)
{
#if KERNEL < 608
	return &avg->util_est.enqueued;
#else
	return &avg->util_est;
#endif
}

static int update(struct rq *rq, int target, u64 a, u64 b)
{
	u64 now = rq_clock_pelt(rq);

	switch (target) {
	case 0:
		task.se.on_rq = a != 0;
		rq->cfs.curr = rq->cfs.h_curr = a == 2 ? &task.se : NULL;
		return __update_load_avg_se(now, &rq->cfs, &task.se);
	case 1:
		return __update_load_avg_blocked_se(now, &task.se);
	case 2:
		rq->cfs.load.weight = a;
		rq->cfs.h_nr_running = rq->cfs.h_nr_queued = rq->cfs.h_nr_runnable = b & 0xffff;
		rq->cfs.curr = rq->cfs.h_curr = b >> 16 & 1 ? &task.se : NULL;
		return __update_load_avg_cfs_rq(now, &rq->cfs);
	case 3:
		return update_rt_rq_load_avg(now, rq, a & 1);
	case 4:
		return update_dl_rq_load_avg(now, rq, a & 1);
	case 5:
		return update_irq_load_avg(rq, a);
	case 6:
#if KERNEL < 610
		return update_thermal_load_avg(rq_clock_task(rq), rq, a);
#else
		return update_hw_load_avg(rq_clock_task(rq), rq, a);
#endif
	case 8:
#if KERNEL < 608
		/* Two values: ours has one. */
#elif KERNEL < 700
		util_est_update(&rq->cfs, &task, true);
#else
		util_est_update(&task.se);
#endif
		return 0;
	}
	return 0;
}

static void play(const u64 *event)
{
	struct rq *rq = cpu_rq(0);
	int target = event[0] >> 8 & 0xff;
	struct sched_avg *avg = avg_of(rq, target);
	int crossed = 0;

	switch (event[0] & 0xff) {
	case 0:
		memset(rq, 0, sizeof(*rq));
		memset(&task, 0, sizeof(task));
		rq->clock = rq->clock_task = rq->clock_pelt = event[1];
		cpu_capacity = event[2];
		task.se.load.weight = event[3];
		return put(0);
	case 1:
		cpu_frequency_scale = event[2] & 0xffff;
		rq->curr = rq->donor = event[2] >> 16 & 1 ? &idle : &task;
		rq->clock += event[1];
		rq->clock_task += event[1];
		update_rq_clock_pelt(rq, event[1]);
		if (event[2] >> 17 & 1)
			update_idle_rq_clock_pelt(rq);
		crossed = update(rq, target, event[3], event[4]);
		break;
	case 2:
		avg->last_update_time = rq_clock_pelt(rq) - event[1];
		avg->load_sum = event[2];
		avg->runnable_sum = event[3];
		avg->util_sum = event[4];
		avg->period_contrib = event[4] >> 32;
		avg->load_avg = event[5] >> 40;
		avg->runnable_avg = event[5] >> 20 & 0xfffff;
		avg->util_avg = event[5] & 0xfffff;
		break;
	case 3: /* util_est, flag included */
		if (KERNEL >= 608)
			*word_of_util_est(avg) = event[1];
		break;
	}
	put(!!crossed);
	put(avg->last_update_time);
	put(avg->load_sum);
	put(avg->runnable_sum);
	put(avg->util_sum);
	put(avg->period_contrib);
	put(avg->load_avg);
	put(avg->runnable_avg);
	put(avg->util_avg);
	put(*word_of_util_est(&task.se.avg));
	put(rq->clock_pelt);
	put(rq->lost_idle_time);
}
