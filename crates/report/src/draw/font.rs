//! The embedded font (Inter, SIL Open Font License; see `assets/fonts`): widths for layout and
//! outlines for PNG.

use std::sync::OnceLock;

use ttf_parser::{Face, GlyphId, OutlineBuilder};

const REGULAR: &[u8] = include_bytes!("../../assets/fonts/Inter-Regular.subset.otf");
const SEMI_BOLD: &[u8] = include_bytes!("../../assets/fonts/Inter-SemiBold.subset.otf");
pub(crate) const REGULAR_WOFF2: &[u8] =
    include_bytes!("../../assets/fonts/Inter-Regular.subset.woff2");
pub(crate) const SEMI_BOLD_WOFF2: &[u8] =
    include_bytes!("../../assets/fonts/Inter-SemiBold.subset.woff2");

/// Weight of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// 400.
    Regular,
    /// 600.
    SemiBold,
}

/// The parsed face; `None` if the embedded bytes were not a font, which a test rules out.
pub(super) fn face(weight: Weight) -> Option<&'static Face<'static>> {
    static FACES: OnceLock<[Option<Face<'static>>; 2]> = OnceLock::new();
    let faces = FACES.get_or_init(|| [REGULAR, SEMI_BOLD].map(|bytes| Face::parse(bytes, 0).ok()));
    faces[usize::from(weight == Weight::SemiBold)].as_ref()
}

/// Width of `text` at `size`, in the units of `size`.
#[must_use]
pub fn width(text: &str, size: f64, weight: Weight) -> f64 {
    let Some(face) = face(weight) else { return text.chars().count() as f64 * size * 0.6 };
    let units: f64 = text.chars().map(|c| advance(face, c)).sum();
    units * size / f64::from(face.units_per_em())
}

fn advance(face: &Face<'_>, c: char) -> f64 {
    let glyph = face.glyph_index(c).unwrap_or(GlyphId(0));
    f64::from(face.glyph_hor_advance(glyph).unwrap_or(0))
}

/// `text` cut with an ellipsis so that it fits `available` units.
#[must_use]
pub fn fit(text: &str, size: f64, weight: Weight, available: f64) -> String {
    if width(text, size, weight) <= available {
        return text.to_owned();
    }
    // What is far too long is not measured again and again: it may have 100,000 letters.
    let (mut kept, mut taken) = (Vec::new(), 0.0);
    for c in text.chars() {
        kept.push(c);
        taken += width(c.encode_utf8(&mut [0; 4]), size, weight);
        if taken > available {
            break;
        }
    }
    while kept.pop().is_some() {
        let short: String = kept.iter().collect::<String>() + "…";
        if width(&short, size, weight) <= available {
            return short;
        }
    }
    String::new()
}

/// Feeds the outlines of `text`, its left end at the origin, to `sink` as (builder at pen position).
pub(super) fn outline<S: OutlineBuilder>(
    text: &str,
    size: f64,
    weight: Weight,
    mut glyph_at: impl FnMut(f64, f64) -> S,
) -> Vec<S> {
    let Some(face) = face(weight) else { return Vec::new() };
    let scale = size / f64::from(face.units_per_em());
    let mut pen = 0.0;
    let mut built = Vec::new();
    for c in text.chars() {
        let glyph = face.glyph_index(c).unwrap_or(GlyphId(0));
        let mut sink = glyph_at(pen * scale, scale);
        face.outline_glyph(glyph, &mut sink);
        built.push(sink);
        pen += advance(face, c);
    }
    built
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_weights_parse_and_know_the_report_s_characters() {
        for weight in [Weight::Regular, Weight::SemiBold] {
            let face = face(weight).expect("an embedded font");
            for c in "aZ09µ×±–…≤≥≈→%[](),.·²".chars() {
                assert!(face.glyph_index(c).is_some(), "{c} is missing in {weight:?}");
            }
        }
    }

    #[test]
    fn fitting_keeps_short_text_and_cuts_long() {
        assert_eq!(fit("idle", 12.0, Weight::Regular, 100.0), "idle");
        let cut = fit(&"w".repeat(80), 12.0, Weight::Regular, 100.0);
        assert!(cut.ends_with('…') && width(&cut, 12.0, Weight::Regular) <= 100.0);
        assert_eq!(fit("idle", 12.0, Weight::Regular, 0.0), "");
    }
}
