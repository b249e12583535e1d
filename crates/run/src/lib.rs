//! The run directory: table registry, writer, reader.
//!
//! A command that measures writes a run directory; a command that looks reads one and does not
//! care which machine wrote it. What lives where:
//!
//! - [`manifest`]: `run.toml`, everything about a run that is not a row;
//! - [`table`], [`mod@column`], [`tables`]: the registry; one schema per table, defined once;
//! - [`mod@pool`]: runs of several machines as one run;
//! - [`writer`]: append-safe NDJSON while the run goes on, Parquet when it ends whole;
//! - [`disk`]: what a writer asks of the disk, so that what a power cut leaves is tested;
//! - [`error`]: one error shape: object, expected, found, hint.

pub mod blocks;
mod checksum;
pub mod column;
mod directory;
pub mod disk;
mod kind;
pub mod name;
mod ndjson;
pub mod pool;
pub mod run;
#[cfg(feature = "schema")]
pub mod schema;
pub mod storage;
pub mod table;
pub mod tables;
pub mod tally;
mod threads;
pub mod unfinished;
pub mod writer;

pub use checksum::resealed;
pub use column::{Labels, Nullable, NullableLabels, Packed};
pub use directory::{Directory, TablesRead};
pub use flyball_manifest::{self as manifest, Error, Manifest, Result, RunState, error};
pub use kind::Kind;
pub use run::{Run, Warning, newest_run};
pub use storage::Columns;
pub use table::{AnyRow, ColumnSpec, Row, Table, TableSpec};
pub use tables::{
    ActivitySample, ActivitySamples, CapacitySample, CapacitySamples, CpuUser, CpuUsers,
    EnergyShare, EnergyShares, Frequencies, FrequencySample, GovernorStep, GovernorSteps, IdleStay,
    IdleStays, Interrupt, Interrupts, Item, Items, LoadSample, LoadSamples, Loss, Losses, Marker,
    Markers, Migration, Migrations, NO_DEADLINE, Note, Notes, RampUp, RampUpSample, RampUpSamples,
    RampUps, Slice, Slices, SweepValue, SweepValues, SwitchTrial, SwitchTrials, Tables,
    TemperatureSample, TemperatureSamples, UtilizationSample, UtilizationSamples,
    WAKE_DELAY_FROM_NS, Wakeup, Wakeups, Window, Windows, registry,
};
pub use threads::start_threads;
pub use unfinished::Unfinished;
pub use writer::{RunWriter, amend, check_empty, empty_dir, new_dir_below};
