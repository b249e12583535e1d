//! The versions of one kernel rule that hardware, governors and audits all speak of.

use serde::{Deserialize, Serialize};

/// How a kernel derives schedutil's default `rate_limit_us` from the declared latency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum RateLimitRule {
    /// Up to 6.8: 1000 x latency, at most 10 ms; without a latency 1 ms.
    #[serde(rename = "up-to-6.8")]
    UpTo6_8,
    /// 6.9 to 6.11: 1000 x latency, at most 2 ms; without a latency 1 ms.
    #[serde(rename = "6.9-to-6.11")]
    From6_9,
    /// Since 6.12: 1.5 x latency; without a latency 1 ms; "eternal" gives about 6.44 s.
    #[default]
    #[serde(rename = "from-6.12")]
    From6_12,
}
