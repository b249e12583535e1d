//! The schema of an experiment, for editors; docs/reference has it.

use super::Experiment;
use serde_json::Value;

/// JSON Schema of an experiment, for editors.
pub fn json_schema() -> String {
    let mut schema = schemars::schema_for!(Experiment).to_value();
    describe_kernel_keys(&mut schema);
    let mut text = serde_json::to_string_pretty(&schema).unwrap_or_default();
    text.push('\n');
    text
}

/// Gives the keys that a workload only passes on to its kernel the kernel's own description.
fn describe_kernel_keys(schema: &mut Value) {
    let kernels = schemars::schema_for!(flyball_signal::WorkloadSpec).to_value();
    let keys = schema.pointer_mut("/$defs/Workload/properties").and_then(Value::as_object_mut);
    for (key, about) in keys.into_iter().flatten() {
        let said = kernels.pointer(&format!("/properties/{key}/description"));
        if let (Some(about), Some(said), true) =
            (about.as_object_mut(), said, KERNEL_KEYS.contains(&key.as_str()))
        {
            about.insert("description".to_owned(), said.clone());
        }
    }
}

/// Keys of a workload that mean what they mean to its kernel.
const KERNEL_KEYS: [&str; 7] = ["window", "hop", "f0_hz", "q", "bands_hz", "taps", "n_fft"];
