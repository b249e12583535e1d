//! Limits of power, and where power comes from.

use super::tolerant::Tolerant;

/// One constraint of a powercap zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PowerLimit {
    /// Name of the zone: `package-0`.
    pub zone: String,
    /// Name of the constraint: `long_term`, `short_term`, `peak_power`.
    pub constraint: String,
    /// The file of the limit.
    pub path: String,
    /// The limit, in microwatts.
    pub limit_uw: u64,
    /// The highest limit that the zone declares, in microwatts; some declare 0 or nothing.
    pub highest_uw: Option<u64>,
    /// The time over which power is averaged, in microseconds.
    pub window_us: Option<u64>,
}

/// Mains, battery and profile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Supply {
    /// Mains: the file and whether it is plugged in.
    pub mains: Option<(String, bool)>,
    /// The firmware's profile: `low-power`, `quiet`, `balanced`, `performance`...
    pub profile: Option<String>,
    /// The profiles that could be chosen.
    pub profiles: Vec<String>,
}

/// Constraints of a zone are numbered; RAPL has up to three.
const CONSTRAINTS: std::ops::Range<u32> = 0..4;

pub(super) fn limits(files: &Tolerant<'_>) -> Vec<PowerLimit> {
    const FOLDER: &str = "/sys/class/powercap";
    let mut limits = Vec::new();
    for zone in files.names(FOLDER) {
        let folder = format!("{FOLDER}/{zone}");
        let Some(name) = files.name(&format!("{folder}/name")) else { continue };
        // A zone that is switched off limits nothing.
        if files.name(&format!("{folder}/enabled")).is_some_and(|enabled| enabled == "0") {
            continue;
        }
        for index in CONSTRAINTS {
            let file = |what: &str| format!("{folder}/constraint_{index}_{what}");
            let path = file("power_limit_uw");
            let Some(limit_uw) = files.number(&path) else { continue };
            limits.push(PowerLimit {
                zone: name.clone(),
                constraint: files.name(&file("name")).unwrap_or_else(|| index.to_string()),
                limit_uw,
                // Zones without a declared maximum answer with an error.
                highest_uw: files.quiet(&file("max_power_uw")).and_then(|text| text.parse().ok()),
                window_us: files.quiet(&file("time_window_us")).and_then(|text| text.parse().ok()),
                path,
            });
        }
    }
    limits
}

pub(super) fn supply(files: &Tolerant<'_>) -> Supply {
    const FOLDER: &str = "/sys/class/power_supply";
    let profiles = files.name("/sys/firmware/acpi/platform_profile_choices").unwrap_or_default();
    let mains: Vec<(String, bool)> = files
        .names(FOLDER)
        .into_iter()
        .map(|name| format!("{FOLDER}/{name}"))
        .filter(|path| {
            files
                .quiet(&format!("{path}/type"))
                .is_some_and(|kind| kind == "Mains" || kind == "USB")
        })
        .filter_map(|path| {
            let path = format!("{path}/online");
            // 2 is "plugged in, at a fixed power" (USB-C).
            let online = files.quiet(&path)?.parse::<u32>().ok()?;
            Some((path, online > 0))
        })
        .collect();
    Supply {
        // Several sockets: one that delivers is enough.
        mains: mains.iter().find(|(_, online)| *online).or(mains.first()).cloned(),
        profile: files.name("/sys/firmware/acpi/platform_profile"),
        profiles: profiles.split_whitespace().map(str::to_owned).collect(),
    }
}
