//! Energy counters: powercap (RAPL), hwmon, and the battery.

use super::reader::Reader;
use super::sensors::hwmon_inputs;
use crate::{Host, HostError};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Something that counts energy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnergyCounter {
    /// `package-0`, `core`, a hwmon label, a battery.
    pub name: String,
    /// Its folder (powercap, battery) or file (hwmon).
    pub path: String,
    /// How it counts.
    pub kind: EnergyKind,
}

/// How an energy counter counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EnergyKind {
    /// Up, and from zero again after `range_uj`.
    Powercap {
        /// The value after which it starts again.
        range_uj: Option<u64>,
    },
    /// Up, without end.
    Hwmon,
    /// Down while discharging: what is left, `energy_now` in microwatt-hours.
    BatteryEnergy,
    /// Down while discharging: what is left, `charge_now` in microampere-hours, times the voltage.
    BatteryCharge,
}

impl EnergyCounter {
    /// The counter now, in microjoules.
    pub fn read_uj(&self, host: &dyn Host) -> Result<u64, HostError> {
        let number = |path: String| -> Result<u64, HostError> {
            let text = host.read(Path::new(&path))?;
            let value = text.trim().parse();
            value.map_err(|_| HostError::malformed(path, "a natural number", &text))
        };
        let file = |name: &str| number(format!("{}/{name}", self.path));
        match self.kind {
            EnergyKind::Powercap { .. } => file("energy_uj"),
            EnergyKind::Hwmon => number(self.path.clone()),
            // 1 uWh = 3600 uJ.
            EnergyKind::BatteryEnergy => Ok(file("energy_now")?.saturating_mul(3600)),
            // 1 uAh * 1 uV = 3600 * 1e-12 J = 3600 * 1e-6 uJ.
            EnergyKind::BatteryCharge => {
                let product = u128::from(file("charge_now")?) * u128::from(file("voltage_now")?);
                Ok(u64::try_from(product * 3600 / 1_000_000).unwrap_or(u64::MAX))
            }
        }
    }

    /// The energy used between two readings, in microjoules: a counter that started again is
    /// followed over one wrap; none where the readings make no sense (a charging battery, or a
    /// reset).
    pub fn used_uj(&self, before: u64, after: u64) -> Option<u64> {
        match self.kind {
            EnergyKind::Powercap { range_uj: Some(range) } if after < before => {
                range.checked_sub(before)?.checked_add(after)
            }
            EnergyKind::Powercap { .. } | EnergyKind::Hwmon => after.checked_sub(before),
            EnergyKind::BatteryEnergy | EnergyKind::BatteryCharge => before.checked_sub(after),
        }
    }
}

/// All counters, also those that only root may read (RAPL, since 2020).
pub(crate) fn energy(reader: &Reader<'_>) -> Result<Vec<EnergyCounter>, HostError> {
    let mut counters = powercap(reader)?;
    for (_, device) in reader.numbered("/sys/class/hwmon", "hwmon") {
        let inputs = hwmon_inputs(reader, &device, "energy").into_iter();
        counters.extend(inputs.map(|(name, path)| EnergyCounter {
            name,
            path,
            kind: EnergyKind::Hwmon,
        }));
    }
    counters.extend(batteries(reader));
    Ok(counters)
}

fn powercap(reader: &Reader<'_>) -> Result<Vec<EnergyCounter>, HostError> {
    const FOLDER: &str = "/sys/class/powercap";
    let mut counters = Vec::new();
    for zone in reader.names(FOLDER) {
        let path = format!("{FOLDER}/{zone}");
        // Control types (`intel-rapl`) have no counter of their own.
        if !reader.names(&path).iter().any(|file| file == "energy_uj") {
            continue;
        }
        let range_uj = reader.number(&format!("{path}/max_energy_range_uj"))?;
        let name = reader.name(&format!("{path}/name")).unwrap_or(zone);
        counters.push(EnergyCounter { name, path, kind: EnergyKind::Powercap { range_uj } });
    }
    Ok(counters)
}

fn batteries(reader: &Reader<'_>) -> Vec<EnergyCounter> {
    const FOLDER: &str = "/sys/class/power_supply";
    let mut counters = Vec::new();
    for name in reader.names(FOLDER) {
        let path = format!("{FOLDER}/{name}");
        // `scope` is Device for the batteries of mice and headsets.
        let own = reader.text(&format!("{path}/scope")).is_none_or(|scope| scope != "Device");
        if !own || reader.text(&format!("{path}/type")).is_none_or(|kind| kind != "Battery") {
            continue;
        }
        let files = reader.names(&path);
        let has = |file: &str| files.iter().any(|name| name == file);
        let kind = if has("energy_now") {
            EnergyKind::BatteryEnergy
        } else if has("charge_now") && has("voltage_now") {
            EnergyKind::BatteryCharge
        } else {
            continue;
        };
        counters.push(EnergyCounter { name, path, kind });
    }
    counters
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RecordedHost;

    fn counter(kind: EnergyKind) -> EnergyCounter {
        EnergyCounter { name: "x".to_owned(), path: "/x".to_owned(), kind }
    }

    #[test]
    fn wraps_are_followed() {
        let rapl = counter(EnergyKind::Powercap { range_uj: Some(1000) });
        assert_eq!(rapl.used_uj(900, 100), Some(200));
        assert_eq!(rapl.used_uj(100, 900), Some(800));
        assert_eq!(rapl.used_uj(1100, 100), None, "a reading above the range");
        assert_eq!(counter(EnergyKind::Hwmon).used_uj(2, 1), None);
        assert_eq!(counter(EnergyKind::BatteryEnergy).used_uj(7, 5), Some(2));
    }

    #[test]
    fn units_become_microjoules() {
        let text = "/x/energy_now = 2\n/x/charge_now = 1000000\n/x/voltage_now = 12000000";
        let host = RecordedHost::from_listing(text).unwrap();
        assert_eq!(counter(EnergyKind::BatteryEnergy).read_uj(&host), Ok(7200));
        // 1 Ah at 12 V is 43.2 kJ.
        assert_eq!(counter(EnergyKind::BatteryCharge).read_uj(&host), Ok(43_200_000_000));
    }
}
