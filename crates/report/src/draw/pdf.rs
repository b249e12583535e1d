//! A scene as PDF 1.7, one page of the size of the figure. Letters are outlines, so no reader needs a font.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use tiny_skia::PathSegment;

use super::png::outline;
use super::{Item, Paint, Scene, Theme};

/// Points (1/72 inch) per unit: what is 960 units wide spans both columns of a page (516 points, 182 mm), what is 469
/// units wide one (252 points, 89 mm).
pub(crate) const POINTS: f64 = 516.0 / 960.0;

pub(super) fn encode(scene: &Scene) -> Vec<u8> {
    let (width, height) = (scene.width * POINTS, scene.height * POINTS);
    let mut page = Page::default();
    // Units grow downwards from the upper left corner, points upwards from the lower left.
    let _ = writeln!(page.text, "{POINTS:.6} 0 0 -{POINTS:.6} 0 {height:.3} cm 1 j");
    let [red, green, blue] = colour(Paint::Surface);
    let _ = writeln!(
        page.text,
        "{red} {green} {blue} rg 0 0 {:.2} {:.2} re f",
        scene.width, scene.height
    );
    for item in &scene.items {
        page.item(item);
    }
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
    // Memory takes everything.
    let _ = packed.write_all(page.text.as_bytes());
    let content = packed.finish().unwrap_or_default();
    let mut states = String::new();
    for (percent, name) in &page.opacities {
        let opacity = f64::from(*percent) / 100.0;
        let _ = write!(states, "/{name} << /ca {opacity:.2} /CA {opacity:.2} >> ");
    }
    let mut file = File { bytes: b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n".to_vec(), at: Vec::new() };
    file.object(b"<< /Type /Catalog /Pages 2 0 R >>", None);
    file.object(b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>", None);
    let page = format!(
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {width:.3} {height:.3}] /Contents 4 0 R \
         /Resources << /ExtGState << {states}>> >> >>"
    );
    file.object(page.as_bytes(), None);
    let head = format!("<< /Length {} /Filter /FlateDecode >>", content.len());
    file.object(head.as_bytes(), Some(&content));
    let title: String = std::iter::once(0xfeff)
        .chain(scene.title.encode_utf16())
        .map(|unit| format!("{unit:04X}"))
        .collect();
    file.object(format!("<< /Title <{title}> >>").as_bytes(), None);
    file.end()
}

fn colour(paint: Paint) -> [f64; 3] {
    let [_, red, green, blue] = paint.rgb(Theme::Light).to_be_bytes();
    [red, green, blue].map(|part| (f64::from(part) / 2.55).round() / 100.0)
}

/// What is drawn on a page.
#[derive(Default)]
struct Page {
    text: String,
    /// Names of the graphics states, by opacity in percent.
    opacities: BTreeMap<u32, String>,
}

impl Page {
    fn item(&mut self, item: &Item) {
        let Some(path) = outline(&item.shape) else { return };
        if item.fill.is_none() && item.stroke.is_none() {
            return;
        }
        self.text.push_str("q ");
        if item.opacity < 1.0 {
            let percent = (item.opacity.max(0.0) * 100.0).round() as u32;
            let name = self.opacities.entry(percent).or_insert_with(|| format!("O{percent}"));
            let _ = write!(self.text, "/{name} gs ");
        }
        if let Some([red, green, blue]) = item.fill.map(colour) {
            let _ = write!(self.text, "{red} {green} {blue} rg ");
        }
        if let Some([red, green, blue]) = item.stroke.map(colour) {
            let _ = write!(self.text, "{red} {green} {blue} RG {:.2} w ", item.stroke_width);
            if item.dashed {
                self.text.push_str("[4 3] 0 d ");
            }
        }
        self.path(&path);
        self.text.push_str(match (item.fill.is_some(), item.stroke.is_some()) {
            (true, true) => "B Q\n",
            (true, false) => "f Q\n",
            (false, _) => "S Q\n",
        });
    }

    fn path(&mut self, path: &tiny_skia::Path) {
        let mut last = tiny_skia::Point::default();
        for segment in path.segments() {
            let written = match segment {
                PathSegment::MoveTo(to) => {
                    last = to;
                    write!(self.text, "{:.2} {:.2} m ", to.x, to.y)
                }
                PathSegment::LineTo(to) => {
                    last = to;
                    write!(self.text, "{:.2} {:.2} l ", to.x, to.y)
                }
                // A quadratic curve as the cubic one that it is: its controls two thirds of the way to the one.
                PathSegment::QuadTo(by, to) => {
                    let third = |end: f32, by: f32| end + (by - end) * 2.0 / 3.0;
                    let first = (third(last.x, by.x), third(last.y, by.y));
                    let second = (third(to.x, by.x), third(to.y, by.y));
                    last = to;
                    write!(
                        self.text,
                        "{:.2} {:.2} {:.2} {:.2} {:.2} {:.2} c ",
                        first.0, first.1, second.0, second.1, to.x, to.y
                    )
                }
                PathSegment::CubicTo(first, second, to) => {
                    last = to;
                    write!(
                        self.text,
                        "{:.2} {:.2} {:.2} {:.2} {:.2} {:.2} c ",
                        first.x, first.y, second.x, second.y, to.x, to.y
                    )
                }
                PathSegment::Close => write!(self.text, "h "),
            };
            // A String takes everything.
            let _ = written;
        }
    }
}

/// Numbered objects, and where each begins.
struct File {
    bytes: Vec<u8>,
    at: Vec<usize>,
}

impl File {
    fn object(&mut self, head: &[u8], stream: Option<&[u8]>) {
        self.at.push(self.bytes.len());
        self.bytes.extend(format!("{} 0 obj\n", self.at.len()).bytes());
        self.bytes.extend(head);
        if let Some(stream) = stream {
            self.bytes.extend(b"\nstream\n");
            self.bytes.extend(stream);
            self.bytes.extend(b"\nendstream");
        }
        self.bytes.extend(b"\nendobj\n");
    }

    fn end(mut self) -> Vec<u8> {
        let table = self.bytes.len();
        let size = self.at.len() + 1;
        let mut text = format!("xref\n0 {size}\n0000000000 65535 f \n");
        for at in &self.at {
            let _ = writeln!(text, "{at:010} 00000 n ");
        }
        let _ = write!(
            text,
            "trailer\n<< /Size {size} /Root 1 0 R /Info 5 0 R >>\nstartxref\n{table}\n%%EOF\n"
        );
        self.bytes.extend(text.bytes());
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_its_size_its_title_and_a_table_that_leads_to_each_object() {
        let mut scene = Scene::new(960.0, 480.0, "µ (a)");
        scene.rect(10.0, 10.0, 40.0, 20.0).fill(Paint::Ink).opacity(0.5).rounded(4.0);
        scene.line((0.0, 0.0), (9.0, 9.0)).stroke(Paint::Ink, 1.0).dashed();
        scene.text(10.0, 50.0, "response", 12.0).middle();
        let file = encode(&scene);
        let text = String::from_utf8_lossy(&file);
        assert!(
            text.contains("/MediaBox [0 0 516.000 258.000]") && text.contains("/O50 << /ca 0.50")
        );
        assert!(text.contains("/Title <FEFF00B5002000280061"), "{text}");
        let find = |needle: &[u8], from: usize| {
            from + file[from..].windows(needle.len()).position(|part| part == needle).unwrap()
        };
        let table = find(b"xref\n", 0);
        for (number, line) in
            (1..).zip(String::from_utf8_lossy(&file[table..]).lines().skip(3).take(5))
        {
            let at: usize = line[..10].parse().unwrap();
            let begin = format!("{number} 0 obj");
            assert_eq!(&file[at..at + begin.len()], begin.as_bytes());
        }
        let from = find(b"stream\n", 0) + 7;
        let mut content = String::new();
        let packed = &file[from..find(b"\nendstream", from)];
        std::io::Read::read_to_string(&mut flate2::read::ZlibDecoder::new(packed), &mut content)
            .unwrap();
        assert_eq!(content.matches(" Q\n").count(), 3);
        assert!(content.contains("[4 3] 0 d") && content.contains(" c "), "{content}");
    }
}
