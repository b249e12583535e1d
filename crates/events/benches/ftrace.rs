//! Speed of the ftrace reader on lines as a kernel writes them.
#![allow(
    clippy::disallowed_methods,
    missing_docs,
    reason = "a benchmark reads its own clock; criterion's macros have no docs"
)]

use std::hint::black_box;
use std::io;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use flyball_events::ftrace::Reader;

const LINES: &str = "\
          <idle>-0       [001] d..1.    10.421724: cpu_idle: state=1 cpu_id=1
          <idle>-0       [002] dNs4.    10.429001: sched_wakeup: comm=ksoftirqd/2 pid=27 prio=120 target_cpu=002
          <idle>-0       [002] d..2.    10.429066: sched_switch: prev_comm=swapper/2 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=ksoftirqd/2 next_pid=27 next_prio=120
         python3-163     [003] d.h2.    10.427849: pelt_se: (__probestub_pelt_se_tp+0x4/0x20) pid=163 my_q=0x0 util=1007 runnable=1011
         python3-163     [003] d.h2.    10.427872: pelt_cfs: (__probestub_pelt_cfs_tp+0x4/0x20) cpu=3 util=1011 ue=919
     ksoftirqd/2-27      [002] d..3.    10.429247: uest_se: (__probestub_sched_util_est_se_tp+0x4/0x20) pid=27 util=0 ue=0x8000000c
     ksoftirqd/2-27      [002] d..2.    10.429267: sched_switch: prev_comm=ksoftirqd/2 prev_pid=27 prev_prio=120 prev_state=S ==> next_comm=swapper/2 next_pid=0 next_prio=120
          <idle>-0       [001] d.s2.    10.436435: cpu_frequency: state=1400000 cpu_id=0
";

fn ftrace(c: &mut Criterion) {
    let text = LINES.repeat(20_000);
    let mut group = c.benchmark_group("ftrace");
    group.throughput(Throughput::Bytes(text.len() as u64)).sample_size(20);
    group.bench_function("read", |b| {
        b.iter(|| {
            let mut reader = Reader::new(text.as_bytes());
            reader
                .for_each(|item| -> io::Result<()> {
                    black_box(item);
                    Ok(())
                })
                .unwrap_or_default();
            reader.counts().records
        });
    });
    group.finish();
}

criterion_group!(benches, ftrace);
criterion_main!(benches);
