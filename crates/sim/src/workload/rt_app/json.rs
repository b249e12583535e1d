//! JSON with places, as rt-app's own examples have it: with comments (`/* */` and `//`), commas
//! before the end of a table or list, and keys that come twice (its tool workgen numbers them).

use crate::scenario::{Entry, Node, Place, Places, ScenarioError, Value};

/// Deeper nesting is not a workload.
const MAX_DEPTH: u32 = 64;

/// Reads a document.
pub fn parse(text: &str, origin: &str) -> Result<Node, ScenarioError> {
    let mut reader = Reader { text, places: Places::of(text), origin, at: 0, depth: 0 };
    let node = reader.value()?;
    reader.space()?;
    match reader.rest().is_empty() {
        true => Ok(node),
        false => Err(reader.expected("the end of the document")),
    }
}

struct Reader<'a> {
    text: &'a str,
    places: Places<'a>,
    origin: &'a str,
    at: usize,
    depth: u32,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn place(&self) -> Place {
        self.places.at(self.at)
    }

    fn expected(&self, what: &str) -> ScenarioError {
        let found = match self.rest().chars().next() {
            Some(character) => format!("`{character}`"),
            None => "the end of the text".to_owned(),
        };
        ScenarioError::new(self.origin, format!("expected {what}, found {found}")).at(self.place())
    }

    /// Skips white space and comments.
    fn space(&mut self) -> Result<(), ScenarioError> {
        loop {
            let rest = self.rest();
            self.at += rest.len() - rest.trim_start().len();
            let rest = self.rest();
            if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                let end = rest.find("*/").ok_or_else(|| self.expected("a comment with its end"))?;
                self.at += end + 2;
            } else {
                return Ok(());
            }
        }
    }

    fn take(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn value(&mut self) -> Result<Node, ScenarioError> {
        self.space()?;
        let place = self.place();
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.expected(&format!("at most {MAX_DEPTH} levels")));
        }
        let value = match self.rest().bytes().next() {
            Some(b'{') => self.table()?,
            Some(b'[') => self.list()?,
            Some(b'"') => Value::Text(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            _ if self.take("true") => Value::Boolean(true),
            _ if self.take("false") => Value::Boolean(false),
            _ if self.take("null") => Value::Null,
            _ => return Err(self.expected("a value")),
        };
        self.depth -= 1;
        Ok(Node { place, value })
    }

    fn table(&mut self) -> Result<Value, ScenarioError> {
        let mut entries: Vec<Entry> = Vec::new();
        self.at += 1;
        self.space()?;
        if self.take("}") {
            return Ok(Value::Table(entries));
        }
        loop {
            self.space()?;
            let place = self.place();
            if !self.rest().starts_with('"') {
                return Err(self.expected("a key in quotes"));
            }
            let key = self.string()?;
            self.space()?;
            if !self.take(":") {
                return Err(self.expected("`:`"));
            }
            let node = self.value()?;
            entries.push(Entry { key, place, node });
            self.space()?;
            if self.take("}") {
                return Ok(Value::Table(entries));
            }
            if !self.take(",") {
                return Err(self.expected("`,` or `}`"));
            }
            self.space()?;
            if self.take("}") {
                return Ok(Value::Table(entries));
            }
        }
    }

    fn list(&mut self) -> Result<Value, ScenarioError> {
        let mut nodes = Vec::new();
        self.at += 1;
        self.space()?;
        if self.take("]") {
            return Ok(Value::List(nodes));
        }
        loop {
            nodes.push(self.value()?);
            self.space()?;
            if self.take("]") {
                return Ok(Value::List(nodes));
            }
            if !self.take(",") {
                return Err(self.expected("`,` or `]`"));
            }
            self.space()?;
            if self.take("]") {
                return Ok(Value::List(nodes));
            }
        }
    }

    /// A string; the escapes of control characters and `\u` have no use in a workload's names.
    fn string(&mut self) -> Result<String, ScenarioError> {
        self.at += 1;
        let mut string = String::new();
        loop {
            let Some(character) = self.rest().chars().next() else {
                return Err(self.expected("a string with its end"));
            };
            self.at += character.len_utf8();
            match character {
                '"' => return Ok(string),
                '\\' => match self.rest().chars().next() {
                    Some(escaped @ ('"' | '\\' | '/')) => {
                        self.at += 1;
                        string.push(escaped);
                    }
                    _ => return Err(self.expected("one of the escapes \\\" \\\\ \\/")),
                },
                other => string.push(other),
            }
        }
    }

    fn number(&mut self) -> Result<Value, ScenarioError> {
        let rest = self.rest();
        let part = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E');
        let end = rest.find(|c| !part(c)).unwrap_or(rest.len());
        let text = rest.get(..end).unwrap_or_default();
        let parsed = match text.parse() {
            Ok(integer) => Some(Value::Integer(integer)),
            Err(_) => text.parse().ok().filter(|real: &f64| real.is_finite()).map(Value::Real),
        };
        let value = parsed.ok_or_else(|| {
            let message = format!("expected a number that fits 64 bits, found `{text}`");
            ScenarioError::new(self.origin, message).at(self.place())
        })?;
        self.at += end;
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_places_and_comments() {
        let text =
            "{\n  /* a\n comment */ \"b\": [1, -2.5, true], // more\n  \"a\": {\"x\": null}\n}";
        let root = parse(text, "x.json").unwrap();
        let Value::Table(entries) = &root.value else { panic!("{root:?}") };
        let keys: Vec<&str> = entries.iter().map(|entry| entry.key.as_str()).collect();
        assert_eq!(keys, ["b", "a"]);
        assert_eq!(entries[1].place, Place::At { line: 4, column: 3 });
    }

    #[test]
    fn commas_before_an_end_and_keys_that_come_twice() {
        let root = parse("{\"a\": [1, 2,], \"run\": 1, \"run\": 2, }", "x.json").unwrap();
        let Value::Table(entries) = &root.value else { panic!("{root:?}") };
        let keys: Vec<&str> = entries.iter().map(|entry| entry.key.as_str()).collect();
        assert_eq!(keys, ["a", "run", "run"]);
        assert!(parse("[,]", "x.json").is_err() && parse("{\"a\": 1,,}", "x.json").is_err());
    }

    #[test]
    fn what_is_no_json_has_a_place() {
        for (text, words) in [
            ("{\"a\": }", "x.json:1:7: expected a value, found `}`"),
            ("{\"a\": 1 \"b\": 2}", "expected `,` or `}`"),
            ("{a: 1}", "a key in quotes"),
            ("[1, 2", "found the end of the text"),
            ("{} x", "the end of the document"),
            ("/* ", "a comment with its end"),
            ("\"abc", "a string with its end"),
            ("1e999", "a number"),
            ("[1e400]", "x.json:1:2: expected a number that fits 64 bits, found `1e400`"),
            ("", "expected a value"),
        ] {
            let error = parse(text, "x.json").unwrap_err().to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
        assert!(parse(&"[".repeat(100_000), "x").is_err());
    }
}
