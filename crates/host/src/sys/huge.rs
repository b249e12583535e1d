//! Large pieces of memory in huge pages: a table of a million rows comes to life in some dozens of page faults
//! instead of tens of thousands, which else cost more than reading it.
#![expect(unsafe_code, reason = "an allocator")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::null_mut;

/// From here on a piece is a mapping of its own: one huge page.
const LARGE: usize = 2 << 20;

/// The alignment that every mapping has.
const PAGE: usize = 4096;

/// The system's allocator, but for pieces of 2 MiB and more, which ask for huge pages. For a program that holds
/// large tables: `#[global_allocator] static MEMORY: HugePages = HugePages;`.
#[derive(Debug, Clone, Copy, Default)]
pub struct HugePages;

/// Whether a piece is a mapping; a matter of its layout alone, so that who frees it knows.
fn is_mapped(layout: Layout) -> bool {
    layout.size() >= LARGE && layout.align() <= PAGE
}

/// Asks for huge pages; where there are none, small ones do.
fn advise(piece: *mut u8, size: usize) {
    // SAFETY: the bytes are a mapping of the caller's; the advice changes none of them.
    unsafe { libc::madvise(piece.cast(), size, libc::MADV_HUGEPAGE) };
}

fn map(size: usize) -> *mut u8 {
    let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping wherever the system has room for it.
    let piece = unsafe { libc::mmap(null_mut(), size, access, kind, -1, 0) };
    if piece == libc::MAP_FAILED {
        return null_mut();
    }
    advise(piece.cast(), size);
    piece.cast()
}

// SAFETY: pieces come from the system's allocator or are mappings of at least their size, and go back to where
// they came from, which `is_mapped` tells by the layout. Nothing here panics.
unsafe impl GlobalAlloc for HugePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_mapped(layout) {
            return map(layout.size());
        }
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if is_mapped(layout) {
            return map(layout.size());
        }
        // SAFETY: the caller's promise.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, piece: *mut u8, layout: Layout) {
        if is_mapped(layout) {
            // SAFETY: the whole mapping that `map` or `realloc` made of this layout.
            unsafe { libc::munmap(piece.cast(), layout.size()) };
            return;
        }
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(piece, layout) }
    }

    unsafe fn realloc(&self, piece: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller promises that `size` is no overflow at this alignment.
        let wanted = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        match (is_mapped(layout), is_mapped(wanted)) {
            // SAFETY: the caller's promise.
            (false, false) => unsafe { System.realloc(piece, layout, size) },
            (true, true) => {
                // SAFETY: the whole mapping; nobody holds on to where it was.
                let moved = unsafe {
                    libc::mremap(piece.cast(), layout.size(), size, libc::MREMAP_MAYMOVE)
                };
                if moved == libc::MAP_FAILED {
                    return null_mut();
                }
                advise(moved.cast(), size);
                moved.cast()
            }
            _ => {
                // SAFETY: `wanted` is as good as the caller's layout.
                let other = unsafe { self.alloc(wanted) };
                if !other.is_null() {
                    let kept = layout.size().min(size);
                    // SAFETY: two pieces, each of at least `kept` bytes; the old one is freed once.
                    unsafe {
                        other.copy_from_nonoverlapping(piece, kept);
                        self.dealloc(piece, layout);
                    }
                }
                other
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_grow_and_shrink_across_the_limit_with_what_they_hold() {
        let layout = |size| Layout::from_size_align(size, 8).unwrap();
        let sizes = [100, LARGE - 1, LARGE, 3 * LARGE + 1, LARGE, 60, 2 * LARGE];
        // SAFETY: each piece is used within its layout, and freed once.
        unsafe {
            let mut piece = HugePages.alloc(layout(sizes[0]));
            (0..50).for_each(|at| piece.add(at).write(at as u8));
            for pair in sizes.windows(2) {
                piece = HugePages.realloc(piece, layout(pair[0]), pair[1]);
                assert!((0..50).all(|at| piece.add(at).read() == at as u8), "{pair:?}");
                piece.add(pair[1] - 1).write(7);
            }
            HugePages.dealloc(piece, layout(2 * LARGE));
            let zeroed = HugePages.alloc_zeroed(layout(LARGE));
            assert!((0..LARGE).step_by(4096).all(|at| zeroed.add(at).read() == 0));
            HugePages.dealloc(zeroed, layout(LARGE));
            assert!(HugePages.alloc(layout(1 << 62)).is_null(), "no memory is told as such");
        }
    }
}
