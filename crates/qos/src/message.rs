//! What programs say at the socket: lines of text (docs/reference/qos-socket.md).

use flyball_units::{Mismatch, Nanos};

/// Bytes of the longest message, without the end of its line.
pub(crate) const LONGEST: usize = 64;
/// No deadline lies farther than this.
const FARTHEST_US: u64 = 60_000_000;

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    /// Whether it is to be answered.
    pub asks: bool,
    pub what: What,
}

/// What it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// Who is here, and what do they have?
    Status,
    /// This thread is to have something.
    Thread { tid: u32, wish: Asking },
}

/// What a thread is to have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Asking {
    /// Work begins.
    Begin,
    /// It has ended.
    End,
    /// Work is to be done so long after its begin; none: at no particular time.
    Deadline(Option<Nanos>),
    /// What a class gives; none: what rules give.
    Class(Option<String>),
}

impl Message {
    /// Reads a line.
    ///
    /// # Errors
    /// It is none, with what it could be.
    pub fn read(line: &[u8]) -> Result<Message, Mismatch> {
        let expected = "begin, end, deadline, class or status";
        let shown = || String::from_utf8_lossy(line).into_owned();
        let none = || Mismatch::text(expected, &shown());
        let text = std::str::from_utf8(line).map_err(|_| none())?;
        let (asks, text) = match text.strip_prefix('?') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let mut words = text.split(' ');
        let verb = words.next().unwrap_or_default();
        if verb == "status" {
            return match words.next() {
                None => Ok(Message { asks: true, what: What::Status }),
                Some(_) => Err(Mismatch::text("status alone", &shown())),
            };
        }
        if !["begin", "end", "deadline", "class"].contains(&verb) {
            return Err(none());
        }
        let thread = || Mismatch::text(format!("{verb} and a thread's number"), &shown());
        let tid = words.next().and_then(|word| word.parse().ok()).ok_or_else(thread)?;
        let argument = words.next();
        if words.next().is_some() {
            return Err(Mismatch::text("one word or less behind a thread's number", &shown()));
        }
        let wish = match (verb, argument) {
            ("begin", None) => Asking::Begin,
            ("end", None) => Asking::End,
            ("class", name) => Asking::Class(name.filter(|name| *name != "-").map(str::to_owned)),
            ("deadline", Some(time)) => {
                let us =
                    time.parse::<u64>().ok().filter(|us| *us <= FARTHEST_US).ok_or_else(|| {
                        Mismatch::text(format!("0 to {FARTHEST_US} us"), time).at("deadline")
                    })?;
                Asking::Deadline((us > 0).then_some(Nanos(us * 1_000)))
            }
            ("deadline", None) => return Err(Mismatch::text("a time in us", &shown())),
            _ => {
                return Err(Mismatch::text(
                    format!("{verb} and a thread's number alone"),
                    &shown(),
                ));
            }
        };
        Ok(Message { asks, what: What::Thread { tid, wish } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Message, String> {
        Message::read(text.as_bytes()).map_err(|slip| slip.to_string())
    }

    #[test]
    fn lines_are_messages() {
        let thread = |asks, tid, wish| Ok(Message { asks, what: What::Thread { tid, wish } });
        assert_eq!(read("begin 7"), thread(false, 7, Asking::Begin));
        assert_eq!(read("?end 7"), thread(true, 7, Asking::End));
        let deadline = Some(Nanos::from_millis(8));
        assert_eq!(read("deadline 7 8000"), thread(false, 7, Asking::Deadline(deadline)));
        assert_eq!(read("deadline 7 0"), thread(false, 7, Asking::Deadline(None)));
        assert_eq!(read("class 7 audio"), thread(false, 7, Asking::Class(Some("audio".into()))));
        assert_eq!(read("class 7"), thread(false, 7, Asking::Class(None)));
        assert_eq!(read("class 7 -"), read("class 7"));
        assert_eq!(read("status"), Ok(Message { asks: true, what: What::Status }));
    }

    #[test]
    fn what_is_none_is_refused_with_what_it_could_be() {
        for (text, expected) in [
            ("", "begin, end, deadline, class or status"),
            ("Begin 7", "begin, end"),
            ("begin", "begin and a thread's number"),
            ("begin x", "begin and a thread's number"),
            ("begin -7", "begin and a thread's number"),
            ("begin  7", "begin and a thread's number"),
            ("begin 4294967296", "begin and a thread's number"),
            ("begin 7 8", "alone"),
            ("deadline 7", "a time in us"),
            ("deadline 7 60000001", "deadline: expected 0 to 60000000 us"),
            ("deadline 7 18446744073709551616", "0 to 60000000 us"),
            ("class 7 a b", "one word or less"),
            ("status 7", "status alone"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
        assert!(Message::read(b"begin \xff").is_err() && Message::read(b"\0").is_err());
    }
}
