//! A scene as SVG text.

use std::fmt::Write as _;

use super::{Anchor, Item, Paint, Scene, Shape, Theme, Weight};

/// How colours are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Colours {
    Literal,
    Classes,
}

/// An SVG file of its own, on the theme's background.
pub(super) fn standalone(scene: &Scene) -> String {
    let (width, height) = (scene.width, scene.height);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {w} {h}\" width=\"{w}\" height=\"{h}\" \
         role=\"img\" font-family=\"Inter,'Helvetica Neue',Arial,sans-serif\">\n",
        w = short(width),
        h = short(height),
    );
    names(&mut out, scene);
    let background = Paint::Surface.hex(Theme::Light);
    let _ = writeln!(out, "<rect width=\"100%\" height=\"100%\" fill=\"{background}\"/>");
    body(&mut out, scene, Colours::Literal);
    out.push_str("</svg>\n");
    out
}

/// SVG inside the page.
pub(super) fn themed(scene: &Scene) -> String {
    let mut out = format!(
        "<svg viewBox=\"0 0 {} {}\" role=\"img\" tabindex=\"0\">",
        short(scene.width),
        short(scene.height)
    );
    names(&mut out, scene);
    body(&mut out, scene, Colours::Classes);
    out.push_str("</svg>");
    out
}

fn names(out: &mut String, scene: &Scene) {
    let _ = write!(out, "<title>{}</title>", escape(&scene.title));
    if !scene.description.is_empty() {
        let _ = write!(out, "<desc>{}</desc>", escape(&scene.description));
    }
    out.push('\n');
}

fn body(out: &mut String, scene: &Scene, colours: Colours) {
    for item in &scene.items {
        write_item(out, item, colours);
    }
}

fn write_item(out: &mut String, item: &Item, colours: Colours) {
    let name = match &item.shape {
        Shape::Rect { x, y, width, height, radius } => {
            let (x, y, width, height) = (short(*x), short(*y), short(*width), short(*height));
            let _ = write!(out, "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"");
            if *radius > 0.0 {
                let _ = write!(out, " rx=\"{}\"", short(*radius));
            }
            "rect"
        }
        Shape::Path { points, closed } => {
            let _ = write!(out, "<path d=\"{}{}\"", line(points), if *closed { "Z" } else { "" });
            "path"
        }
        // A dot is a line of no length with round ends: one short path for hundreds of them.
        Shape::Dots { points, radius } => {
            out.push_str("<path d=\"");
            for (x, y) in points {
                let _ = write!(out, "M{} {}h0", short(*x), short(*y));
            }
            let _ =
                write!(out, "\" stroke-linecap=\"round\" stroke-width=\"{}\"", short(radius * 2.0));
            "path"
        }
        Shape::Text { x, y, size, weight, anchor, .. } => {
            let (x, y, size) = (short(*x), short(*y), short(*size));
            let _ = write!(out, "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\"");
            if *weight == Weight::SemiBold {
                out.push_str(" font-weight=\"600\"");
            }
            match anchor {
                Anchor::Start => {}
                Anchor::Middle => out.push_str(" text-anchor=\"middle\""),
                Anchor::End => out.push_str(" text-anchor=\"end\""),
            }
            "text"
        }
    };
    write_paint(out, item, colours);
    close(out, item, name);
}

fn write_paint(out: &mut String, item: &Item, colours: Colours) {
    let dots = matches!(item.shape, Shape::Dots { .. });
    // Dots are strokes; whoever drew them named a fill.
    let (fill, stroke) = if dots { (None, item.fill) } else { (item.fill, item.stroke) };
    match colours {
        Colours::Classes => {
            let fill = fill.map(|p| format!("f-{}", p.name()));
            let stroke = stroke.map(|p| format!("k-{}", p.name()));
            let names: Vec<String> = fill.into_iter().chain(stroke).collect();
            if !names.is_empty() {
                let _ = write!(out, " class=\"{}\"", names.join(" "));
            }
        }
        Colours::Literal => {
            for (attribute, paint) in [("fill", fill), ("stroke", stroke)] {
                if let Some(paint) = paint {
                    let _ = write!(out, " {attribute}=\"{}\"", paint.hex(Theme::Light));
                }
            }
        }
    }
    if fill.is_none() {
        out.push_str(" fill=\"none\"");
    }
    if stroke.is_some() && !dots {
        let _ = write!(out, " stroke-width=\"{}\"", short(item.stroke_width));
        if matches!(item.shape, Shape::Path { .. }) {
            out.push_str(" stroke-linejoin=\"round\"");
        }
    }
    if item.dashed {
        out.push_str(" stroke-dasharray=\"4 3\"");
    }
    if item.opacity < 1.0 {
        let _ = write!(out, " opacity=\"{}\"", crate::text::number(item.opacity, 2));
    }
}

fn close(out: &mut String, item: &Item, name: &str) {
    let tooltip = item.tooltip.as_ref().map(|t| format!("<title>{}</title>", escape(t)));
    let text = match &item.shape {
        Shape::Text { text, .. } => escape(text),
        _ => String::new(),
    };
    match (tooltip, text.is_empty()) {
        (None, true) => out.push_str("/>"),
        (tooltip, _) => {
            let _ = write!(out, ">{}{text}</{name}>", tooltip.unwrap_or_default());
        }
    }
    out.push('\n');
}

fn line(points: &[(f64, f64)]) -> String {
    let mut out = String::with_capacity(points.len() * 10);
    for (i, (x, y)) in points.iter().enumerate() {
        let _ = write!(out, "{}{} {}", if i == 0 { "M" } else { "L" }, short(*x), short(*y));
    }
    out
}

/// A coordinate with one decimal where it needs one.
fn short(value: f64) -> String {
    let text = crate::text::number(value, 1);
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

/// Text safe inside elements and double-quoted attributes of XML and HTML.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in crate::text::plain(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}
