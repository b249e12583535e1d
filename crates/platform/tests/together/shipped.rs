//! What ships reads, and says what the published sources say.
#![allow(clippy::panic, reason = "a test fails by panicking")]

use flyball_platform::{Kernel, Platform, catalogue};
use flyball_units::Diagnostic;

#[test]
fn everything_shipped_reads() {
    for entry in catalogue().platforms {
        let platform = Platform::named(entry.name)
            .unwrap_or_else(|error| panic!("{error}: {:?}", error.hint()));
        assert_eq!(platform.name, entry.name);
        for (path, source) in &platform.sources {
            assert!(!source.is_empty(), "{}: {path}", entry.name);
        }
        for domain in &platform.domains {
            let speeds: Vec<_> = domain.opps.as_slice().iter().map(|opp| opp.frequency).collect();
            let points: Vec<_> = domain.points.iter().map(|point| point.frequency).collect();
            assert_eq!(speeds, points, "{}: position i is the same point in both", entry.name);
        }
    }
    for entry in catalogue().kernels {
        let kernel =
            Kernel::named(entry.name).unwrap_or_else(|error| panic!("{error}: {:?}", error.hint()));
        assert_eq!(kernel.name, entry.name);
    }
}
