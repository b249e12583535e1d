/* A cpufreq policy and its driver: the lowest operating point at or above a target, at once. */
#pragma once
#include "sched.h"

#define CONFIG_CPU_FREQ 1
#include <linux/sched/cpufreq.h> /* the kernel's own, of arithmetic */

enum { CPUFREQ_RELATION_L, CPUFREQ_RELATION_H, CPUFREQ_RELATION_C, CPUFREQ_RELATION_E = 4 };
#define CPUFREQ_RELATION_LE (CPUFREQ_RELATION_L | CPUFREQ_RELATION_E)
#define CPUFREQ_RELATION_HE (CPUFREQ_RELATION_H | CPUFREQ_RELATION_E)
#define CPUFREQ_RELATION_CE (CPUFREQ_RELATION_C | CPUFREQ_RELATION_E)
#define CPUFREQ_NEED_UPDATE_LIMITS 1
#define CPUFREQ_GOV_DYNAMIC_SWITCHING 1

struct cpufreq_policy;
struct cpufreq_governor {
	const char *name;
	void *owner;
	int flags;
	int (*init)(struct cpufreq_policy *);
	void (*exit)(struct cpufreq_policy *);
	int (*start)(struct cpufreq_policy *);
	void (*stop)(struct cpufreq_policy *);
	void (*limits)(struct cpufreq_policy *);
};
#define cpufreq_governor_exit(gov) extern int governor_exit
#define cpufreq_governor_init(gov) static struct cpufreq_governor *governor(void) { return &(gov); }
struct cpufreq_frequency_table { unsigned int flags, frequency; };
struct cpufreq_policy {
	struct cpumask cpus[1], related_cpus[1];
	unsigned int cpu, min, max, cur;
	struct { unsigned int min_freq, max_freq; } cpuinfo;
	bool fast_switch_enabled, dvfs_possible_from_any_cpu;
	struct cpufreq_governor *governor;
	void *governor_data;
	struct cpufreq_frequency_table *freq_table, points[8];
	int number;
};

static bool need_update_limits;
static struct update_util_data *hook_data[NR_CPUS];
static void (*hooks[NR_CPUS])(struct update_util_data *, u64, unsigned int);

void cpufreq_add_update_util_hook(int cpu, struct update_util_data *data,
				  void (*func)(struct update_util_data *, u64, unsigned int))
{
	hook_data[cpu] = data;
	hooks[cpu] = func;
}
void cpufreq_remove_update_util_hook(int cpu) { hooks[cpu] = NULL; }
#define cpufreq_this_cpu_can_update(policy) ((void)(policy), true)
#define cpufreq_driver_test_flags(flags) ((void)(flags), need_update_limits)
#define policy_is_shared(policy) (cpumask_weight((policy)->cpus) > 1)
#define have_governor_per_policy() true
#define get_governor_parent_kobj(policy) NULL
#define cpufreq_policy_transition_delay_us(policy) 1000
#define cpufreq_enable_fast_switch(policy) ((policy)->fast_switch_enabled = true)
#define cpufreq_disable_fast_switch(policy) ((policy)->fast_switch_enabled = false)
#define cpufreq_driver_has_adjust_perf() false
#define cpufreq_driver_adjust_perf(...) do { } while (0)

/* Tunables. */
struct gov_attr_set {
	struct kobject kobj;
	struct list_head policy_list;
	struct mutex update_lock;
	int usage_count;
};
static inline struct gov_attr_set *to_gov_attr_set(struct kobject *kobj)
{
	return container_of(kobj, struct gov_attr_set, kobj);
}
struct governor_attr {
	struct attribute attr;
	ssize_t (*show)(struct gov_attr_set *, char *);
	ssize_t (*store)(struct gov_attr_set *, const char *, size_t);
};
#define __ATTR_RW(name) { { #name }, name##_show, name##_store }
#define __ATTR_RO(name) { { #name }, name##_show, NULL }
static const struct sysfs_ops governor_sysfs_ops;
static inline void gov_attr_set_init(struct gov_attr_set *set, struct list_head *node)
{
	set->policy_list.next = set->policy_list.prev = node;
	node->next = node->prev = &set->policy_list;
}
#define gov_attr_set_get(set, node) ((void)(set), (void)(node))
#define gov_attr_set_put(set, node) ((void)(set), (void)(node), 0u)

/* Operating points. */
static unsigned int requests, requested;

static int index_below(struct cpufreq_policy *policy, unsigned int target)
{
	int at = policy->number - 1;

	while (at > 0 && policy->points[at].frequency > target)
		at--;
	return at;
}
static int index_above(struct cpufreq_policy *policy, unsigned int target)
{
	int at = 0;

	while (at < policy->number - 1 && policy->points[at].frequency < target)
		at++;
	return at;
}
static int cpufreq_table_find_index_h(struct cpufreq_policy *policy, unsigned int target, bool efficient)
{
	(void)efficient;
	return index_below(policy, target);
}
static int cpufreq_table_find_index_l(struct cpufreq_policy *policy, unsigned int target, bool efficient)
{
	(void)efficient;
	return index_above(policy, target);
}
static int find_point(struct cpufreq_policy *policy, unsigned int target, unsigned int low,
		      unsigned int high, unsigned int relation)
{
	unsigned int below, above;

	target = clamp(target, low, high);
	below = index_below(policy, target);
	above = index_above(policy, target);
	switch (relation & 3) {
	case CPUFREQ_RELATION_L: return above;
	case CPUFREQ_RELATION_H: return below;
	}
	if (policy->points[below].frequency >= target || policy->points[above].frequency < target)
		return policy->points[below].frequency >= target ? below : above;
	return policy->points[above].frequency - target < target - policy->points[below].frequency ? above : below;
}
#define cpufreq_frequency_table_target find_point
static inline unsigned int cpufreq_driver_resolve_freq(struct cpufreq_policy *policy, unsigned int target)
{
	int at = find_point(policy, target, policy->min, policy->max, CPUFREQ_RELATION_LE);

	return policy->points[at].frequency;
}
static inline unsigned int cpufreq_driver_fast_switch(struct cpufreq_policy *policy, unsigned int target)
{
	requests++;
	requested = target;
	return policy->cur = cpufreq_driver_resolve_freq(policy, target);
}
static inline int __cpufreq_driver_target(struct cpufreq_policy *policy, unsigned int target,
					  unsigned int relation)
{
	unsigned int point = policy->points[find_point(policy, target, policy->min, policy->max, relation)].frequency;

	if (point == policy->cur && !need_update_limits)
		return 0;
	requests++;
	requested = point;
	policy->cur = point;
	return 0;
}
static inline void cpufreq_policy_apply_limits(struct cpufreq_policy *policy)
{
	if (policy->max < policy->cur)
		__cpufreq_driver_target(policy, policy->max, CPUFREQ_RELATION_HE);
	else if (policy->min > policy->cur)
		__cpufreq_driver_target(policy, policy->min, CPUFREQ_RELATION_LE);
}

/* The policy of an event 0, and limits as cpufreq verifies them. */
static void make_policy(struct cpufreq_policy *policy, const u64 *event)
{
	memset(policy, 0, sizeof(*policy));
	policy->cpus->bits = policy->related_cpus->bits = (1u << (event[1] & 0xff)) - 1;
	cpu_capacity = event[1] >> 16 & 0xffff;
	for (int at = 0; at < 6; at++) {
		unsigned int khz = event[2 + at / 2] >> (at % 2 ? 32 : 0);

		if (khz)
			policy->points[policy->number++].frequency = khz;
	}
	policy->freq_table = policy->points;
	policy->min = policy->cpuinfo.min_freq = policy->cur = policy->points[0].frequency;
	policy->max = policy->cpuinfo.max_freq = policy->points[policy->number - 1].frequency;
}
static void new_limits(struct cpufreq_policy *policy, const u64 *event)
{
	unsigned int low = policy->cpuinfo.min_freq, high = policy->cpuinfo.max_freq;

	policy->max = clamp((unsigned int)event[3], low, high);
	policy->min = min(clamp((unsigned int)event[2], low, high), policy->max);
}
