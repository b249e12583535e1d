//! Memory that children do not begin with a copy of.
#![expect(unsafe_code, reason = "a mapping, and what a child is to see of it")]

use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// Zeroed memory of this process alone. A program is started as a copy of this process, and the larger that is the longer
/// it takes: with the page tables of a load's buffer a start took two to ten times as long, which the program's response
/// would have had in it.
#[derive(Debug)]
pub struct OwnMemory {
    base: NonNull<u64>,
    words: usize,
}

// SAFETY: the mapping belongs to this object alone.
unsafe impl Send for OwnMemory {}

impl OwnMemory {
    /// So many words of 8 bytes, at least one; none where there is no memory for them.
    #[must_use]
    pub fn zeroed(words: usize) -> Option<OwnMemory> {
        let bytes = words.max(1).checked_mul(size_of::<u64>())?;
        let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping wherever the system has room for it.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, kind, -1, 0) };
        if base == libc::MAP_FAILED {
            return None;
        }
        // SAFETY: the whole of that mapping, whose bytes the advice does not change. Refused, it is as other memory.
        unsafe { libc::madvise(base, bytes, libc::MADV_DONTFORK) };
        Some(OwnMemory { base: NonNull::new(base.cast())?, words })
    }
}

impl Drop for OwnMemory {
    fn drop(&mut self) {
        let bytes = self.words.max(1) * size_of::<u64>();
        // SAFETY: this mapping, of this length, and nobody refers to it any more.
        unsafe { libc::munmap(self.base.as_ptr().cast(), bytes) };
    }
}

impl Deref for OwnMemory {
    type Target = [u64];

    fn deref(&self) -> &[u64] {
        // SAFETY: so many zeroed or written words, which live as long as this object.
        unsafe { std::slice::from_raw_parts(self.base.as_ptr(), self.words) }
    }
}

impl DerefMut for OwnMemory {
    fn deref_mut(&mut self) -> &mut [u64] {
        // SAFETY: as above, and borrowed alone.
        unsafe { std::slice::from_raw_parts_mut(self.base.as_ptr(), self.words) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_written_and_left_out_of_children() {
        let mut memory = OwnMemory::zeroed(1 << 15).unwrap();
        assert_eq!((memory.len(), memory[7]), (1 << 15, 0));
        memory.fill(3);
        assert!(memory.iter().all(|word| *word == 3));
        let (place, mut inside) = (memory.as_ptr().addr(), false);
        let maps = fs_err::read_to_string("/proc/self/smaps").unwrap();
        let left_out = maps.lines().any(|line| {
            let bounds = line.split_once(' ').and_then(|(range, _)| range.split_once('-'));
            let number = |text| usize::from_str_radix(text, 16).ok();
            if let Some((Some(from), Some(to))) = bounds.map(|(a, b)| (number(a), number(b))) {
                inside = (from..to).contains(&place);
            }
            inside && line.starts_with("VmFlags:") && line.contains(" dc")
        });
        assert!(left_out, "{maps}");
        assert_eq!(OwnMemory::zeroed(0).unwrap().len(), 0);
        assert!(OwnMemory::zeroed(usize::MAX).is_none() && OwnMemory::zeroed(1 << 60).is_none());
    }
}
