//! Drawing without a browser and without system fonts: one scene of shapes, written as SVG (static
//! for a file, themed for the page), as PDF or as PNG.

pub mod axis;
mod file;
pub mod font;
mod pdf;
mod png;
pub(crate) mod svg;
pub(crate) mod theme;

pub use file::{FigureError, Target};
pub use font::Weight;
pub use png::PngError;
pub use theme::{Paint, SERIES, Theme};

/// A drawing of `width` by `height` units; y grows downwards.
#[derive(Clone, Debug, Default)]
pub struct Scene {
    /// Width, units (CSS pixels).
    pub width: f64,
    /// Height, units.
    pub height: f64,
    /// Accessible name.
    pub title: String,
    /// Accessible description: what a person sees in it.
    pub description: String,
    pub(crate) items: Vec<Item>,
}

/// One shape with its style.
#[derive(Clone, Debug)]
pub struct Item {
    pub(crate) shape: Shape,
    pub(crate) fill: Option<Paint>,
    pub(crate) stroke: Option<Paint>,
    pub(crate) stroke_width: f64,
    pub(crate) dashed: bool,
    pub(crate) opacity: f64,
    pub(crate) tooltip: Option<String>,
}

#[derive(Clone, Debug)]
pub(crate) enum Shape {
    Rect { x: f64, y: f64, width: f64, height: f64, radius: f64 },
    Path { points: Vec<(f64, f64)>, closed: bool },
    Dots { points: Vec<(f64, f64)>, radius: f64 },
    Text { x: f64, y: f64, text: String, size: f64, weight: Weight, anchor: Anchor },
}

/// Which point of a text its position names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Left end.
    Start,
    /// Centre.
    Middle,
    /// Right end.
    End,
}

impl Scene {
    /// An empty scene.
    #[must_use]
    pub fn new(width: f64, height: f64, title: impl Into<String>) -> Self {
        Self { width, height, title: title.into(), ..Self::default() }
    }

    fn push(&mut self, shape: Shape) -> &mut Item {
        self.items.push(Item {
            shape,
            fill: None,
            stroke: None,
            stroke_width: 1.0,
            dashed: false,
            opacity: 1.0,
            tooltip: None,
        });
        let last = self.items.len() - 1;
        &mut self.items[last]
    }

    /// A rectangle.
    pub fn rect(&mut self, x: f64, y: f64, width: f64, height: f64) -> &mut Item {
        self.push(Shape::Rect { x, y, width: width.max(0.0), height: height.max(0.0), radius: 0.0 })
    }

    /// A straight line.
    pub fn line(&mut self, from: (f64, f64), to: (f64, f64)) -> &mut Item {
        self.push(Shape::Path { points: vec![from, to], closed: false })
    }

    /// A line through points.
    pub fn polyline(&mut self, points: Vec<(f64, f64)>) -> &mut Item {
        self.push(Shape::Path { points, closed: false })
    }

    /// A closed area.
    pub fn polygon(&mut self, points: Vec<(f64, f64)>) -> &mut Item {
        self.push(Shape::Path { points, closed: true })
    }

    /// Many equal dots as one shape.
    pub fn dots(&mut self, points: Vec<(f64, f64)>, radius: f64) -> &mut Item {
        self.push(Shape::Dots { points, radius })
    }

    /// A line of text; `y` is its baseline.
    pub fn text(&mut self, x: f64, y: f64, text: impl Into<String>, size: f64) -> &mut Item {
        let text = crate::text::plain(&text.into());
        let (weight, anchor) = (Weight::Regular, Anchor::Start);
        self.push(Shape::Text { x, y, text, size, weight, anchor }).fill(Paint::Ink)
    }

    /// Diagonal hatching inside a rectangle: the sign for "do not read this bar alone".
    pub fn hatch(&mut self, x: f64, y: f64, width: f64, height: f64, paint: Paint) {
        const STEP: f64 = 6.0;
        let mut offset = STEP - height;
        while offset < width {
            // The 45 degree line from (x + offset, y + height) upwards, clipped to the rectangle.
            let start = offset.max(0.0);
            let end = (offset + height).min(width);
            if end > start {
                let from = (x + start, y + height - (start - offset));
                let to = (x + end, y + height - (end - offset));
                self.line(from, to).stroke(paint, 1.4).opacity(0.75);
            }
            offset += STEP;
        }
    }

    /// A vertical interval with caps.
    pub fn whisker(&mut self, x: f64, low: f64, high: f64, paint: Paint) {
        self.line((x, low), (x, high)).stroke(paint, 1.4);
        for y in [low, high] {
            self.line((x - 4.0, y), (x + 4.0, y)).stroke(paint, 1.4);
        }
    }

    /// Static SVG: literal colours, the embedded font's name first.
    #[must_use]
    pub fn svg(&self) -> String {
        svg::standalone(self)
    }

    /// SVG for the page: colours are classes, so that light, dark and print share it.
    #[must_use]
    pub(crate) fn themed_svg(&self) -> String {
        svg::themed(self)
    }

    /// PDF, one page of its size: 960 units span both columns of a paper.
    #[must_use]
    pub fn pdf(&self) -> Vec<u8> {
        pdf::encode(self)
    }

    /// PNG at `scale` pixels per unit.
    ///
    /// # Errors
    /// [`PngError`] where the size is zero or too large, or the encoder fails.
    pub fn png(&self, scale: f64) -> Result<Vec<u8>, PngError> {
        png::encode(self, scale)
    }
}

impl Item {
    /// Fills the shape.
    pub fn fill(&mut self, paint: Paint) -> &mut Self {
        self.fill = Some(paint);
        self
    }

    /// Strokes the shape.
    pub fn stroke(&mut self, paint: Paint, width: f64) -> &mut Self {
        self.stroke = Some(paint);
        self.stroke_width = width;
        self
    }

    /// Dashes the stroke.
    pub fn dashed(&mut self) -> &mut Self {
        self.dashed = true;
        self
    }

    /// Opacity from 0 to 1.
    pub fn opacity(&mut self, opacity: f64) -> &mut Self {
        self.opacity = opacity;
        self
    }

    /// Text shown under the pointer.
    pub fn tooltip(&mut self, text: impl Into<String>) -> &mut Self {
        self.tooltip = Some(text.into());
        self
    }

    /// Rounds the corners of a rectangle.
    pub fn rounded(&mut self, by: f64) -> &mut Self {
        if let Shape::Rect { radius, width, height, .. } = &mut self.shape {
            *radius = by.min(*width / 2.0).min(*height / 2.0);
        }
        self
    }

    /// Anchors a text at its middle.
    pub fn middle(&mut self) -> &mut Self {
        self.anchored(Anchor::Middle)
    }

    /// Anchors a text at its end.
    pub fn end(&mut self) -> &mut Self {
        self.anchored(Anchor::End)
    }

    fn anchored(&mut self, to: Anchor) -> &mut Self {
        if let Shape::Text { anchor, .. } = &mut self.shape {
            *anchor = to;
        }
        self
    }

    /// Sets a text in the semi-bold weight.
    pub fn bold(&mut self) -> &mut Self {
        if let Shape::Text { weight, .. } = &mut self.shape {
            *weight = Weight::SemiBold;
        }
        self
    }
}
