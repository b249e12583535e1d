/* The part of QEMU's plugin interface (QEMU 10 and later) and of GLib that pstate.c uses: no
 * distribution ships the plugin header everywhere, and GLib's would be one more thing to install. */
#ifndef FLYBALL_QEMU_H
#define FLYBALL_QEMU_H

#include <stddef.h>
#include <stdint.h>

typedef uint64_t plugin_id;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_register;
struct qemu_plugin_scoreboard;
struct qemu_plugin_hwaddr;

struct scoreboard_u64 { struct qemu_plugin_scoreboard *score; size_t offset; };
struct register_info { struct qemu_plugin_register *handle; const char *name, *feature; };
struct machine_info { const char *target_name; };      /* more follows */
struct g_array { void *data; unsigned len; };          /* GArray */
struct g_byte_array { uint8_t *data; unsigned len; };  /* GByteArray */
struct mem_value { int type; union { uint32_t u32; uint64_t u64[2]; } data; };

enum { CB_NO_REGS, CB_READ_REGS };
enum { INLINE_ADD_U64 };
enum { COND_GE = 7 };
enum { MEM_WRITE = 2 };

typedef void vcpu_callback(plugin_id, unsigned cpu);
typedef void exec_callback(unsigned cpu, void *);
typedef void mem_callback(unsigned cpu, uint32_t info, uint64_t vaddr, void *);

void qemu_plugin_register_vcpu_init_cb(plugin_id, vcpu_callback *);
void qemu_plugin_register_vcpu_idle_cb(plugin_id, vcpu_callback *);
void qemu_plugin_register_vcpu_resume_cb(plugin_id, vcpu_callback *);
void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id, void (*)(plugin_id, struct qemu_plugin_tb *));
void qemu_plugin_register_atexit_cb(plugin_id, void (*)(plugin_id, void *), void *);
void qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(struct qemu_plugin_tb *, int op,
                                                       struct scoreboard_u64, uint64_t);
void qemu_plugin_register_vcpu_tb_exec_cond_cb(struct qemu_plugin_tb *, exec_callback *, int flags,
                                               int cond, struct scoreboard_u64, uint64_t, void *);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *, exec_callback *, int flags,
                                            void *);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *, mem_callback *, int flags, int rw,
                                      void *);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *, void *, size_t);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *);
struct qemu_plugin_hwaddr *qemu_plugin_get_hwaddr(uint32_t info, uint64_t vaddr);
uint64_t qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr *);
struct mem_value qemu_plugin_mem_get_value(uint32_t info);
struct qemu_plugin_scoreboard *qemu_plugin_scoreboard_new(size_t);
void *qemu_plugin_scoreboard_find(struct qemu_plugin_scoreboard *, unsigned cpu);
struct g_array *qemu_plugin_get_registers(void);
int qemu_plugin_read_register(struct qemu_plugin_register *, struct g_byte_array *);
struct g_byte_array *g_byte_array_new(void);
struct g_byte_array *g_byte_array_set_size(struct g_byte_array *, unsigned);

#endif
