/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A scheduler of nobody: what it asks for is added to the fair class's utilisation. */

/* A CPU begins with all performance: none is asked for until a thread does. */
SEC("struct_ops.s/init")
int begin(u64 *arguments)
{
	u32 count = scx_bpf_nr_cpu_ids();

	for (u32 cpu = 0; cpu < MOST_CPUS; cpu++) {
		if (cpu >= count)
			break;
		scx_bpf_cpuperf_set(cpu, 0);
	}
	return 0;
}
