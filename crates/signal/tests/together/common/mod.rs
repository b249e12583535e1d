//! A writer of EDF files, for tests only: every field can be set, also to nonsense.

/// One channel of a file to write.
#[derive(Clone)]
pub struct Channel {
    pub label: String,
    pub unit: String,
    pub physical: [String; 2],
    pub digital: [String; 2],
    pub per_record: usize,
    /// Samples of all records, one after the other.
    pub values: Vec<i16>,
}

impl Channel {
    /// A channel in microvolts from -3276.8 to 3276.7, ten steps per microvolt.
    pub fn new(label: &str, per_record: usize, values: Vec<i16>) -> Channel {
        Channel {
            label: label.into(),
            unit: "uV".into(),
            physical: ["-3276.8".into(), "3276.7".into()],
            digital: ["-32768".into(), "32767".into()],
            per_record,
            values,
        }
    }
}

/// A file to write. Fields are text, so that tests can write what no recorder would.
#[derive(Clone)]
pub struct Edf {
    pub version: String,
    pub reserved: String,
    pub header_bytes: Option<String>,
    pub records: Option<String>,
    pub record_seconds: String,
    pub signals: Option<String>,
    pub channels: Vec<Channel>,
}

impl Edf {
    /// A whole EDF+C file of one-second records.
    pub fn new(channels: Vec<Channel>) -> Edf {
        Edf {
            version: "0".into(),
            reserved: "EDF+C".into(),
            header_bytes: None,
            records: None,
            record_seconds: "1".into(),
            signals: None,
            channels,
        }
    }

    pub fn bytes(&self) -> Vec<u8> {
        let records = self.channels.first().map_or(0, |c| c.values.len() / c.per_record.max(1));
        let count = self.channels.len();
        let mut out = Vec::new();
        let text = |value: &Option<String>, computed: usize| {
            value.clone().unwrap_or_else(|| computed.to_string())
        };
        field(&mut out, &self.version, 8);
        field(&mut out, "X F X Test_Person", 80);
        field(&mut out, "Startdate 20-NOV-2026 X X X", 80);
        field(&mut out, "20.11.26", 8);
        field(&mut out, "12.00.00", 8);
        field(&mut out, &text(&self.header_bytes, 256 * (count + 1)), 8);
        field(&mut out, &self.reserved, 44);
        field(&mut out, &text(&self.records, records), 8);
        field(&mut out, &self.record_seconds, 8);
        field(&mut out, &text(&self.signals, count), 4);
        let mut all = |length: usize, get: &dyn Fn(&Channel) -> String| {
            for channel in &self.channels {
                field(&mut out, &get(channel), length);
            }
        };
        all(16, &|c| c.label.clone());
        all(80, &|_| "AgAgCl electrode".into());
        all(8, &|c| c.unit.clone());
        all(8, &|c| c.physical[0].clone());
        all(8, &|c| c.physical[1].clone());
        all(8, &|c| c.digital[0].clone());
        all(8, &|c| c.digital[1].clone());
        all(80, &|_| "HP:0.1Hz".into());
        all(8, &|c| c.per_record.to_string());
        all(32, &|_| String::new());
        for record in 0..records {
            for channel in &self.channels {
                let values = &channel.values[record * channel.per_record..][..channel.per_record];
                out.extend(values.iter().flat_map(|value| value.to_le_bytes()));
            }
        }
        out
    }
}

fn field(out: &mut Vec<u8>, text: &str, length: usize) {
    let mut bytes: Vec<u8> = text.bytes().collect();
    bytes.resize(length, b' ');
    out.extend(bytes);
}
