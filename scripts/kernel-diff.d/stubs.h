/* What the kernel's files need of the rest of the kernel, as little as compiles: declared by us from
 * how those files use it. There is one thread; work that is queued is done at once. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

typedef uint64_t u64;
typedef uint32_t u32;
typedef uint16_t u16;
typedef uint8_t u8;
typedef int64_t s64;
typedef int32_t s32;
typedef s64 ktime_t;
typedef u64 __u64;
typedef u32 __u32;

#define EINVAL 22
#define EBUSY 16
#define ENOMEM 12
#define NR_CPUS 4
#define TICK_NSEC 4000000L
#define HZ 250
#define NSEC_PER_USEC 1000L
#define NSEC_PER_MSEC 1000000L
#define NSEC_PER_SEC 1000000000L
#define USEC_PER_SEC 1000000L
#define U64_MAX UINT64_MAX
#define KTIME_MAX INT64_MAX
#define SCHED_CAPACITY_SHIFT 10
#define SCHED_CAPACITY_SCALE 1024L
#define BW_SHIFT 20

/* --- the language --- */
#define READ_ONCE(x) (x)
#define WRITE_ONCE(x, v) ((x) = (v))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define __always_inline inline __attribute__((always_inline))
#define __must_check
#define __maybe_unused __attribute__((unused))
#define __init
#define __exit
#define __read_mostly
#define container_of(p, type, member) ((type *)((char *)(p) - offsetof(type, member)))
#define min(a, b) ({ __auto_type _a = (a); __auto_type _b = (b); _a < _b ? _a : _b; })
#define max(a, b) ({ __auto_type _a = (a); __auto_type _b = (b); _a > _b ? _a : _b; })
#define min_t(t, a, b) ({ t _x = (a); t _y = (b); _x < _y ? _x : _y; })
#define max_t(t, a, b) ({ t _x = (a); t _y = (b); _x > _y ? _x : _y; })
#define clamp(v, lo, hi) min(max((v), (lo)), (hi))
#define div_u64(a, b) ((u64)(a) / (u32)(b))
#define div64_u64(a, b) ((u64)(a) / (u64)(b))
#define div_s64(a, b) ((s64)(a) / (s32)(b))
#define do_div(n, base) ({ u32 _r = (n) % (base); (n) /= (base); _r; })
#define mul_u64_u32_shr(a, b, s) ((u64)(((unsigned __int128)(a) * (u32)(b)) >> (s)))
#define DIV_ROUND_CLOSEST_ULL(x, d) (((u64)(x) + (d) / 2) / (d))
#define abs(x) ({ long _v = (x); _v < 0 ? -_v : _v; })
#define BIT(n) (1UL << (n))
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define IS_ENABLED(x) 0
#define IS_ERR(p) ((unsigned long)(p) >= (unsigned long)-4095)
#define PTR_ERR(p) ((long)(p))
#define BUG_ON(x) do { if (x) abort(); } while (0)
#define WARN_ON(x) (!!(x))
#define WARN_ON_ONCE(x) (!!(x))
#define pr_err(...) do { } while (0)
#define pr_warn(...) do { } while (0)
#define pr_debug(...) do { } while (0)
#define smp_mb() do { } while (0)
#define smp_rmb() do { } while (0)
#define smp_wmb() do { } while (0)
#define EXPORT_SYMBOL_GPL(x) extern int exported_##x
#define MODULE_AUTHOR(x) extern int module_author
#define MODULE_DESCRIPTION(x) extern int module_description
#define MODULE_LICENSE(x) extern int module_license
#define THIS_MODULE NULL
#define KBUILD_MODNAME "flyball"
#define GFP_KERNEL 0
#define kzalloc(size, flags) calloc(1, size)
#define kzalloc_obj(x, ...) calloc(1, sizeof(x))
#define kfree free
#define guard(kind) (void)
#define static_branch_likely(key) (*(key))
#define static_branch_unlikely(key) (*(key))

/* --- one thread --- */
typedef struct { int v; } atomic_t;
#define atomic_set(a, x) ((a)->v = (x))
#define atomic_read(a) ((a)->v)
static inline bool atomic_add_unless(atomic_t *a, int add, int unless)
{
	if (a->v == unless)
		return false;
	a->v += add;
	return true;
}
struct mutex { char none; };
typedef struct mutex raw_spinlock_t;
typedef struct mutex spinlock_t;
#define DEFINE_MUTEX(m) struct mutex m
#define mutex_init(m) ((void)(m))
#define mutex_destroy(m) ((void)(m))
#define mutex_lock(m) ((void)(m))
#define mutex_unlock(m) ((void)(m))
#define raw_spin_lock_init(l) ((void)(l))
#define raw_spin_lock(l) ((void)(l))
#define raw_spin_unlock(l) ((void)(l))
#define raw_spin_lock_irqsave(l, f) ((void)(l), (f) = 0)
#define raw_spin_unlock_irqrestore(l, f) ((void)(l), (void)(f))
#define synchronize_rcu() do { } while (0)

struct irq_work { void (*func)(struct irq_work *); };
#define init_irq_work(w, f) ((w)->func = (f))
#define irq_work_queue(w) ((w)->func(w))
#define irq_work_sync(w) ((void)(w))
struct work_struct { void (*func)(struct work_struct *); };
#define INIT_WORK(w, f) ((w)->func = (f))
#define DECLARE_WORK(name, f) struct work_struct name = { f }
#define schedule_work(w) ((w)->func(w))
#define schedule_work_on(cpu, w) ((w)->func(w))
#define cancel_work_sync(w) ((void)(w))
struct kthread_work { void (*func)(struct kthread_work *); };
struct kthread_worker { char none; };
#define kthread_init_work(w, f) ((w)->func = (f))
#define kthread_init_worker(w) ((void)(w))
#define kthread_queue_work(worker, w) ((w)->func(w))
#define kthread_cancel_work_sync(w) ((void)(w))
#define kthread_flush_worker(w) ((void)(w))
#define kthread_worker_fn NULL
#define kthread_create(...) (&a_thread)
#define kthread_stop(t) ((void)(t))
#define kthread_bind_mask(t, m) ((void)(t))
#define set_cpus_allowed_ptr(t, m) ((void)(t))
#define wake_up_process(t) ((void)(t))

/* --- CPUs --- */
struct cpumask { unsigned long bits; };
#define for_each_cpu(cpu, mask) \
	for ((cpu) = 0; (cpu) < NR_CPUS; (cpu)++) if ((mask)->bits >> (cpu) & 1)
#define cpumask_first(mask) __builtin_ctzl((mask)->bits)
#define cpumask_weight(mask) __builtin_popcountl((mask)->bits)
typedef struct cpumask cpumask_var_t[1];
#define alloc_cpumask_var(mask, flags) true
#define free_cpumask_var(mask) ((void)(mask))
#define cpumask_clear(mask) ((mask)->bits = 0)
#define cpumask_or(to, a, b) ((to)->bits = (a)->bits | (b)->bits)
#define cpumask_test_cpu(cpu, mask) ((mask)->bits >> (cpu) & 1)
#define for_each_online_cpu(cpu) for ((cpu) = 0; (cpu) < NR_CPUS; (cpu)++)
#define cpus_read_lock() do { } while (0)
#define cpus_read_unlock() do { } while (0)
#define smp_processor_id() 0
#define DEFINE_PER_CPU(type, name) type name[NR_CPUS]
#define per_cpu(name, cpu) (name[cpu])
#define per_cpu_ptr(p, cpu) (&(*(p))[cpu])
#define this_cpu_ptr(p) (&(*(p))[0])
#define get_cpu() 0
#define put_cpu() do { } while (0)

/* --- lists and sysfs, of which only tunables' plumbing is left --- */
struct list_head { struct list_head *next, *prev; };
#define list_for_each_entry(at, head, member) \
	for ((at) = container_of((head)->next, __typeof__(*(at)), member); \
	     &(at)->member != (head); \
	     (at) = container_of((at)->member.next, __typeof__(*(at)), member))
struct kobject { char none; };
struct attribute { const char *name; };
struct attribute_group { struct attribute **attrs; };
struct sysfs_ops { char none; };
struct kobj_type {
	const struct attribute_group *const *default_groups;
	const struct sysfs_ops *sysfs_ops;
	void (*release)(struct kobject *);
};
#define ATTRIBUTE_GROUPS(name) \
	static const struct attribute_group name##_group = { name##_attrs }; \
	static const struct attribute_group *name##_groups[] = { &name##_group, NULL }
#define kobject_init_and_add(k, type, parent, ...) ((void)(k), (void)(type), 0)
#define kobject_put(k) ((void)(k))
#define sysfs_emit sprintf
static inline int kstrtouint(const char *text, int base, unsigned int *value)
{
	*value = strtoul(text, NULL, base);
	return 0;
}

/* --- time and ticks --- */
#define ktime_to_ns(t) (t)
#define ktime_to_us(t) ((t) / 1000)
#define ns_to_ktime(t) ((ktime_t)(t))
#define ktime_sub(a, b) ((a) - (b))

/* --- what other parts leave to be answered --- */
struct sched_class { char none; };
struct task_struct;
extern struct task_struct a_thread;
