//! Colours, applied after alignment so that they never take part in it.

use crate::model::VerdictWord;

/// Whether colours are used.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Whether they are.
    pub color: bool,
}

impl Style {
    /// No colours.
    pub const PLAIN: Self = Self { color: false };

    /// What stands out.
    #[must_use]
    pub fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    /// What stands back.
    #[must_use]
    pub fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    pub(crate) fn verdict(self, word: VerdictWord, text: &str) -> String {
        let code = match word {
            VerdictWord::Effect => "1;36",
            VerdictWord::Equivalent => "1;32",
            VerdictWord::Undecided => "1",
            VerdictWord::Confounded => "1;33",
            VerdictWord::Unproven => "1;35",
        };
        self.paint(code, text)
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.color && !text.is_empty() {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}
