//! A figure, drawn.

use crate::draw::{PngError, Scene};

/// Size of a figure, units (CSS pixels).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Size {
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
}

impl Default for Size {
    fn default() -> Self {
        Self { width: 960.0, height: 600.0 }
    }
}

impl Size {
    /// Room for all that a figure must say; smaller wishes are enlarged.
    pub(super) fn at_least(self, width: f64, height: f64) -> Self {
        let pick = |wish: f64, least: f64| if wish.is_finite() { wish.max(least) } else { least };
        Self { width: pick(self.width, width), height: pick(self.height, height) }
    }
}

/// A figure that is drawn and can be written in either form.
#[derive(Clone, Debug)]
pub struct Figure {
    /// File name without its extension.
    pub name: String,
    /// The drawing.
    pub scene: Scene,
}

impl Figure {
    /// Static SVG.
    #[must_use]
    pub fn svg(&self) -> String {
        self.scene.svg()
    }

    /// PNG at two pixels per unit.
    ///
    /// # Errors
    /// [`PngError`] where the figure is too large or cannot be encoded.
    pub fn png(&self) -> Result<Vec<u8>, PngError> {
        self.scene.png(2.0)
    }
}
