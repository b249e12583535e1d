//! Colours by role. A scene names roles; the file gets the light theme's literals, the page gets
//! classes that its style sheet resolves for light, dark and print.

use std::fmt::Write as _;

use crate::model::VerdictWord;

/// Number of series colours; more series repeat them.
pub const SERIES: usize = 8;

/// A colour's role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    /// Text and strong marks.
    Ink,
    /// Secondary text.
    Muted,
    /// Grid and axes.
    Grid,
    /// What lies behind a chart.
    Surface,
    /// A series by its index.
    Series(usize),
    /// A verdict.
    Verdict(VerdictWord),
    /// A disturbed window or a missed deadline.
    Alarm,
}

/// A set of colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
}

/// Series colours: distinct in hue and in lightness, so that they survive grey print and the common
/// colour vision deficiencies.
const LIGHT_SERIES: [u32; SERIES] = [
    0x2f_6d_b5, 0xd0_73_1f, 0x1f_8f_7c, 0x9b_4f_96, 0xb8_93_0b, 0x56_5f_c9, 0xc2_46_5c, 0x5d_7a_2e,
];
const DARK_SERIES: [u32; SERIES] = [
    0x72_a9_ea, 0xf0_a0_5a, 0x55_c4_ae, 0xcf_8a_ca, 0xe0_c0_4c, 0x9a_a2_f5, 0xf0_87_98, 0xa5_c4_70,
];

impl Paint {
    /// The colour as 0xRRGGBB.
    #[must_use]
    pub fn rgb(self, theme: Theme) -> u32 {
        let (light, dark) = match self {
            Self::Ink => (0x1b_1f_27, 0xe8_ea_ef),
            Self::Muted => (0x5c_65_75, 0x9a_a4_b5),
            Self::Grid => (0xdd_e1_e8, 0x33_3b_48),
            Self::Surface => (0xff_ff_ff, 0x1a_1f_28),
            Self::Series(i) => (LIGHT_SERIES[i % SERIES], DARK_SERIES[i % SERIES]),
            Self::Verdict(VerdictWord::Effect) => (0x1d_62_b8, 0x6f_ab_f2),
            Self::Verdict(VerdictWord::Equivalent) => (0x1c_7c_4a, 0x5f_c9_92),
            Self::Verdict(VerdictWord::Undecided) => (0x5c_65_75, 0xa3_ad_be),
            Self::Verdict(VerdictWord::Confounded) => (0xa8_5d_00, 0xf0_b0_4f),
            Self::Verdict(VerdictWord::Unproven) => (0xa3_38_7b, 0xe8_8d_c6),
            Self::Alarm => (0xc0_30_30, 0xff_83_7a),
        };
        if theme == Theme::Light { light } else { dark }
    }

    /// The colour as `#rrggbb`.
    pub(super) fn hex(self, theme: Theme) -> String {
        format!("#{:06x}", self.rgb(theme))
    }

    /// The role's name in classes and custom properties.
    pub(crate) fn name(self) -> String {
        match self {
            Self::Ink => "ink".to_owned(),
            Self::Muted => "muted".to_owned(),
            Self::Grid => "grid".to_owned(),
            Self::Surface => "surface".to_owned(),
            Self::Series(i) => format!("s{}", i % SERIES),
            Self::Verdict(word) => crate::text::verdict(word).to_owned(),
            Self::Alarm => "alarm".to_owned(),
        }
    }

    /// Every role.
    fn all() -> Vec<Self> {
        let mut all = vec![Self::Ink, Self::Muted, Self::Grid, Self::Surface, Self::Alarm];
        all.extend((0..SERIES).map(Self::Series));
        all.extend(
            [
                VerdictWord::Effect,
                VerdictWord::Equivalent,
                VerdictWord::Undecided,
                VerdictWord::Confounded,
                VerdictWord::Unproven,
            ]
            .map(Self::Verdict),
        );
        all
    }
}

/// The custom properties of a theme: `--ink:#1b1f27;...`.
pub(crate) fn properties(theme: Theme) -> String {
    Paint::all().into_iter().fold(String::new(), |mut out, paint| {
        let _ = write!(out, "--{}:{};", paint.name(), paint.hex(theme));
        out
    })
}

/// The classes that [`Scene::themed_svg`](super::Scene::themed_svg) uses: `f-` fills, `k-` strokes.
pub(crate) fn classes() -> String {
    Paint::all().into_iter().fold(String::new(), |mut out, paint| {
        let name = paint.name();
        let _ = write!(out, ".f-{name}{{fill:var(--{name})}}.k-{name}{{stroke:var(--{name})}}");
        out
    })
}
