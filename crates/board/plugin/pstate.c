/* pstate: a QEMU TCG plugin that makes each virtual CPU as fast as its P-state says.
 *
 * A CPU may run  ipc * kHz * 1000  guest instructions per second of the board's clock, where kHz belongs to
 * the last P-state that the guest asked for. The plugin counts each CPU's instructions; after every
 * `step` of them it works out when a CPU of that speed would have got there, and sleeps until then.
 * A CPU is not slowed before its policy's first P-state write, so the kernel boots at full speed.
 *
 * Arguments (comma-separated, after the plugin's file name):
 *   policy=CPU+CPU+.../IPC/KHZ:SPEED+KHZ:SPEED+...   CPUs that share a P-state, in the order of
 *       their numbers 0, 1, ... below; P-state i is called KHZ and runs at SPEED kHz; repeatable
 *   port=0xNN     x86: a 32-bit I/O port; the value is policy * 256 + P-state
 *   regs=0xNN     arm64: guest-physical address of a page per policy; the 32-bit word at 0x88 of
 *                 a policy's page is its P-state
 *   control=FILE  shared with the program that started QEMU: struct control, below
 *   log=FILE      one line per P-state write
 *   step=N        instructions per step
 *   rate=X        how many times as fast as the host's the board's clock may run
 */
#define _GNU_SOURCE
#include "clock.h"
#include "qemu.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
EXPORT int qemu_plugin_version = 4;

#define MAX_POLICIES 64
#define MAX_STATES 64
#define OUT_DX_EAX 0xEF             /* the x86 instruction with which the kernel writes a port */
#define PAGE 0x1000
#define PERF_STATE 0x88             /* the arm64 controller's word in a policy's page */
#define SHORTEST_SLEEP_NS 1000      /* shorter debts are carried on */
#define CATCH_UP_NS 300000          /* a CPU that is late by more has lost the rest for good */
/* Where the clock does not hold, steps after idle in which a CPU makes up for nothing: the emulator executes
 * what wakes it from cold, and the work behind that would be too fast. */
#define WAKING_STEPS 4

struct policy {
    double ipc;
    unsigned first;                 /* its lowest CPU, which names it */
    double khz[MAX_STATES], speed_khz[MAX_STATES];
    int states;
    volatile int current;           /* P-state; -1 before the first write */
};

struct vcpu {
    uint64_t counted;               /* instructions since the last step; QEMU's own code adds to it */
    int64_t due;                    /* when a CPU of this speed would be here; 0: not known yet */
    unsigned waking;                /* steps until it is taken to be awake */
    struct policy *policy;
};

/* Shared with the program that started QEMU. Little endian; times in nanoseconds. */
struct control {
    char magic[8];
    volatile uint32_t full_speed;   /* written there: not 0 stops the slowing */
    uint32_t cpus;
    uint64_t writes;                /* P-state writes seen */
    struct clock_account clock;
    uint64_t reserved[8];
    struct {
        uint64_t insns;             /* instructions executed, all */
        int64_t paced;              /* time that the slowed ones of them should take */
        int64_t slept;              /* time slept for that */
        int64_t late;               /* time lost: the host could not keep up */
        int64_t waking;             /* time that waking up took beyond its instructions' */
        uint64_t reserved[3];
    } cpu[MAX_CPUS];
};

/* As plugin.rs reads it. */
_Static_assert(offsetof(struct control, full_speed) == 8 && offsetof(struct control, writes) == 16
               && offsetof(struct control, clock) == 24 && offsetof(struct control, cpu) == 128
               && sizeof(struct clock_account) == 40, "layout");

static struct policy policies[MAX_POLICIES];
static struct policy *policy_of[MAX_CPUS];
static int policy_count;
static unsigned cpu_count;
static struct qemu_plugin_scoreboard *vcpus;
static struct qemu_plugin_register *reg_eax, *reg_dx;
static struct control own_control, *control = &own_control;
static uint64_t step_insns = 10000, regs;
static int port = -1;
static FILE *log_file;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool paces(const struct policy *p)
{
    return p && p->current >= 0 && !control->full_speed;
}

static int64_t time_of(const struct policy *p, uint64_t insns)
{
    return insns * 1e6 / (p->ipc * p->speed_khz[p->current]);
}

int64_t cpu_reached(unsigned cpu)
{
    struct vcpu *v = qemu_plugin_scoreboard_find(vcpus, cpu);
    if (!paces(v->policy) || !v->due)
        return CLOCK_NEVER;
    return v->due + time_of(v->policy, v->counted);
}

bool cpus_are_paced(void)
{
    for (int i = 0; i < policy_count; i++)
        if (paces(&policies[i]))
            return true;
    return false;
}

/* Works out when `cpu` should be where it is now. */
static void account(struct vcpu *v, unsigned cpu, int64_t now)
{
    struct policy *p = v->policy;
    uint64_t insns = v->counted;
    v->counted = 0;
    control->cpu[cpu].insns += insns;
    if (!paces(p)) {
        v->due = 0;
        return;
    }
    int64_t paced = time_of(p, insns);
    control->cpu[cpu].paced += paced;
    v->due = (v->due ? v->due : now) + paced;
    if (v->waking) {
        v->waking--;
        if (v->due < now) {
            control->cpu[cpu].waking += now - v->due;
            v->due = now;
        }
    } else if (v->due < now - CATCH_UP_NS) {
        control->cpu[cpu].late += now - CATCH_UP_NS - v->due;
        v->due = now - CATCH_UP_NS;
    }
}

static void on_step(unsigned cpu, void *unused)
{
    struct vcpu *v = qemu_plugin_scoreboard_find(vcpus, cpu);
    (void)unused;
    if (!v->policy) {
        v->counted = 0;
        return;
    }
    int64_t now = clock_now();
    account(v, cpu, now);
    if (v->due > now + SHORTEST_SLEEP_NS) {
        clock_sleep(v->due);
        control->cpu[cpu].slept += clock_now() - now;
    }
}

static void set_state(unsigned number, unsigned cpu, uint64_t state)
{
    if (number >= (unsigned)policy_count || state >= (uint64_t)policies[number].states)
        return;
    struct policy *p = &policies[number];
    struct vcpu *v = qemu_plugin_scoreboard_find(vcpus, cpu);
    int64_t now = clock_now();
    if (v->policy == p)
        account(v, cpu, now);       /* what came before the write ran at the old speed */
    pthread_mutex_lock(&lock);
    control->writes++;
    if (log_file)
        fprintf(log_file, "%lld.%09lld policy%u mhz=%g cpu=%u\n", (long long)(now / 1000000000),
                (long long)(now % 1000000000), p->first, p->khz[state] / 1e3, cpu);
    p->current = state;
    pthread_mutex_unlock(&lock);
}

/* --- x86: the kernel writes an I/O port --- */

static uint64_t read_register(struct qemu_plugin_register *reg)
{
    static __thread struct g_byte_array *bytes;
    uint64_t value = 0;
    if (!bytes)
        bytes = g_byte_array_new();
    g_byte_array_set_size(bytes, 0);
    qemu_plugin_read_register(reg, bytes);
    memcpy(&value, bytes->data, bytes->len < sizeof value ? bytes->len : sizeof value);
    return value;
}

static void on_port_write(unsigned cpu, void *unused)
{
    (void)unused;
    if (!reg_dx || !reg_eax || (int)(read_register(reg_dx) & 0xffff) != port)
        return;
    uint32_t value = read_register(reg_eax);
    set_state(value >> 8, cpu, value & 0xff);
}

static void find_registers(void)
{
    struct g_array *list = qemu_plugin_get_registers();
    for (unsigned i = 0; list && i < list->len; i++) {
        struct register_info *r = (struct register_info *)list->data + i;
        if (!strcmp(r->name, "rax"))
            reg_eax = r->handle;
        if (!strcmp(r->name, "rdx"))
            reg_dx = r->handle;
    }
}

/* --- arm64: the kernel writes a word of memory --- */

static void on_store(unsigned cpu, uint32_t info, uint64_t vaddr, void *unused)
{
    (void)unused;
    if ((vaddr & (PAGE - 1)) != PERF_STATE)
        return;
    struct qemu_plugin_hwaddr *where = qemu_plugin_get_hwaddr(info, vaddr);
    uint64_t at = where ? qemu_plugin_hwaddr_phys_addr(where) : 0;
    if (at >= regs && at < regs + policy_count * PAGE)
        set_state((at - regs) / PAGE, cpu, qemu_plugin_mem_get_value(info).data.u32);
}

/* A store of 32 bits (STR, STUR of Wt with an immediate offset), the form of the kernel's writel. */
static bool stores_word(uint32_t opcode)
{
    return (opcode & 0xFFC00000) == 0xB9000000 || (opcode & 0xFFE00C00) == 0xB8000000;
}

static void on_translate(plugin_id id, struct qemu_plugin_tb *tb)
{
    struct scoreboard_u64 counted = { vcpus, offsetof(struct vcpu, counted) };
    size_t n = qemu_plugin_tb_n_insns(tb);
    (void)id;
    for (size_t i = 0; i < n; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        uint32_t opcode = 0;
        if (!(qemu_plugin_insn_vaddr(insn) >> 63))
            break;                  /* user space */
        size_t size = qemu_plugin_insn_size(insn);
        if (size > sizeof opcode || qemu_plugin_insn_data(insn, &opcode, size) != size)
            continue;
        if (port >= 0 && size == 1 && opcode == OUT_DX_EAX)
            qemu_plugin_register_vcpu_insn_exec_cb(insn, on_port_write, CB_READ_REGS, NULL);
        if (regs && size == 4 && stores_word(opcode))
            qemu_plugin_register_vcpu_mem_cb(insn, on_store, CB_NO_REGS, MEM_WRITE, NULL);
    }
    qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb, INLINE_ADD_U64, counted, n);
    qemu_plugin_register_vcpu_tb_exec_cond_cb(tb, on_step, CB_NO_REGS, COND_GE, counted, step_insns,
                                              NULL);
}

/* --- life of a CPU --- */

static void on_vcpu_init(plugin_id id, unsigned cpu)
{
    struct vcpu *v = qemu_plugin_scoreboard_find(vcpus, cpu);
    (void)id;
    clock_cpu_starts(cpu);
    v->policy = cpu < MAX_CPUS ? policy_of[cpu] : NULL;
    if (port >= 0 && !reg_dx)
        find_registers();
}

static void on_idle(plugin_id id, unsigned cpu)
{
    (void)id;
    clock_cpu_idles(cpu);
}

/* A CPU that was idle has not saved up any speed for later. */
static void on_resume(plugin_id id, unsigned cpu)
{
    struct vcpu *v = qemu_plugin_scoreboard_find(vcpus, cpu);
    int64_t woken = clock_cpu_resumes(cpu);
    (void)id;
    if (v->due && v->due < woken) {
        v->due = woken;
        v->waking = clock_holds() ? 0 : WAKING_STEPS;
    }
}

static void on_end(plugin_id id, void *unused)
{
    (void)id;
    (void)unused;
    pthread_mutex_lock(&lock);
    if (log_file)
        fclose(log_file);
    log_file = NULL;
    pthread_mutex_unlock(&lock);
}

/* --- arguments --- */

static const char *value_of(const char *argument, const char *key)
{
    size_t n = strlen(key);
    return strncmp(argument, key, n) ? NULL : argument + n;
}

/* Reads CPU+CPU+.../IPC/KHZ:SPEED+KHZ:SPEED+... */
static bool parse_policy(const char *text)
{
    struct policy *p = &policies[policy_count];
    char *rest;
    if (policy_count == MAX_POLICIES)
        return false;
    p->current = -1;
    p->first = MAX_CPUS;
    do {
        unsigned long cpu = strtoul(text, &rest, 10);
        if (rest == text || cpu >= MAX_CPUS)
            return false;
        policy_of[cpu] = p;
        cpu_count = cpu + 1 > cpu_count ? cpu + 1 : cpu_count;
        p->first = cpu < p->first ? cpu : p->first;
        text = rest + 1;
    } while (*rest == '+');
    if (*rest != '/')
        return false;
    p->ipc = strtod(text, &rest);
    do {
        if (p->states == MAX_STATES || !*rest)
            return false;
        p->khz[p->states] = strtod(rest + 1, &rest);
        if (*rest != ':')
            return false;
        p->speed_khz[p->states] = strtod(rest + 1, &rest);
        p->states++;
    } while (*rest == '+');
    policy_count++;
    return !*rest && p->ipc > 0;
}

static bool map_control(const char *path)
{
    int fd = open(path, O_RDWR);
    if (fd < 0 || ftruncate(fd, sizeof *control))
        return false;
    void *page = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (page == MAP_FAILED)
        return false;
    control = page;
    memcpy(control->magic, "flyball1", sizeof control->magic);
    control->cpus = MAX_CPUS;
    return true;
}

EXPORT int qemu_plugin_install(plugin_id id, const struct machine_info *info, int argc, char **argv)
{
    double rate = 1;
    for (int i = 0; i < argc; i++) {
        const char *value;
        bool good = false;
        if ((value = value_of(argv[i], "policy=")))
            good = parse_policy(value);
        else if ((value = value_of(argv[i], "port=")))
            good = (port = strtol(value, NULL, 0)) > 0;
        else if ((value = value_of(argv[i], "regs=")))
            good = (regs = strtoull(value, NULL, 0)) > 0;
        else if ((value = value_of(argv[i], "control=")))
            good = map_control(value);
        else if ((value = value_of(argv[i], "log=")))
            good = (log_file = fopen(value, "w")) != NULL;
        else if ((value = value_of(argv[i], "step=")))
            good = (step_insns = strtoull(value, NULL, 0)) > 0;
        else if ((value = value_of(argv[i], "rate=")))
            good = (rate = strtod(value, NULL)) >= 0.01 && rate <= 1000;
        if (!good) {
            fprintf(stderr, "pstate plugin: bad argument %s\n", argv[i]);
            return -1;
        }
    }
    if (log_file)
        setlinebuf(log_file);
    vcpus = qemu_plugin_scoreboard_new(sizeof(struct vcpu));
    /* Where it cannot start, its account stays empty, which is told. */
    clock_start(cpu_count, rate, !strcmp(info->target_name, "x86_64"), &control->clock);
    qemu_plugin_register_vcpu_init_cb(id, on_vcpu_init);
    qemu_plugin_register_vcpu_idle_cb(id, on_idle);
    qemu_plugin_register_vcpu_resume_cb(id, on_resume);
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
    qemu_plugin_register_atexit_cb(id, on_end, NULL);
    return 0;
}
