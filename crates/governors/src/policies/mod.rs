//! The rules, one file each.

mod conservative;
mod mode;
mod ondemand;
mod performance;
mod powerd;
mod powerd_paper;
mod powerdxx;
mod powersave;
pub mod schedutil;
mod threshold;
mod tick;
mod userspace;
mod windowed;

pub use conservative::Conservative;
pub use ondemand::Ondemand;
pub use performance::Performance;
pub use powerd::Powerd;
pub use powerd_paper::PowerdPaper;
pub use powerdxx::Powerdxx;
pub use powersave::Powersave;
pub use schedutil::Schedutil;
pub use threshold::Threshold;
pub use tick::Tick;
pub use userspace::Userspace;
pub use windowed::Windowed;
