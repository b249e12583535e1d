//! Successive windows of a recording.

use super::{InputError, Recording};
use std::borrow::Borrow;

/// Cuts overlapping windows from a recording that is repeated without end.
///
/// Window n starts at sample n * hop. After the last sample the first one follows: the stream is
/// the recording over and over, and a window may hold its end and its beginning. Nothing is reset
/// there; such windows are marked ([`WindowInfo::seam`]), for the jump is not in the recording.
///
/// The recording may be owned, borrowed or shared (`Arc`).
#[derive(Clone, Debug)]
pub struct WindowSource<R> {
    recording: R,
    window: usize,
    hop: usize,
    next: WindowInfo,
}

/// Which window it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WindowInfo {
    /// Counted from 0.
    pub index: u64,
    /// Its first sample in the recording.
    pub start: usize,
    /// The recording's end is followed by its beginning inside this window or just before it.
    pub seam: bool,
}

impl<R: Borrow<Recording>> WindowSource<R> {
    /// Windows of `window` samples per channel, every `hop` samples.
    ///
    /// # Errors
    /// A hop of 0 or longer than the window, or a recording shorter than a window.
    pub fn new(recording: R, window: usize, hop: usize) -> Result<WindowSource<R>, InputError> {
        let owner: &Recording = recording.borrow();
        let source = &owner.source;
        if hop == 0 || hop > window {
            let expected = format!("1 to {window} samples (the window)");
            let hint = "windows must touch: half the window is usual";
            return Err(InputError::new(source, "hop", expected, hop, hint));
        }
        let frames = owner.frames();
        if frames < window {
            let expected = format!("at least {window} samples per channel (one window)");
            let hint = "use a shorter window or a longer recording";
            return Err(InputError::new(source, "length", expected, frames, hint));
        }
        Ok(WindowSource { recording, window, hop, next: WindowInfo::default() })
    }

    /// Samples in a window over all channels: the length [`fill`](WindowSource::fill) expects.
    pub fn window_len(&self) -> usize {
        self.window * self.recording.borrow().channels
    }

    /// Writes the next window, `[t][c]`, and steps on. Allocates nothing.
    ///
    /// # Errors
    /// A buffer of another length than [`window_len`](WindowSource::window_len); no step is made.
    pub fn fill(&mut self, buffer: &mut [f32]) -> Result<WindowInfo, InputError> {
        let recording = self.recording.borrow();
        let (frames, channels) = (recording.frames(), recording.channels);
        if buffer.len() != self.window_len() {
            let hint = "allocate window_len() samples";
            let (expected, found) = (self.window_len().to_string(), buffer.len());
            return Err(InputError::new(&recording.source, "window buffer", expected, found, hint));
        }
        let WindowInfo { index, start, .. } = self.next;
        // The window is no longer than the recording, so it wraps at most once.
        let before_end = (frames - start).min(self.window);
        let (head, tail) = buffer.split_at_mut(before_end * channels);
        head.copy_from_slice(&recording.samples[start * channels..][..head.len()]);
        tail.copy_from_slice(&recording.samples[..tail.len()]);
        let seam = before_end < self.window || (start == 0 && index > 0);
        self.next =
            WindowInfo { index: index + 1, start: (start + self.hop) % frames, seam: false };
        Ok(WindowInfo { index, start, seam })
    }

    /// Starts again at the recording's beginning.
    pub fn rewind(&mut self) {
        self.next = WindowInfo::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recording(frames: usize) -> Recording {
        let samples = (0..frames * 2).map(|i| i as f32).collect();
        Recording::new("test", 10.0, 2, samples, None).unwrap()
    }

    #[test]
    fn windows_step_by_the_hop_and_wrap() {
        let recording = recording(5);
        let mut windows = WindowSource::new(&recording, 4, 2).unwrap();
        let mut buffer = [0.0; 8];
        let mut seen = Vec::new();
        for _ in 0..6 {
            let info = windows.fill(&mut buffer).unwrap();
            seen.push((info.index, info.start, info.seam, buffer[0], buffer[7]));
        }
        assert_eq!(
            seen,
            [
                (0, 0, false, 0.0, 7.0),
                (1, 2, true, 4.0, 1.0),
                (2, 4, true, 8.0, 5.0),
                (3, 1, false, 2.0, 9.0),
                (4, 3, true, 6.0, 3.0),
                (5, 0, true, 0.0, 7.0),
            ]
        );
        windows.rewind();
        assert_eq!(windows.fill(&mut buffer).unwrap(), WindowInfo::default());
    }

    #[test]
    fn wrong_shapes_are_errors() {
        let recording = recording(5);
        let error = WindowSource::new(&recording, 6, 2).unwrap_err();
        assert_eq!(
            error.to_string(),
            "test: length: expected at least 6 samples per channel (one window), found 5"
        );
        assert!(WindowSource::new(&recording, 4, 0).is_err());
        assert!(WindowSource::new(&recording, 4, 5).is_err());
        let mut windows = WindowSource::new(&recording, 4, 4).unwrap();
        assert!(windows.fill(&mut [0.0; 7]).is_err());
        assert_eq!(windows.fill(&mut [0.0; 8]).unwrap().index, 0);
    }
}
