/* drivers/cpuidle/governors/menu.c, (TEO) teo.c or (HALTPOLL) haltpoll.c. See events.c for the events. */
#include "stubs.h"
#undef TICK_NSEC
#define TICK_NSEC tick

static s64 tick, now;
static struct { s64 timer, event, limit; u64 io_waiters; bool stopped, by_tick; } ask;

#define CPUIDLE_STATE_MAX 10
#define CPUIDLE_FLAG_POLLING BIT(0)
struct cpuidle_state { s64 exit_latency_ns, target_residency_ns; unsigned int flags; };
struct cpuidle_driver { int state_count; struct cpuidle_state states[CPUIDLE_STATE_MAX]; };
struct cpuidle_state_usage { u64 disable; };
struct cpuidle_device {
	unsigned int cpu;
	int last_state_idx;
	bool poll_time_limit;
	u64 last_residency_ns, poll_limit_ns;
	struct cpuidle_state_usage states_usage[CPUIDLE_STATE_MAX];
};
struct cpuidle_governor {
	const char *name;
	unsigned int rating;
	int (*enable)(struct cpuidle_driver *, struct cpuidle_device *);
	int (*select)(struct cpuidle_driver *, struct cpuidle_device *, bool *);
	void (*reflect)(struct cpuidle_device *, int);
};
#define S64_MAX INT64_MAX
#define postcore_initcall(f)
#define cpuidle_register_governor(g) 0
#define cpuidle_governor_latency_req(cpu) (ask.limit)
#define nr_iowait_cpu(cpu) (ask.io_waiters)
#define tick_nohz_tick_stopped() (ask.stopped)
#define tick_nohz_idle_got_tick() (ask.by_tick)
#define tick_nohz_get_sleep_length(delta) (*(delta) = ask.event, ask.timer)
#define local_clock() (now)

#if defined(TEO)
#include KERNEL_FILE(drivers/cpuidle/governors/teo.c)
#define CHOSEN teo_governor
#elif defined(HALTPOLL)
#define module_param(name, type, mode)
#define module_init(f)
#define kvm_para_available() false
#define kvm_para_has_hint(hint) false
#define trace_guest_halt_poll_ns_grow(new, old)
#define trace_guest_halt_poll_ns_shrink(new, old)
#include KERNEL_FILE(drivers/cpuidle/governors/haltpoll.c)
#define CHOSEN haltpoll_governor
#else
#include KERNEL_FILE(drivers/cpuidle/governors/menu.c)
#define CHOSEN menu_governor
#endif
#include "replay.h"

static struct cpuidle_driver driver;
static struct cpuidle_device device;

static void start(const u64 *event)
{
	memset(&driver, 0, sizeof(driver));
	memset(&device, 0, sizeof(device));
	now = 0;
	tick = event[1] >> 32;
	driver.state_count = event[1] & 0xff;
	for (int at = 0; at < driver.state_count; at++) {
		driver.states[at].exit_latency_ns = event[2 + at] & 0xffffffff;
		driver.states[at].target_residency_ns = event[2 + at] >> 32;
	}
	driver.states[0].flags = event[1] >> 8 & 1 ? CPUIDLE_FLAG_POLLING : 0;
	CHOSEN.enable(&driver, &device);
}

static void play(const u64 *event)
{
	bool stop_tick = true;
	int state;

	if (!(event[0] & 0xff))
		return start(event), put(0);
	ask.timer = event[1];
	ask.event = event[2];
	ask.limit = event[3];
	ask.io_waiters = event[4] >> 8 & 0xff;
	ask.stopped = event[4] >> 16 & 1;
	ask.by_tick = event[4] >> 17 & 1;
	for (int at = 0; at < driver.state_count; at++)
		device.states_usage[at].disable = event[4] >> at & 1;
	now += 1000;
	state = CHOSEN.select(&driver, &device, &stop_tick);
	put(state);
	put(stop_tick);
#if defined(TEO)
	put(teo_cpus[0].total);
	for (int at = 0; at < driver.state_count; at++) {
		put(teo_cpus[0].state_bins[at].intercepts);
		put(teo_cpus[0].state_bins[at].hits);
	}
#elif defined(HALTPOLL)
	put(device.poll_limit_ns);
#else
	struct menu_device *menu = &menu_devices[0];

	put(menu->bucket);
	put(menu->correction_factor[menu->bucket]);
	put(menu->next_timer_ns);
	put(menu->intervals[(menu->interval_ptr + INTERVALS - 1) % INTERVALS]);
#endif
	/* The sleep, in a shallower state where the driver so wishes. */
	if (event[4] >> 19 & 1 && state)
		state--;
	device.last_residency_ns = event[5];
	device.poll_time_limit = event[4] >> 18 & 1 && driver.states[state].flags;
	now += event[5];
	CHOSEN.reflect(&device, state);
}
