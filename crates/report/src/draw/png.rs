//! A scene as PNG: shapes and glyph outlines through one anti-aliased rasteriser.

use tiny_skia::{
    FillRule, LineCap, Paint as Brush, PathBuilder, Pixmap, Stroke, StrokeDash, Transform,
};

use super::font;
use super::{Anchor, Item, Paint, Scene, Shape, Theme};

/// Why a PNG could not be made.
#[derive(Debug, thiserror::Error)]
pub enum PngError {
    /// The size is zero or beyond what can be allocated.
    #[error("cannot draw a figure of {width} x {height} pixels: expected 1 to 20000 on each side")]
    Size {
        /// Pixels across.
        width: f64,
        /// Pixels down.
        height: f64,
    },
    /// The encoder refused.
    #[error("cannot encode the figure as PNG: {0}")]
    Encode(String),
}

impl PngError {
    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Size { .. } => "choose a smaller size or scale",
            Self::Encode(_) => "write the figure as SVG instead",
        }
    }
}

const MAX_SIDE: f64 = 20_000.0;

pub(super) fn encode(scene: &Scene, scale: f64) -> Result<Vec<u8>, PngError> {
    let (width, height) = ((scene.width * scale).ceil(), (scene.height * scale).ceil());
    let error = || PngError::Size { width, height };
    let fits = |side: f64| (1.0..=MAX_SIDE).contains(&side);
    if !fits(width) || !fits(height) {
        return Err(error());
    }
    let mut pixels = Pixmap::new(width as u32, height as u32).ok_or_else(error)?;
    let background = Paint::Surface.rgb(Theme::Light);
    pixels.fill(colour(background, 1.0));
    for item in &scene.items {
        draw(&mut pixels, item, scale as f32);
    }
    pixels.encode_png().map_err(|e| PngError::Encode(e.to_string()))
}

fn colour(rgb: u32, opacity: f64) -> tiny_skia::Color {
    let [_, r, g, b] = rgb.to_be_bytes();
    tiny_skia::Color::from_rgba8(r, g, b, (opacity.clamp(0.0, 1.0) * 255.0).round() as u8)
}

fn brush(paint: Paint, opacity: f64) -> Brush<'static> {
    let mut brush = Brush::default();
    brush.set_color(colour(paint.rgb(Theme::Light), opacity));
    brush.anti_alias = true;
    brush
}

fn draw(pixels: &mut Pixmap, item: &Item, scale: f32) {
    let Some(path) = outline(&item.shape) else { return };
    let place = Transform::from_scale(scale, scale);
    if let Some(fill) = item.fill {
        pixels.fill_path(&path, &brush(fill, item.opacity), FillRule::Winding, place, None);
    }
    if let Some(stroke) = item.stroke {
        let dash = if item.dashed { StrokeDash::new(vec![4.0, 3.0], 0.0) } else { None };
        let pen = Stroke {
            width: item.stroke_width as f32,
            line_cap: LineCap::Butt,
            line_join: tiny_skia::LineJoin::Round,
            dash,
            ..Stroke::default()
        };
        pixels.stroke_path(&path, &brush(stroke, item.opacity), &pen, place, None);
    }
}

/// The outline in scene units; `None` where there is nothing to draw.
pub(super) fn outline(shape: &Shape) -> Option<tiny_skia::Path> {
    let mut path = PathBuilder::new();
    match shape {
        Shape::Rect { x, y, width, height, radius } => {
            round_rect(&mut path, [*x, *y, *width, *height].map(|v| v as f32), *radius as f32);
        }
        Shape::Path { points, closed } => {
            for (i, &(x, y)) in points.iter().enumerate() {
                if i == 0 {
                    path.move_to(x as f32, y as f32)
                } else {
                    path.line_to(x as f32, y as f32)
                }
            }
            if *closed {
                path.close();
            }
        }
        Shape::Dots { points, radius } => {
            for &(x, y) in points {
                path.push_circle(x as f32, y as f32, *radius as f32);
            }
        }
        Shape::Text { x, y, text, size, weight, anchor } => {
            let width = font::width(text, *size, *weight);
            let left = match anchor {
                Anchor::Start => *x,
                Anchor::Middle => x - width / 2.0,
                Anchor::End => x - width,
            };
            for glyph in font::outline(text, *size, *weight, |pen, scale| Glyph {
                path: PathBuilder::new(),
                x: (left + pen) as f32,
                y: *y as f32,
                scale: scale as f32,
            }) {
                if let Some(done) = glyph.path.finish() {
                    path.push_path(&done);
                }
            }
        }
    }
    path.finish()
}

fn round_rect(path: &mut PathBuilder, [x, y, w, h]: [f32; 4], r: f32) {
    // The control distance that makes a cubic a quarter circle within 0.03 %.
    let k = r * 0.447_715;
    path.move_to(x + r, y);
    path.line_to(x + w - r, y);
    path.cubic_to(x + w - k, y, x + w, y + k, x + w, y + r);
    path.line_to(x + w, y + h - r);
    path.cubic_to(x + w, y + h - k, x + w - k, y + h, x + w - r, y + h);
    path.line_to(x + r, y + h);
    path.cubic_to(x + k, y + h, x, y + h - k, x, y + h - r);
    path.line_to(x, y + r);
    path.cubic_to(x, y + k, x + k, y, x + r, y);
    path.close();
}

/// Collects one glyph's outline, font units turned into scene units.
struct Glyph {
    path: PathBuilder,
    x: f32,
    y: f32,
    scale: f32,
}

impl Glyph {
    fn at(&self, x: f32, y: f32) -> (f32, f32) {
        (self.x + x * self.scale, self.y - y * self.scale)
    }
}

impl ttf_parser::OutlineBuilder for Glyph {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.at(x1, y1), self.at(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.at(x1, y1), self.at(x2, y2), self.at(x, y));
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}
