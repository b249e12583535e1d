//! Temperatures: thermal zones and hwmon.

use super::reader::Reader;
use crate::{Host, HostError};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A temperature sensor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TemperatureSensor {
    /// `x86_pkg_temp`, `k10temp Tctl`...
    pub name: String,
    /// The file to read.
    pub path: String,
}

impl TemperatureSensor {
    /// The temperature now, in thousandths of a degree Celsius.
    pub fn read_millicelsius(&self, host: &dyn Host) -> Result<i64, HostError> {
        let text = host.read(Path::new(&self.path))?;
        let value = text.trim().parse();
        value.map_err(|_| HostError::malformed(&self.path, "thousandths of a degree", &text))
    }
}

/// All sensors. They are not read: a sleeping disk's would take seconds, and wake it.
pub(crate) fn temperatures(reader: &Reader<'_>) -> Vec<TemperatureSensor> {
    let mut sensors = Vec::new();
    for (_, path) in reader.numbered("/sys/class/thermal", "thermal_zone") {
        if let Some(name) = reader.name(&format!("{path}/type")) {
            sensors.push(TemperatureSensor { name, path: format!("{path}/temp") });
        }
    }
    for (_, path) in reader.numbered("/sys/class/hwmon", "hwmon") {
        for (name, path) in hwmon_inputs(reader, &path, "temp") {
            sensors.push(TemperatureSensor { name, path });
        }
    }
    sensors
}

/// The inputs `KINDn_input` of a hwmon device, with the names of device and label.
pub(crate) fn hwmon_inputs(reader: &Reader<'_>, device: &str, kind: &str) -> Vec<(String, String)> {
    let name = reader.name(&format!("{device}/name")).unwrap_or_else(|| "hwmon".to_owned());
    let files = reader.names(device);
    let inputs = files.iter().filter_map(|file| {
        let channel = file.strip_suffix("_input")?;
        channel.strip_prefix(kind)?.parse::<u32>().ok()?;
        let label = reader.name(&format!("{device}/{channel}_label"));
        let label = label.unwrap_or_else(|| channel.to_owned());
        Some((format!("{name} {label}"), format!("{device}/{file}")))
    });
    inputs.collect()
}
