//! A command line in one text, without a shell.

use flyball_units::Mismatch;

/// The words of a command line, split and unquoted as a shell would. What only a shell understands (pipes,
/// redirections, variables) is refused rather than passed on as an argument.
///
/// # Errors
/// No program, a quote that is not closed, or something that is a shell's.
pub fn command(text: &str) -> Result<Vec<String>, Mismatch> {
    const EXPECTED: &str = "a program and its arguments";
    const HINT: &str =
        "pipes, redirections and variables are a shell's: quote them, or ask for one";
    let wrong = |slip: Mismatch| Mismatch { hint: Some(HINT.to_owned()), ..slip };
    if let Some(found) = for_a_shell(text) {
        return Err(wrong(Mismatch::value(EXPECTED, format_args!("`{found}` in \"{text}\""))));
    }
    match shlex::split(text) {
        Some(words) if !words.is_empty() => Ok(words),
        _ => Err(wrong(Mismatch::text(EXPECTED, text))),
    }
}

/// The first character, outside of quotes, that only a shell understands; or a variable before the
/// program.
fn for_a_shell(text: &str) -> Option<String> {
    let (mut quote, mut escaped) = (None, false);
    for c in text.chars() {
        match (quote, c) {
            _ if escaped => escaped = false,
            (None | Some('"'), '\\') => escaped = true,
            (Some(open), _) if open == c => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, '|' | '>' | '<' | '&' | ';' | '`' | '$') => return Some(c.to_string()),
            _ => {}
        }
    }
    let first = text.split_whitespace().next()?;
    let (name, _) = first.split_once('=')?;
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_name.then(|| first.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_taken_off_and_what_is_a_shells_is_refused() {
        assert_eq!(command(r#"./a 'b c' "d>e" f\|g"#).unwrap(), ["./a", "b c", "d>e", "f|g"]);
        for (text, found) in
            [("./a > b", "`>`"), ("A=1 ./b", "`A=1`"), ("a | b", "`|`"), ("a $X", "`$`")]
        {
            assert!(command(text).unwrap_err().found.contains(found), "{text}");
        }
        assert_eq!(command("a 'b").unwrap_err().found, "\"a 'b\"");
        assert_eq!(command("a=b/c").unwrap_err().found, "`a=b/c` in \"a=b/c\"");
        assert!(command("./a x=y").is_ok() && command("  ").is_err());
    }
}
