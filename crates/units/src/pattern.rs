//! Names with `*` for anything.

/// A name in which `*` stands for anything, also for nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(pub String);

impl Pattern {
    /// Whether a name fits.
    pub fn fits(&self, name: &str) -> bool {
        let mut parts = self.0.split('*');
        let first = parts.next().unwrap_or_default();
        let Some(mut rest) = name.strip_prefix(first) else { return false };
        let mut last = None;
        for part in parts {
            let Some(at) = rest.find(part) else { return false };
            rest = &rest[at + part.len()..];
            last = Some(part);
        }
        // The last part is the end of the name.
        last.map_or(rest.is_empty(), |part| part.is_empty() || name.ends_with(part))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_anything() {
        for (pattern, name, fits) in [
            ("a*", "abc", true),
            ("*c", "abc", true),
            ("a*c", "abc", true),
            ("a*b*c", "axbxc", true),
            ("a*c", "abd", false),
            ("abc", "abcd", false),
            ("*b*", "abc", true),
            ("a*bc*c", "abc", false),
        ] {
            assert_eq!(Pattern(pattern.to_owned()).fits(name), fits, "{pattern} {name}");
        }
    }
}
