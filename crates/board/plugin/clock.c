/* The board's clock (clock.h). QEMU makes all time of a guest from CLOCK_MONOTONIC, and on x86 also from the
 * host's TSC. Both are replaced here: this library is loaded first, so that QEMU's calls come to it.
 *
 * Who can have work to do: a CPU that executes, one that was woken up and whose thread has not come yet, and QEMU's
 * main loop, whose timers are the guest's. A thread that waits for another one has none. Nor have those that read and
 * write files, and who answers from outside: these take the host's time, `rate` times. */
#define _GNU_SOURCE
#include "clock.h"
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* How far the clock may be ahead of who has work to do: of a CPU that executes, and of who only has to begin. */
#define AHEAD_OF_WORK_NS 5000
#define AHEAD_OF_BEGIN_NS 2000
#define LONGEST_STOP_NS 100000000       /* who does nothing for longer is taken to wait for the clock: it goes on */
#define NUDGE_NS 2000000                /* who was woken and has not come for so long is woken once more */
#define YIELD_NS 200000                 /* who waits for the clock gives others its CPU for so long, and only then sleeps */
#define CROWDED_NS 500000               /* a CPU that comes back later was given to somebody else's program, */
#define CROWDED_FOR_NS 100000000        /* and who sleeps comes sooner to his turn, for so long */
#define SHORTEST_LOOK_NS 20000          /* how often the clock is looked at while it stands still, at first */
#define LONGEST_STILL_LOOK_NS 200000    /* and then */
#define LONGEST_LOOK_NS 10000000

enum state { WAITS, WOKEN, WORKS };

/* Who can have work to do. */
struct worker {
    enum state state;
    int64_t since;                      /* WOKEN, and the main loop that WORKS: from when on */
    int64_t until;                      /* the main loop that WAITS: its next timer */
    bool idles;                         /* a CPU that waits as it has nothing to do: it is WOKEN until it resumes */
    pthread_cond_t *waits_for;
    struct pollfd *fds;                 /* what ends the main loop's waiting */
    nfds_t fd_count;
};

static struct worker cpus[MAX_CPUS], main_loop;
static unsigned cpu_count;
static struct clock_account own_account, *account = &own_account;
static double rate = 1;
static bool started, traps_tsc;
static int64_t now, host_then, tsc_at_start, now_at_start;
static int64_t most_then, stood;        /* the limit when it was last looked at, and how long nobody has changed it */
static bool nudged;
static int64_t crowded_until;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread struct worker *self;

static int (*next_clock_gettime)(clockid_t, struct timespec *);
static int (*next_ppoll)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
static ssize_t (*next_write)(int, const void *, size_t);
static int (*next_wait)(pthread_cond_t *, pthread_mutex_t *);
static int (*next_timedwait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
static int (*next_signal)(pthread_cond_t *), (*next_broadcast)(pthread_cond_t *);

/* Condition variables have an older version, too, which dlsym may find. */
static void *next(const char *name)
{
#if defined __GLIBC__ && defined __x86_64__
    void *found = strncmp(name, "pthread_cond", 12) ? NULL : dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
    if (found)
        return found;
#endif
    return dlsym(RTLD_NEXT, name);
}

__attribute__((constructor)) static void find_next(void)
{
    next_clock_gettime = next("clock_gettime");
    next_ppoll = next("ppoll");
    next_write = next("write");
    next_wait = next("pthread_cond_wait");
    next_timedwait = next("pthread_cond_timedwait");
    next_signal = next("pthread_cond_signal");
    next_broadcast = next("pthread_cond_broadcast");
}

static int64_t nanoseconds(const struct timespec *t)
{
    return t->tv_sec * 1000000000LL + t->tv_nsec;
}

static struct timespec timespec_of(int64_t ns)
{
    return (struct timespec){ ns / 1000000000, ns % 1000000000 };
}

/* The C library's would read the TSC. */
static int host_gettime(clockid_t clock, struct timespec *t)
{
    if (traps_tsc || !next_clock_gettime)
        return syscall(SYS_clock_gettime, clock, t);
    return next_clock_gettime(clock, t);
}

static int64_t host_now(void)
{
    struct timespec t;
    host_gettime(CLOCK_MONOTONIC, &t);
    return nanoseconds(&t);
}

/* --- the clock, with `lock` held --- */

/* The time up to which nobody has work to do. */
static int64_t limit(void)
{
    int64_t most = CLOCK_NEVER;
    for (unsigned cpu = 0; cpu < cpu_count; cpu++) {
        int64_t at = CLOCK_NEVER;
        if (cpus[cpu].state == WOKEN)
            at = cpus[cpu].since + AHEAD_OF_BEGIN_NS;
        else if (cpus[cpu].state == WORKS && cpu_reached(cpu) != CLOCK_NEVER)
            at = cpu_reached(cpu) + AHEAD_OF_WORK_NS;
        most = at < most ? at : most;
    }
    int64_t at = main_loop.state == WAITS ? main_loop.until : main_loop.since;
    return at < most - AHEAD_OF_BEGIN_NS ? at + AHEAD_OF_BEGIN_NS : most;
}

/* A wake-up can be lost between a thread's word that it waits and its waiting. To QEMU that does not matter. */
static void nudge(void)
{
    for (unsigned cpu = 0; cpu < cpu_count; cpu++)
        if (cpus[cpu].state == WOKEN && cpus[cpu].waits_for)
            next_broadcast(cpus[cpu].waits_for);
    nudged = true;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t advance(void)
{
    int64_t host = host_now(), passed = host - host_then;
    bool paced = cpus_are_paced();
    double times = paced ? rate : 1;
    int64_t wanted = now + (int64_t)(passed * times), most = paced ? limit() : CLOCK_NEVER;
    host_then = host;
    if (most != most_then || wanted <= most) {
        most_then = most;
        stood = 0;
        nudged = false;
    } else {
        stood += least(passed, LONGEST_LOOK_NS);        /* more of it nobody had: this program did not run */
    }
    if (stood > NUDGE_NS && !nudged)
        nudge();
    __atomic_fetch_add(&account->begun, 1, __ATOMIC_SEQ_CST);
    int64_t to = least(wanted, most);
    if (stood > LONGEST_STOP_NS) {
        to = now + least(passed, LONGEST_LOOK_NS);
        account->forced += to - now;
    }
    to = to > now ? to : now;
    account->held += (wanted - to) / times;
    account->now = now = to;
    __atomic_fetch_add(&account->ended, 1, __ATOMIC_SEQ_CST);
    return now;
}

int64_t clock_now(void)
{
    if (!started)
        return host_now();
    pthread_mutex_lock(&lock);
    int64_t at = advance();
    pthread_mutex_unlock(&lock);
    return at;
}

bool clock_holds(void)
{
    return started;
}

/* How long to wait, in the host's time, until the clock says `due` or is to be looked at again; `pause` is how long that
 * was last time, and `moved` whether the clock moved meanwhile. */
static int64_t look_in(int64_t due, int64_t at, int64_t pause, bool moved)
{
    int64_t ns = (due - at) / rate;
    int64_t still = moved ? SHORTEST_LOOK_NS : least(2 * pause, LONGEST_STILL_LOOK_NS);
    return ns < still ? still : least(ns, LONGEST_LOOK_NS);
}

void clock_sleep(int64_t due)
{
    int64_t at = clock_now(), pause = 0, begun = host_now();
    bool moved = true;
    while (at < due) {
        int64_t host = host_now();
        if (host - begun < YIELD_NS && host >= __atomic_load_n(&crowded_until, __ATOMIC_RELAXED)) {
            sched_yield();
            if (host_now() - host > CROWDED_NS)
                __atomic_store_n(&crowded_until, host + CROWDED_FOR_NS, __ATOMIC_RELAXED);
            at = clock_now();
            continue;
        }
        pause = look_in(due, at, pause, moved);
        struct timespec rest = timespec_of(pause);
        nanosleep(&rest, NULL);
        int64_t then = at;
        at = clock_now();
        moved = at > then;
    }
}

/* --- who has work to do --- */

static void becomes(struct worker *who, enum state state)
{
    who->since = advance();
    who->state = state;
}

void clock_cpu_starts(unsigned cpu)
{
    if (cpu >= MAX_CPUS)
        return;
    self = &cpus[cpu];
    pthread_mutex_lock(&lock);
    self->state = WORKS;
    pthread_mutex_unlock(&lock);
}

void clock_cpu_idles(unsigned cpu)
{
    if (cpu < MAX_CPUS)
        cpus[cpu].idles = true;
}

int64_t clock_cpu_resumes(unsigned cpu)
{
    if (!started || cpu >= MAX_CPUS)
        return clock_now();
    struct worker *who = &cpus[cpu];
    pthread_mutex_lock(&lock);
    int64_t woken = who->state == WOKEN ? who->since : advance();
    who->idles = false;
    who->state = WORKS;
    pthread_mutex_unlock(&lock);
    return woken;
}

static enum state begins_to_wait(pthread_cond_t *condition)
{
    pthread_mutex_lock(&lock);
    enum state before = self->state;
    advance();
    self->waits_for = condition;
    self->state = WAITS;
    if (self == &main_loop)
        self->until = CLOCK_NEVER;
    pthread_mutex_unlock(&lock);
    return before;
}

static void waited(enum state before)
{
    pthread_mutex_lock(&lock);
    self->waits_for = NULL;
    if (self->state == WAITS)
        becomes(self, WOKEN);
    if (!self->idles)
        self->state = before;
    pthread_mutex_unlock(&lock);
}

static void wake(pthread_cond_t *condition)
{
    if (!started)
        return;
    pthread_mutex_lock(&lock);
    for (unsigned cpu = 0; cpu <= cpu_count; cpu++) {
        struct worker *who = cpu < cpu_count ? &cpus[cpu] : &main_loop;
        if (who->state == WAITS && who->waits_for == condition)
            becomes(who, WOKEN);
    }
    pthread_mutex_unlock(&lock);
}

/* --- what QEMU calls --- */

EXPORT int clock_gettime(clockid_t clock, struct timespec *t)
{
    if (!started || clock != CLOCK_MONOTONIC)
        return host_gettime(clock, t);
    *t = timespec_of(clock_now());
    return 0;
}

/* The C library's would read the TSC. */
EXPORT int gettimeofday(struct timeval *restrict t, void *restrict zone)
{
    return syscall(SYS_gettimeofday, t, zone);
}

EXPORT int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    if (!started || !self)
        return next_wait(condition, mutex);
    enum state before = begins_to_wait(condition);
    int result = next_wait(condition, mutex);
    waited(before);
    return result;
}

/* A build of QEMU may make such times of CLOCK_MONOTONIC, which is the board's there, and waits by the host's. */
static struct timespec on_host(const struct timespec *until)
{
    struct timespec real;
    host_gettime(CLOCK_REALTIME, &real);
    int64_t at = clock_now(), to_board = nanoseconds(until) - at, to_real = nanoseconds(until) - nanoseconds(&real);
    bool is_board = (to_board < 0 ? -to_board : to_board) < (to_real < 0 ? -to_real : to_real);
    return is_board ? timespec_of(host_now() + to_board) : *until;
}

EXPORT int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  const struct timespec *until)
{
    struct timespec converted;
    if (started) {
        converted = on_host(until);
        until = &converted;
    }
    if (!started || !self)
        return next_timedwait(condition, mutex, until);
    enum state before = begins_to_wait(condition);
    int result = next_timedwait(condition, mutex, until);
    waited(before);
    return result;
}

EXPORT int pthread_cond_signal(pthread_cond_t *condition)
{
    wake(condition);
    return next_signal(condition);
}

EXPORT int pthread_cond_broadcast(pthread_cond_t *condition)
{
    wake(condition);
    return next_broadcast(condition);
}

/* The main loop waits for its next timer, and for files. */
EXPORT int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask)
{
    static const struct timespec none;
    if (!started || self != &main_loop || (timeout && !nanoseconds(timeout)))
        return next_ppoll(fds, count, timeout, mask);
    pthread_mutex_lock(&lock);
    int64_t at = advance(), until = timeout ? at + nanoseconds(timeout) : CLOCK_NEVER;
    main_loop.state = WAITS;
    main_loop.until = at;
    main_loop.fds = fds;
    main_loop.fd_count = count;
    pthread_mutex_unlock(&lock);
    /* Whoever told it something before this saw it at work, and it may not be late for that. */
    int result = next_ppoll(fds, count, &none, mask);
    pthread_mutex_lock(&lock);
    main_loop.until = until;
    pthread_mutex_unlock(&lock);
    bool moved = true;
    int64_t pause = 0;
    while (!result && at < until) {
        pause = look_in(until, at, pause, moved);
        struct timespec rest = timespec_of(pause);
        result = next_ppoll(fds, count, &rest, mask);
        int64_t then = at;
        at = clock_now();
        moved = at > then;
    }
    int error = errno;
    pthread_mutex_lock(&lock);
    if (main_loop.state == WAITS)
        becomes(&main_loop, WORKS);
    main_loop.since = least(main_loop.since, until);    /* its timers are due since then */
    main_loop.state = WORKS;
    main_loop.fds = NULL;
    main_loop.fd_count = 0;
    pthread_mutex_unlock(&lock);
    errno = error;
    return result;
}

/* Of eight bytes: how a thread tells the main loop that it has something new to do, such as an earlier timer. The main
 * loop's own signal handlers do so, too, wherever it is. */
EXPORT ssize_t write(int fd, const void *bytes, size_t count)
{
    if (started && count == 8 && self != &main_loop) {
        pthread_mutex_lock(&lock);
        for (nfds_t i = 0; i < main_loop.fd_count; i++)
            if (main_loop.fds[i].fd == fd && main_loop.state == WAITS)
                becomes(&main_loop, WOKEN);
        pthread_mutex_unlock(&lock);
    }
    return next_write(fd, bytes, count);
}

/* --- x86: the TSC, of which QEMU makes the guest's --- */

#ifdef __x86_64__
#define VDSO_SIZE 0x4000                /* the kernel's own readers of the host's clocks, which need the host's TSC */

static int length_of_tsc_read(const uint8_t *code)
{
    if (code[0] != 0x0f)
        return 0;
    if (code[1] == 0x31)
        return 2;                       /* rdtsc */
    return code[1] == 0x01 && code[2] == 0xf9 ? 3 : 0;      /* rdtscp */
}

/* One tick per nanosecond: the instruction is refused to this thread, all that it makes and programs that these
 * execute, and done here. */
static void on_refused(int number, siginfo_t *info, void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    const uint8_t *code = (const uint8_t *)registers[REG_RIP];
    int length = info->si_code == SI_KERNEL ? length_of_tsc_read(code) : 0;
    if (!length) {
        signal(number, SIG_DFL);        /* something else: a crash, as it would have been */
        return;
    }
    uint64_t tsc;
    unsigned aux = 0;
    if ((uintptr_t)code - getauxval(AT_SYSINFO_EHDR) < VDSO_SIZE) {
        prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0);
        tsc = length == 3 ? __builtin_ia32_rdtscp(&aux) : __builtin_ia32_rdtsc();
        prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
    } else {
        tsc = tsc_at_start + (clock_now() - now_at_start);
    }
    registers[REG_RAX] = tsc & 0xffffffff;
    registers[REG_RDX] = tsc >> 32;
    if (length == 3)
        registers[REG_RCX] = aux;
    registers[REG_RIP] += length;
}

static bool trap_tsc(void)
{
    struct sigaction action = { .sa_sigaction = on_refused, .sa_flags = SA_SIGINFO | SA_NODEFER }, before;
    tsc_at_start = __builtin_ia32_rdtsc();
    if (sigaction(SIGSEGV, &action, &before))
        return false;
    if (!prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0))
        return true;
    sigaction(SIGSEGV, &before, NULL);
    return false;
}
#else
static bool trap_tsc(void)
{
    return false;                       /* no TSC that could be refused */
}
#endif

/* This library's own, whatever its name means to the program. */
static int own_gettime(clockid_t, struct timespec *) __attribute__((alias("clock_gettime"), copy(clock_gettime)));

bool clock_start(unsigned cpus_, double rate_, bool is_x86, struct clock_account *account_)
{
    if (dlsym(RTLD_DEFAULT, "clock_gettime") != (void *)own_gettime || !next_wait || !next_ppoll)
        return false;
    if (is_x86 && !trap_tsc())
        return false;
    traps_tsc = is_x86;
    cpu_count = cpus_ < MAX_CPUS ? cpus_ : MAX_CPUS;
    rate = rate_;
    account = account_;
    now = host_then = now_at_start = host_now();
    self = &main_loop;
    main_loop.state = WORKS;
    main_loop.since = now;
    started = true;
    return true;
}
