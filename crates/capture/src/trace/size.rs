//! Sizes of buffers, as people write them.

/// Reads a size such as `512K`, `4M` or `1G`, or a plain number of bytes.
///
/// # Errors
/// Another text, or a size that no buffer has: what was expected, and what was found.
pub fn bytes(text: &str) -> Result<u64, String> {
    let upper = text.trim().to_ascii_uppercase();
    let digits = upper.trim_end_matches(['I', 'B']);
    let (digits, shift) = match digits.strip_suffix(['K', 'M', 'G']) {
        Some(rest) if digits.ends_with('K') => (rest, 10),
        Some(rest) if digits.ends_with('M') => (rest, 20),
        Some(rest) => (rest, 30),
        None => (digits, 0),
    };
    let size = digits.trim().parse::<u64>().ok().and_then(|n| n.checked_mul(1 << shift));
    size.filter(|size| (4096..=1 << 36).contains(size))
        .ok_or_else(|| format!("a size from 4K to 64G such as 16M, found {text:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(bytes("4096"), Ok(4096));
        assert_eq!(bytes("512k"), Ok(512 << 10));
        assert_eq!(bytes("4MiB"), Ok(4 << 20));
        assert_eq!(bytes("1G"), Ok(1 << 30));
        for wrong in ["", "M", "1", "1T", "99999999999G", "-4M"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }
}
