/* The board's clock: what QEMU takes for CLOCK_MONOTONIC, from which all clocks and timers of the guest
 * are made. It stands still while somebody who has work to do at that time has not done it.
 *
 * Times are in nanoseconds. A CPU is `cpu`, its number; all functions may be called by any thread. */
#ifndef FLYBALL_CLOCK_H
#define FLYBALL_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define MAX_CPUS 64

/* No time. */
#define CLOCK_NEVER INT64_MAX

/* What the clock says for others: its time, by how much of the host's it was behind `rate`, and how long it went on
 * though somebody had work to do. Whole where `begun` and `ended` are the same, for who reads from the front. */
struct clock_account {
    volatile uint64_t ended;
    volatile int64_t now, held, forced;
    volatile uint64_t begun;
};

/* From now on it can stand still, for the CPUs below `cpus`; `rate` is how many times as fast as the host's it may run.
 * False, and it is the host's, where this library was not loaded first (LD_PRELOAD), where an x86 guest's host is another
 * one, and where it does not let the TSC be refused. */
bool clock_start(unsigned cpus, double rate, bool is_x86, struct clock_account *account);

/* Whether it can stand still. */
bool clock_holds(void);

int64_t clock_now(void);

/* Sleeps until the clock says `due`. */
void clock_sleep(int64_t due);

/* The calling thread executes this CPU. */
void clock_cpu_starts(unsigned cpu);

/* The CPU has nothing to do, and its thread is about to wait. */
void clock_cpu_idles(unsigned cpu);

/* It executes again; returns when it was woken up. */
int64_t clock_cpu_resumes(unsigned cpu);

/* To be defined by who paces the CPUs: the time up to which a CPU that executes has come; CLOCK_NEVER where
 * its speed does not matter. */
int64_t cpu_reached(unsigned cpu);

/* To be defined as well: whether any CPU's speed matters. */
bool cpus_are_paced(void);

#endif
