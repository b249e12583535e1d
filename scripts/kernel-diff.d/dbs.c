/* drivers/cpufreq/cpufreq_governor.c with cpufreq_ondemand.c or (CONSERVATIVE) cpufreq_conservative.c.
 * See events.c for the events. */
#include "cpufreq.h"

static struct { u64 busy, nice, idle, iowait; } times[NR_CPUS];
static u64 now;

#define CPUTIME_NICE 0
#define kcpustat_cpu(cpu) 0
#if KERNEL < 700
#define kcpustat_field(stat, field, cpu) (times[cpu].nice)
#else
#define kcpustat_field(field, cpu) (times[cpu].nice)
#endif
static u64 get_cpu_idle_time(unsigned int cpu, u64 *wall, int io_busy)
{
	*wall = now / 1000;
	return times[cpu].idle / 1000 + (io_busy ? 0 : times[cpu].iowait / 1000);
}
#define get_cpu_idle_time_us(cpu, wall) ((u64)0)
#define tick_nohz_is_active() true
#define cpufreq_cpu_get_raw(cpu) ((struct cpufreq_policy *)NULL)

#include KERNEL_FILE(drivers/cpufreq/cpufreq_governor.c)
#ifdef CONSERVATIVE
#define CPU_FREQ_GOV_CONSERVATIVE (cs_governor.gov)
#include KERNEL_FILE(drivers/cpufreq/cpufreq_conservative.c)
#else
#define CPU_FREQ_GOV_ONDEMAND (od_dbs_gov.gov)
#include KERNEL_FILE(drivers/cpufreq/cpufreq_ondemand.c)
#endif
#include "replay.h"

static struct cpufreq_policy policy;

static void stop(void)
{
	if (!policy.governor)
		return;
	struct policy_dbs_info *info = policy.governor_data;
	struct dbs_data *data = info->dbs_data;

	policy.governor->stop(&policy);
	policy.governor->exit(&policy);
	free(data->tuners);
	free(data);
}

static void tune(const u64 *event)
{
	struct policy_dbs_info *info = policy.governor_data;
	struct gov_attr_set *set = &info->dbs_data->attr_set;
	char text[24];
	size_t length = sprintf(text, "%u", (unsigned int)event[3]);

	switch (event[2]) {
	case 0: sampling_rate_store(set, text, length); break;
	case 1: up_threshold_store(set, text, length); break;
	case 2: sampling_down_factor_store(set, text, length); break;
	case 3: ignore_nice_load_store(set, text, length); break;
#ifdef CONSERVATIVE
	case 4: freq_step_store(set, text, length); break;
	case 5: down_threshold_store(set, text, length); break;
#else
	case 4: io_is_busy_store(set, text, length); break;
	case 5: powersave_bias_store(set, text, length); break;
#endif
	}
}

static void play(const u64 *event)
{
	struct policy_dbs_info *info;

	requests = requested = 0;
	switch (event[0] & 0xff) {
	case 0:
		stop();
		make_policy(&policy, event);
		memset(times, 0, sizeof(times));
		now = event[5];
		policy.governor = governor();
		policy.governor->init(&policy);
		policy.governor->start(&policy);
		break;
	case 1:
		now += event[1];
		for (int cpu = 0; cpu < 3; cpu++) {
			u64 busy = event[1] * (event[2 + cpu] & 0xffff) >> 10;
			u64 nice = event[1] * (event[2 + cpu] >> 16 & 0xffff) >> 10;
			u64 iowait = event[1] * (event[2 + cpu] >> 32 & 0xffff) >> 10;

			times[cpu].busy += busy;
			times[cpu].nice += nice;
			times[cpu].iowait += iowait;
			times[cpu].idle += event[1] - busy - nice - iowait;
		}
		hooks[0](hook_data[0], now, 0);
		break;
	case 2:
		now += event[1];
		for (int cpu = 0; cpu < 3; cpu++)
			times[cpu].idle += event[1];
		new_limits(&policy, event);
		policy.governor->limits(&policy);
		break;
	case 3:
		tune(event);
	}
	info = policy.governor_data;
	put(requested);
	put(policy.cur);
	put(info->last_sample_time);
	put(info->sample_delay_ns);
}
