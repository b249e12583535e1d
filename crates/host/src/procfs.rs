//! Parsers of /proc files, on text that any host may have read.

use crate::{CpuTime, CpuTimes, Host, HostError};
use flyball_units::CpuId;
use std::ops::Range;
use std::path::Path;

/// `VmLck` of a `/proc/.../status` text, in bytes.
pub(crate) fn locked_memory(status: &str, path: &Path) -> Result<u64, HostError> {
    let line = status.lines().find(|line| line.starts_with("VmLck:")).unwrap_or_default();
    let kilobytes = line
        .strip_prefix("VmLck:")
        .and_then(|rest| rest.trim().strip_suffix("kB"))
        .and_then(|number| number.trim().parse::<u64>().ok());
    match kilobytes {
        Some(kilobytes) => Ok(kilobytes.saturating_mul(1024)),
        None => Err(HostError::malformed(path.display(), "VmLck: NUMBER kB", line)),
    }
}

/// Where files are mapped that can be read, by a `/proc/.../maps` text.
pub(crate) fn mapped_files(maps: &str) -> impl Iterator<Item = Range<usize>> {
    maps.lines().filter_map(|line| {
        // 55d0-55e0 r-xp 00002000 08:01 1234   /usr/bin/flyball
        let mut fields = line.split_whitespace();
        let (start, end) = fields.next()?.split_once('-')?;
        let readable = fields.next()?.starts_with('r');
        let is_file = fields.nth(3)?.starts_with('/');
        let address = |text| usize::from_str_radix(text, 16).ok();
        let (start, end) = (address(start)?, address(end)?);
        (readable && is_file && start < end).then_some(start..end)
    })
}

/// Reads and parses `/proc/stat`.
pub(crate) fn cpu_times(host: &dyn Host) -> Result<CpuTimes, HostError> {
    let path = Path::new("/proc/stat");
    let text = host.read(path)?;
    parse_stat(&text, host.user_hz())
        .map_err(|line| HostError::malformed(path.display(), "cpuN and at least 4 numbers", &line))
}

/// Parses the text of `/proc/stat`; the error is the line that is wrong.
pub(crate) fn parse_stat(text: &str, user_hz: u64) -> Result<CpuTimes, String> {
    let mut times = CpuTimes { user_hz, cpus: Vec::new(), running: None };
    for line in text.lines() {
        let (name, rest) = line.split_once(' ').unwrap_or((line, ""));
        if name == "procs_running" {
            times.running = Some(rest.trim().parse().map_err(|_| line.to_owned())?);
        }
        // "cpu" alone is the sum of all.
        let Some(number) = name.strip_prefix("cpu").filter(|number| !number.is_empty()) else {
            continue;
        };
        let cpu = number.parse().map_err(|_| line.to_owned())?;
        let ticks = rest.split_ascii_whitespace().map(str::parse::<u64>);
        let ticks: Vec<u64> = ticks.collect::<Result<_, _>>().map_err(|_| line.to_owned())?;
        if ticks.len() < 4 {
            return Err(line.to_owned());
        }
        let field = |index: usize| ticks.get(index).copied().unwrap_or(0);
        let time = CpuTime {
            user: field(0),
            nice: field(1),
            system: field(2),
            idle: field(3),
            iowait: field(4),
            irq: field(5),
            softirq: field(6),
            steal: field(7),
        };
        times.cpus.push((CpuId(cpu), time));
    }
    if times.cpus.is_empty() {
        return Err(text.lines().next().unwrap_or_default().to_owned());
    }
    times.cpus.sort_by_key(|(cpu, _)| *cpu);
    Ok(times)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn stat_of_old_and_new_kernels() {
        let text =
            "cpu  9 9 9 9\ncpu1 1 2 3 4 5 6 7 8 9 10\ncpu0 1 2 3 4\nctxt 5\nprocs_running 3\n";
        let times = parse_stat(text, 100).unwrap();
        assert_eq!(times.cpus.len(), 2);
        assert_eq!(times.of(CpuId(1)).unwrap().steal, 8);
        assert_eq!(times.of(CpuId(0)).unwrap().steal, 0);
        assert_eq!(times.cpus[0].0, CpuId(0), "ascending");
        assert_eq!(times.running, Some(3));
    }

    #[test]
    fn wrong_lines_are_named() {
        for (text, line) in [
            ("cpu0 1 2 3", "cpu0 1 2 3"),
            ("cpu0 1 2 3 x", "cpu0 1 2 3 x"),
            ("cpux 1 2 3 4", "cpux 1 2 3 4"),
            ("cpu0 1 2 3 4\nprocs_running many", "procs_running many"),
            ("nothing", "nothing"),
            ("", ""),
        ] {
            assert_eq!(parse_stat(text, 100), Err(line.to_owned()), "{text}");
        }
    }

    #[test]
    fn mappings_of_files_that_can_be_read() {
        let maps = "1000-3000 r-xp 00000000 08:01 7  /usr/bin/a b\n3000-4000 ---p 00000000 08:01 7  /usr/bin/a b\n\
                    4000-5000 rw-p 00000000 00:00 0\n5000-6000 rw-p 00000000 00:00 0  [heap]\n\
                    6000-7000 rw-s 00000000 00:0f 9  anon_inode:[perf_event]\n7000-8000 rw-p 00001000 08:01 7  /lib/c\n";
        let found: Vec<_> = mapped_files(maps).collect();
        assert_eq!(found, [0x1000..0x3000, 0x7000..0x8000]);
    }

    #[test]
    fn locked_memory_is_in_bytes() {
        let path = Path::new("/proc/self/status");
        assert_eq!(locked_memory("Name: x\nVmLck:\t    12 kB\n", path), Ok(12 * 1024));
        assert!(locked_memory("VmLck: much kB", path).unwrap_err().to_string().contains("VmLck"));
        assert!(locked_memory("", path).is_err());
    }

    proptest! {
        #[test]
        fn arbitrary_text_never_panics(text in "((cpu)?[0-9a-z ]{0,30}\n){0,5}", hz in any::<u64>()) {
            if let Ok(times) = parse_stat(&text, hz) {
                let _ = times.load_of_others(flyball_units::Nanos(1));
            }
            let _ = locked_memory(&text, Path::new("/x"));
        }

        #[test]
        fn arbitrary_maps_never_panic(text in "([0-9a-f-]{0,20} [rwxp-]{0,4} 0 0 0 [/a-z]{0,9}\n){0,5}") {
            mapped_files(&text).for_each(|range| assert!(range.start < range.end));
        }
    }
}
