//! A page of the kernel's ring buffer: a time, how much of it is filled, and events with the time
//! that passed since the one before.
//!
//! ```text
//!   bits 0 to 4   type: 1 to 28 a record of so many words, 0 a record whose length follows,
//!                 29 padding, 30 more bits of time, 31 a whole time
//!   bits 5 to 31  time since the event before
//! ```

use super::format;
use crate::dat::Broken;

/// Where the parts of a page lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    timestamp: format::Field,
    commit: format::Field,
    data: usize,
    /// Bytes of a page.
    pub bytes: usize,
}

/// Bits of the field `commit`: how much is filled, whether events were lost before the page, and
/// whether their number stands behind its events.
const FILLED: u64 = (1 << 27) - 1;
const LOST: u64 = 1 << 31;
const LOST_COUNTED: u64 = 1 << 30;
/// Bits of a whole time that an event does not hold.
const TIME_BITS: u32 = 59;

impl Layout {
    /// From `header_page` of tracefs and the size of a page.
    pub fn parse(text: &str, bytes: u32) -> Result<Layout, Broken> {
        let fields: Vec<format::Field> = text.lines().filter_map(format::field).collect();
        let find = |name: &str| fields.iter().find(|field| field.name == name).cloned();
        let missing = |name: &str| Broken::Wrong {
            at: None,
            expected: format!("a field {name} in header_page"),
            found: "none".to_owned(),
        };
        let layout = Layout {
            timestamp: find("timestamp").ok_or_else(|| missing("timestamp"))?,
            commit: find("commit").ok_or_else(|| missing("commit"))?,
            data: find("data").ok_or_else(|| missing("data"))?.at,
            bytes: bytes as usize,
        };
        // Subbuffers of the kernel have up to 2^7 pages of up to 64 KiB.
        if !(64..=8 << 20).contains(&layout.bytes) || layout.data >= layout.bytes {
            return Err(Broken::Wrong {
                at: None,
                expected: "pages of 64 bytes to 8 MiB".to_owned(),
                found: format!("{bytes} bytes"),
            });
        }
        Ok(layout)
    }

    /// Opens a page.
    pub fn open(&self, page: &[u8]) -> Option<Page> {
        let t = self.timestamp.number(page)? as u64;
        let commit = self.commit.number(page)? as u64;
        let end = self.data.checked_add((commit & FILLED) as usize)?;
        let lost = (commit & LOST != 0).then(|| {
            let bytes = self.commit.bytes;
            let counted = format::Field { at: end, bytes, ..format::Field::default() };
            let count = (commit & LOST_COUNTED != 0).then(|| counted.number(page)).flatten();
            count.and_then(|count| u64::try_from(count).ok())
        });
        (end <= page.len()).then_some(Page { t, at: self.data, end, lost })
    }
}

/// Where the reading of a page is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Page {
    /// Time of the last event.
    t: u64,
    at: usize,
    end: usize,
    /// Events were lost before this page; how many, where the kernel says so.
    pub lost: Option<Option<u64>>,
}

/// A record in a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its time on the trace's clock.
    pub t: u64,
    /// Its first byte.
    pub from: usize,
    /// Its end.
    pub to: usize,
}

impl Page {
    /// The next record; none at the end.
    ///
    /// # Errors
    /// An event that goes beyond the page: the place.
    #[inline]
    pub fn next(&mut self, page: &[u8]) -> Result<Option<Place>, usize> {
        while self.at < self.end {
            let torn = self.at;
            let word = |at: usize| {
                let bytes = page.get(at..at.checked_add(4)?)?;
                Some(u32::from_le_bytes(bytes.try_into().ok()?))
            };
            let head = word(self.at).ok_or(torn)?;
            let delta = u64::from(head >> 5);
            let (from, to) = match head & 31 {
                29 if delta == 0 => {
                    self.at = self.end;
                    return Ok(None);
                }
                29 => {
                    self.t = self.t.wrapping_add(delta);
                    self.at += 4 + word(self.at + 4).ok_or(torn)? as usize;
                    continue;
                }
                30 => {
                    let high = u64::from(word(self.at + 4).ok_or(torn)?);
                    self.t = self.t.wrapping_add(delta + (high << 27));
                    self.at += 8;
                    continue;
                }
                31 => {
                    let high = u64::from(word(self.at + 4).ok_or(torn)?);
                    let low = (delta + (high << 27)) & ((1 << TIME_BITS) - 1);
                    self.t = (self.t >> TIME_BITS << TIME_BITS) | low;
                    self.at += 8;
                    continue;
                }
                0 => {
                    // The length counts itself.
                    let bytes = word(self.at + 4).ok_or(torn)? as usize;
                    (self.at + 8, self.at + 4 + bytes.max(4))
                }
                words => (self.at + 4, self.at + 4 + 4 * words as usize),
            };
            if to > self.end {
                return Err(torn);
            }
            self.t = self.t.wrapping_add(delta);
            self.at = from + (to - from).next_multiple_of(4);
            return Ok(Some(Place { t: self.t, from, to }));
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\
        \tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n\
        \tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\
        \tfield: char data;\toffset:16;\tsize:112;\tsigned:1;\n";

    fn page(commit: u64, words: &[u32]) -> Vec<u8> {
        let mut page = 1000_u64.to_le_bytes().to_vec();
        page.extend(commit.to_le_bytes());
        words.iter().for_each(|word| page.extend(word.to_le_bytes()));
        page.resize(128, 0);
        page
    }

    fn all(bytes: &[u8]) -> (Vec<(u64, usize)>, Option<usize>) {
        let mut page = Layout::parse(HEADER, 128).unwrap().open(bytes).unwrap();
        let mut found = Vec::new();
        loop {
            match page.next(bytes) {
                Ok(Some(place)) => found.push((place.t, place.to - place.from)),
                Ok(None) => return (found, None),
                Err(at) => return (found, Some(at)),
            }
        }
    }

    #[test]
    fn every_kind_of_event() {
        let words = [
            2 | 5 << 5,
            1,
            2, // two words, 5 later
            30 | 1 << 5,
            1, // 1 + 2^27 later
            10 << 5,
            9,
            7,
            7, // a length of 9: 5 bytes, in 8
            29 | 3 << 5,
            8,
            0, // 8 bytes of padding with their length, 3 later
            1 | 1 << 5,
            4, // one word
            31 | 77 << 5,
            2, // a whole time
            1,
            4, // at once
            29,
            1,
            1, // nothing from here on
        ];
        let later = 1 << 27;
        let (found, torn) = all(&page(4 * words.len() as u64, &words));
        assert_eq!(found, [(1005, 8), (1016 + later, 5), (1020 + later, 4), (77 + 2 * later, 4)]);
        assert_eq!(torn, None);
    }

    #[test]
    fn an_event_beyond_the_page_is_torn() {
        assert_eq!(all(&page(8, &[1, 4, 5, 6])), (vec![(1000, 4)], None), "only what is filled");
        assert_eq!(all(&page(12, &[1, 4, 2, 0])), (vec![(1000, 4)], Some(24)));
        let layout = Layout::parse(HEADER, 128).unwrap();
        assert!(layout.open(&page(4000, &[])).is_none(), "more filled than there is");
        assert!(Layout::parse(HEADER, 4).is_err() && Layout::parse("", 4096).is_err());
    }

    #[test]
    fn lost_events_with_and_without_their_number() {
        let layout = Layout::parse(HEADER, 128).unwrap();
        let lost = |commit, words: &[u32]| layout.open(&page(commit, words)).unwrap().lost;
        assert_eq!(lost(8, &[1, 4]), None);
        assert_eq!(lost(8 | LOST, &[1, 4]), Some(None));
        assert_eq!(lost(8 | LOST | LOST_COUNTED, &[1, 4, 12]), Some(Some(12)));
    }
}
