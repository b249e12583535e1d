//! The parameters of a kernel, the sources' values, and what each kernel requires of them.

use crate::{Kernel, ParamError};

/// Most samples that the buffers of one workload may hold, `(window + taps) * channels`: 256 MiB
/// in double precision. A window of a million samples over 64 channels is still far below it.
const MAX_BUFFER_SAMPLES: usize = 1 << 25;
/// Longest transform: 2^20 bins of 16 bytes are already beyond any second-level cache.
const MAX_FFT: usize = 1 << 20;

/// What a kernel works with. The defaults are those of the sources: 160 Hz, windows of 160 samples
/// every 80, 64 channels.
#[derive(Clone, Debug, PartialEq)]
pub struct Params {
    /// Sampling rate in Hz.
    pub rate_hz: f64,
    /// Samples per channel in a window, W.
    pub window: usize,
    /// Samples from one window's start to the next, H, at most W.
    pub hop: usize,
    /// Channels, C.
    pub channels: usize,
    /// notch_iir: the frequency removed, in Hz.
    pub f0_hz: f64,
    /// notch_iir: quality factor, f0 over the -3 dB bandwidth.
    pub q: f64,
    /// goertzel and bandpass_fir: bands as `[low, high]` in Hz.
    pub bands_hz: Vec<[f64; 2]>,
    /// bandpass_fir: length of the impulse response in samples.
    pub taps: usize,
    /// welch_psd: length of the transform in samples, a power of two.
    pub n_fft: usize,
}

impl Params {
    /// The sources' values for a kernel.
    pub fn defaults(kernel: Kernel) -> Params {
        let bands_hz = match kernel {
            Kernel::Goertzel => vec![[8.0, 13.0], [13.0, 30.0]],
            _ => vec![[8.0, 30.0]],
        };
        Params {
            rate_hz: 160.0,
            window: 160,
            hop: 80,
            channels: 64,
            f0_hz: 60.0,
            q: 30.0,
            bands_hz,
            taps: 129,
            n_fft: 256,
        }
    }

    /// Samples in one window over all channels, W * C.
    pub fn input_len(&self) -> usize {
        self.window * self.channels
    }

    /// Checks what the kernel uses; what it does not use is not looked at.
    ///
    /// # Errors
    /// The first parameter out of its range, with the range.
    pub fn validate(&self, kernel: Kernel) -> Result<(), ParamError> {
        self.validate_shape(kernel)?;
        match kernel {
            Kernel::Car | Kernel::Noop => Ok(()),
            Kernel::NotchIir => self.validate_notch(kernel),
            Kernel::Goertzel => self.validate_bands(kernel, |low, high, half| {
                low >= 0.0 && low <= high && high <= half
            }),
            Kernel::BandpassFir => self.validate_fir(kernel),
            Kernel::WelchPsd => self.validate_welch(kernel),
        }
    }

    fn validate_shape(&self, kernel: Kernel) -> Result<(), ParamError> {
        let fail = |name, expected: &str, found: String, hint: &str| {
            Err(ParamError::new(kernel, name, expected, found, hint))
        };
        if !(self.rate_hz.is_finite() && self.rate_hz > 0.0) {
            let hint = "state the sampling rate of the recording, such as rate_hz = 160";
            return fail("rate_hz", "a positive number of Hz", self.rate_hz.to_string(), hint);
        }
        if self.window == 0 {
            return fail("window", "at least 1 sample", "0".into(), "the sources use window = 160");
        }
        if self.channels == 0 {
            return fail("channels", "at least 1", "0".into(), "the sources use channels = 64");
        }
        if self.hop == 0 || self.hop > self.window {
            let expected = format!("1 to {} samples (the window)", self.window);
            let hint = "windows must touch: half the window is usual";
            return fail("hop", &expected, self.hop.to_string(), hint);
        }
        let taps = if kernel == Kernel::BandpassFir { self.taps } else { 0 };
        let samples = self.window.checked_add(taps).and_then(|n| n.checked_mul(self.channels));
        if samples.is_none_or(|n| n > MAX_BUFFER_SAMPLES) {
            let expected = format!("at most {MAX_BUFFER_SAMPLES} samples in all channels together");
            let found = format!("{} samples of {} channels", self.window, self.channels);
            return fail("window", &expected, found, "use a shorter window or fewer channels");
        }
        Ok(())
    }

    fn validate_notch(&self, kernel: Kernel) -> Result<(), ParamError> {
        let half = self.rate_hz / 2.0;
        if !(self.f0_hz > 0.0 && self.f0_hz < half) {
            let expected = format!("above 0 and below {half} Hz (half the rate)");
            let hint = "the power line is 50 or 60 Hz; a rate of at least 160 Hz has room for both";
            return Err(ParamError::new(kernel, "f0_hz", expected, self.f0_hz, hint));
        }
        // The -3 dB bandwidth f0/q must stay below half the rate, else tan() leaves its branch.
        let least = self.f0_hz / half;
        if !(self.q.is_finite() && self.q > least) {
            let expected = format!("a finite number above {least:.4} (f0 over half the rate)");
            return Err(ParamError::new(kernel, "q", expected, self.q, "the sources use q = 30"));
        }
        Ok(())
    }

    fn validate_bands(
        &self,
        kernel: Kernel,
        fits: impl Fn(f64, f64, f64) -> bool,
    ) -> Result<(), ParamError> {
        let half = self.rate_hz / 2.0;
        let name = "bands_hz";
        if self.bands_hz.is_empty() {
            let hint = "such as bands_hz = [[8, 13], [13, 30]]";
            return Err(ParamError::new(kernel, name, "at least one [low, high]", "none", hint));
        }
        for &[low, high] in &self.bands_hz {
            if !fits(low, high, half) {
                let expected =
                    format!("[low, high] in rising order between 0 and {half} Hz (half the rate)");
                let hint = "give the lower edge first, both in Hz";
                return Err(ParamError::new(
                    kernel,
                    name,
                    expected,
                    format!("[{low}, {high}]"),
                    hint,
                ));
            }
        }
        Ok(())
    }

    fn validate_fir(&self, kernel: Kernel) -> Result<(), ParamError> {
        if self.taps < 3 {
            let hint = "the sources use taps = 129; more taps give steeper edges";
            return Err(ParamError::new(kernel, "taps", "at least 3", self.taps, hint));
        }
        self.validate_bands(kernel, |low, high, half| low > 0.0 && low < high && high < half)?;
        let rising = self.bands_hz.windows(2).all(|pair| pair[0][1] < pair[1][0]);
        if !rising {
            let found = format!("{:?}", self.bands_hz);
            let hint = "join bands that touch, and list them from low to high";
            let expected = "rising bands with gaps between them";
            return Err(ParamError::new(kernel, "bands_hz", expected, found, hint));
        }
        Ok(())
    }

    fn validate_welch(&self, kernel: Kernel) -> Result<(), ParamError> {
        if !self.n_fft.is_power_of_two() || !(2..=MAX_FFT).contains(&self.n_fft) {
            let near = self.n_fft.clamp(2, MAX_FFT).next_power_of_two().min(MAX_FFT);
            let expected = format!("a power of two from 2 to {MAX_FFT}");
            let hint = format!("n_fft = {near} is the nearest that is long enough");
            return Err(ParamError::new(kernel, "n_fft", expected, self.n_fft, hint));
        }
        if (self.n_fft / 2 + 1).saturating_mul(self.channels) > MAX_BUFFER_SAMPLES {
            let expected = format!("at most {MAX_BUFFER_SAMPLES} bins in all channels together");
            let found = format!("{} bins of {} channels", self.n_fft / 2 + 1, self.channels);
            let hint = "use a shorter transform or fewer channels";
            return Err(ParamError::new(kernel, "n_fft", expected, found, hint));
        }
        if self.window.min(self.n_fft) < 2 {
            let hint = "a spectrum needs more than one sample";
            return Err(ParamError::new(kernel, "window", "at least 2", self.window, hint));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(kernel: Kernel, change: impl Fn(&mut Params)) -> ParamError {
        let mut params = Params::defaults(kernel);
        change(&mut params);
        params.validate(kernel).unwrap_err()
    }

    #[test]
    fn defaults_are_valid() {
        for &kernel in Kernel::ALL {
            Params::defaults(kernel).validate(kernel).unwrap();
        }
    }

    #[test]
    fn each_error_names_the_parameter_and_the_range() {
        use Kernel::{BandpassFir, Car, Goertzel, NotchIir, WelchPsd};
        let cases: [(ParamError, &str); 17] = [
            (refused(Car, |p| p.rate_hz = f64::NAN), "rate_hz"),
            (refused(Car, |p| p.rate_hz = -1.0), "rate_hz"),
            (refused(Car, |p| p.window = 0), "window"),
            (refused(Car, |p| p.window = usize::MAX), "hop_or_window"),
            (refused(Car, |p| p.channels = 0), "channels"),
            (refused(Car, |p| p.hop = 161), "hop"),
            (refused(Car, |p| p.hop = 0), "hop"),
            (refused(NotchIir, |p| p.f0_hz = 80.0), "f0_hz"),
            (refused(NotchIir, |p| p.q = 0.5), "q"),
            (refused(Goertzel, |p| p.bands_hz = vec![]), "bands_hz"),
            (refused(Goertzel, |p| p.bands_hz = vec![[13.0, 8.0]]), "bands_hz"),
            (refused(Goertzel, |p| p.bands_hz = vec![[8.0, f64::NAN]]), "bands_hz"),
            (refused(BandpassFir, |p| p.taps = 1), "taps"),
            (refused(BandpassFir, |p| p.bands_hz = vec![[8.0, 20.0], [20.0, 30.0]]), "bands_hz"),
            (refused(WelchPsd, |p| p.n_fft = 200), "n_fft"),
            (refused(WelchPsd, |p| (p.n_fft, p.channels) = (1 << 20, 1000)), "n_fft"),
            (refused(WelchPsd, |p| (p.window, p.hop) = (1, 1)), "window"),
        ];
        for (error, name) in cases {
            assert!(name.contains(error.name), "{error}");
            assert!(!error.hint().is_empty());
        }
        let error = refused(NotchIir, |p| p.f0_hz = 90.0);
        assert_eq!(
            error.to_string(),
            "notch_iir: f0_hz: expected above 0 and below 80 Hz (half the rate), found 90"
        );
        assert_eq!(
            refused(WelchPsd, |p| p.n_fft = 200).hint(),
            "n_fft = 256 is the nearest that is long enough"
        );
    }
}
