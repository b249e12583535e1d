//! The header of an EDF file: 256 bytes about the recording, 256 more per signal, all ASCII.

use crate::input::InputError;

/// Length of the fixed part, and of each signal's part, in bytes.
const PART: usize = 256;
const HINT: &str = "the header is damaged, or the file is no EDF: check it with an EDF tool";

/// What the data records are to be read with.
pub(super) struct Header {
    /// Length of the whole header, at most that of the file.
    pub bytes: usize,
    /// Number of records, if the recorder has written it.
    pub records: Option<u64>,
    /// Duration of a record in seconds, positive.
    pub record_seconds: f64,
    /// At least one.
    pub signals: Vec<Signal>,
}

/// One channel.
pub(super) struct Signal {
    pub label: String,
    /// Whether this is the annotation channel of EDF+.
    pub annotations: bool,
    /// Samples in each record, at least 1.
    pub per_record: usize,
    offset: f64,
    gain: f64,
}

impl Signal {
    /// The physical value: microvolts, or the channel's own unit if that is not volts.
    pub(super) fn microvolts(&self, digital: i16) -> f32 {
        (f64::from(digital) * self.gain + self.offset) as f32
    }
}

impl Header {
    /// Length of one record in bytes.
    pub(super) fn record_bytes(&self) -> usize {
        self.signals.iter().map(|signal| 2 * signal.per_record).sum()
    }

    pub(super) fn parse(bytes: &[u8], source: &str) -> Result<Header, InputError> {
        let fields = Fields { bytes, source };
        fields.check_format()?;
        let count: usize = fields.number(252, 4, "number of signals")?;
        let length = PART * (count.saturating_add(1));
        if count == 0 || length > bytes.len() {
            let expected =
                format!("1 to {} (the file has {} bytes)", bytes.len() / PART - 1, bytes.len());
            return Err(InputError::new(source, "number of signals", expected, count, HINT));
        }
        let claimed: usize = fields.number(184, 8, "header bytes")?;
        if claimed != length {
            let expected = format!("{length} ({count} signals)");
            return Err(InputError::new(source, "header bytes", expected, claimed, HINT));
        }
        let records: i64 = fields.number(236, 8, "number of records")?;
        if records < -1 {
            return Err(InputError::new(source, "number of records", "-1 or more", records, HINT));
        }
        let record_seconds: f64 = fields.number(244, 8, "record duration")?;
        if !(record_seconds.is_finite() && record_seconds > 0.0) {
            let expected = "a positive number of seconds";
            return Err(InputError::new(source, "record duration", expected, record_seconds, HINT));
        }
        let signals = (0..count).map(|i| fields.signal(i, count)).collect::<Result<_, _>>()?;
        Ok(Header { bytes: length, records: u64::try_from(records).ok(), record_seconds, signals })
    }
}

/// The header's text. Offsets are those of the format's definition.
struct Fields<'a> {
    bytes: &'a [u8],
    source: &'a str,
}

impl Fields<'_> {
    fn check_format(&self) -> Result<(), InputError> {
        let fail = |what: &str, expected: &str, found: String, hint: &str| {
            Err(InputError::new(self.source, what, expected, found, hint))
        };
        if self.bytes.len() < PART {
            let found = format!("{} bytes", self.bytes.len());
            return fail("header", "at least 256 bytes", found, "the file is cut off, or no EDF");
        }
        if self.bytes.starts_with(b"\xffBIOSEMI") {
            let hint = "convert it to EDF with an EDF tool";
            return fail("format", "EDF, 16 bits", "BDF, 24 bits".into(), hint);
        }
        if self.text(0, 8) != "0" {
            return fail("version", "`0`", format!("`{}`", self.text(0, 8)), HINT);
        }
        if self.text(192, 44).starts_with("EDF+D") {
            let hint = "windows would run across its gaps: export one uninterrupted part as EDF+C";
            return fail("format", "EDF or EDF+C", "EDF+D (interrupted)".into(), hint);
        }
        Ok(())
    }

    /// A field without its padding; bytes that are no ASCII are read as Latin-1.
    fn text(&self, at: usize, length: usize) -> String {
        let field = self.bytes.get(at..at + length).unwrap_or_default();
        let text: String = field.iter().map(|&byte| char::from(byte)).collect();
        text.trim_matches([' ', '\0']).to_owned()
    }

    fn number<T: std::str::FromStr>(
        &self,
        at: usize,
        length: usize,
        what: &str,
    ) -> Result<T, InputError> {
        let text = self.text(at, length);
        text.parse().map_err(|_| {
            InputError::new(self.source, what, "a number in its range", format!("`{text}`"), HINT)
        })
    }

    /// The fields of signal `i` of `count`: each field is stored for all signals together.
    fn signal(&self, i: usize, count: usize) -> Result<Signal, InputError> {
        let at = |before: usize, length: usize| PART + before * count + length * i;
        let label = self.text(at(0, 16), 16);
        let what = |field: &str| format!("signal {} ({label}): {field}", i + 1);
        let number = |before, field: &str| self.number::<f64>(at(before, 8), 8, &what(field));
        let unit = self.text(at(96, 8), 8);
        let physical = (number(104, "physical minimum")?, number(112, "physical maximum")?);
        let digital = (number(120, "digital minimum")?, number(128, "digital maximum")?);
        let per_record: usize = self.number(at(216, 8), 8, &what("samples per record"))?;
        if per_record == 0 {
            let what = what("samples per record");
            return Err(InputError::new(self.source, what, "at least 1", 0, HINT));
        }
        let annotations = label == "EDF Annotations";
        let gain = (physical.1 - physical.0) / (digital.1 - digital.0);
        let usable = gain.is_finite() && gain != 0.0 && digital.0 < digital.1;
        if !annotations && !usable {
            let found = format!("physical {physical:?}, digital {digital:?}");
            let expected = "two different physical and two rising digital limits";
            return Err(InputError::new(self.source, what("range"), expected, found, HINT));
        }
        let scale = microvolts_per(&unit);
        let offset = (physical.0 - digital.0 * gain) * scale;
        Ok(Signal { label, annotations, per_record, offset, gain: gain * scale })
    }
}

/// Microvolts in one unit; 1 for what is not volts.
fn microvolts_per(unit: &str) -> f64 {
    match unit {
        "V" => 1e6,
        "mV" => 1e3,
        "nV" => 1e-3,
        _ => 1.0,
    }
}
