//! A recording in memory.

use super::{Given, InputError};

/// Samples of several channels at one rate.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    /// Sampling rate in Hz, positive.
    pub rate_hz: f64,
    /// Number of channels, at least 1.
    pub channels: usize,
    /// Microvolts, sample-major `[t][c]`; NaN where a sample is missing.
    pub samples: Vec<f32>,
    /// One label per channel.
    pub labels: Vec<String>,
    /// Where it comes from: a path, or how it was made.
    pub source: String,
}

impl Recording {
    /// From samples in memory; without labels the channels are called 1, 2, 3 and so on.
    ///
    /// # Errors
    /// A rate that is not positive, no channel, no sample, an incomplete last sample, or as many
    /// labels as there are not channels.
    pub fn new(
        source: &str,
        rate_hz: f64,
        channels: usize,
        samples: Vec<f32>,
        labels: Option<Vec<String>>,
    ) -> Result<Recording, InputError> {
        let fail = |what: &str, expected: &str, found: String, hint: &str| {
            Err(InputError::new(source, what, expected, found, hint))
        };
        if !(rate_hz.is_finite() && rate_hz > 0.0) {
            let hint = "state the sampling rate of the recording, such as 160";
            return fail("rate_hz", "a positive number of Hz", rate_hz.to_string(), hint);
        }
        if channels == 0 {
            return fail("channels", "at least 1", "0".into(), "is this the right file?");
        }
        if samples.is_empty() {
            return fail("samples", "at least 1", "0".into(), "the file has no data: record again");
        }
        if !samples.len().is_multiple_of(channels) {
            let expected = format!("a multiple of {channels} (the channels)");
            let hint = "the file is cut off, or the number of channels is wrong";
            return fail("samples", &expected, samples.len().to_string(), hint);
        }
        let labels = labels.unwrap_or_else(|| (1..=channels).map(|c| c.to_string()).collect());
        if labels.len() != channels {
            let expected = format!("{channels} (the channels)");
            return fail("labels", &expected, labels.len().to_string(), "one label per channel");
        }
        Ok(Recording { rate_hz, channels, samples, labels, source: source.to_owned() })
    }

    /// Samples per channel.
    pub fn frames(&self) -> usize {
        self.samples.len() / self.channels.max(1)
    }

    /// Length in seconds.
    pub fn seconds(&self) -> f64 {
        self.frames() as f64 / self.rate_hz
    }

    /// How many samples are no finite numbers.
    pub fn missing(&self) -> usize {
        self.samples.iter().filter(|x| !x.is_finite()).count()
    }

    /// Checks the rate and the number of channels against what the experiment states.
    ///
    /// # Errors
    /// Either differs. Nothing is resampled, dropped or repeated behind the user's back.
    pub fn require(&self, given: Given) -> Result<(), InputError> {
        if let Some(rate) = given.rate_hz
            && rate != self.rate_hz
        {
            let hint = format!("state rate_hz = {}, or resample the recording", self.rate_hz);
            let expected = format!("{rate} Hz");
            let found = format!("{} Hz", self.rate_hz);
            return Err(InputError::new(&self.source, "rate_hz", expected, found, hint));
        }
        if let Some(channels) = given.channels
            && channels != self.channels
        {
            let hint = format!("state channels = {}, or use another recording", self.channels);
            return Err(InputError::new(
                &self.source,
                "channels",
                channels.to_string(),
                self.channels,
                hint,
            ));
        }
        Ok(())
    }
}
