/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What the programs here take from the kernel: fields by name, which the loader finds in the kernel's own types
 * (CO-RE), helpers by number (uapi/linux/bpf.h), functions by name. */

typedef signed int s32;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef u8 bool;

#define SEC(name) __attribute__((section(name), used))
#define KERNEL __attribute__((preserve_access_index))

struct sched_avg {
	unsigned long runnable_avg;
	unsigned long util_avg;
	u32 util_est;
} KERNEL;

struct sched_entity {
	struct sched_avg avg;
} KERNEL;

struct task_struct {
	s32 pid;
	u64 start_boottime;
	struct sched_entity se;
} KERNEL;

struct task_group {
	struct task_group *parent;
} KERNEL;

/* A CPU's queue. */
struct rq {
	s32 cpu;
	struct sched_avg avg_rt;
	struct sched_avg avg_dl;
} KERNEL;

/* Its fair part, or that of a group of threads. */
struct cfs_rq {
	struct sched_avg avg;
	struct rq *rq;
	struct task_group *tg;
} KERNEL;

/* Of the whole kernel interface: this is what programs may hold in maps. */
struct bpf_timer {
	u64 opaque[2];
};
struct bpf_spin_lock {
	u32 val;
};

/* Maps as libbpf declares them. */
#define NUMBER(name, value) int (*name)[value]
enum { HASH = 1, ARRAY = 2 };
/* All of ours have a number for a key. */
#define MAP(name, kind, entries, type_of_value) \
	struct { \
		NUMBER(type, kind); \
		NUMBER(max_entries, entries); \
		u32 *key; \
		type_of_value *value; \
	} name SEC(".maps")

static void *(*const map_lookup)(void *map, const void *key) = (void *)1;
static u64 (*const ktime_get_ns)(void) = (void *)5;
static u32 (*const get_smp_processor_id)(void) = (void *)8;
static void (*const spin_lock)(struct bpf_spin_lock *lock) = (void *)93;
static void (*const spin_unlock)(struct bpf_spin_lock *lock) = (void *)94;
static struct task_struct *(*const get_current_task)(void) = (void *)158;
static long (*const timer_init)(struct bpf_timer *timer, void *map, u64 flags) = (void *)169;
static long (*const timer_set_callback)(struct bpf_timer *timer, void *callback) = (void *)170;
static long (*const timer_start)(struct bpf_timer *timer, u64 ns, u64 flags) = (void *)171;
#define CLOCK_MONOTONIC 1
#define ON_THIS_CPU 2 /* BPF_F_TIMER_CPU_PIN */

/* The performance that a CPU is to have, of 1024 (sched_ext). */
extern void scx_bpf_cpuperf_set(s32 cpu, u32 perf) SEC(".ksyms");
extern u32 scx_bpf_nr_cpu_ids(void) SEC(".ksyms");

/* No CPU beyond this one is treated. */
#define MOST_CPUS 512

/* GPL, for the kernel's functions. */
char LICENSE[] SEC("license") = "Dual MIT/GPL";
