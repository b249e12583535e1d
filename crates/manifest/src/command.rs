//! Changes to a recorded command line: what would have been called to get this run.

/// Without an option and its value, attached by `=` or as the next argument.
#[must_use]
pub fn without(command: Vec<String>, option: &str) -> Vec<String> {
    let mut arguments = command.into_iter();
    let mut kept = Vec::new();
    while let Some(argument) = arguments.next() {
        match argument.strip_prefix(option) {
            Some("") => drop(arguments.next()),
            Some(value) if value.starts_with('=') => {}
            _ => kept.push(argument),
        }
    }
    kept
}

/// With another value of an option that is there: its long and its short form.
pub fn set(command: &mut [String], [long, short]: [&str; 2], value: &str) {
    let mut is_value = false;
    for argument in command {
        let equals = argument.strip_prefix(long).is_some_and(|rest| rest.starts_with('='));
        let joined = argument.strip_prefix(short).is_some_and(|rest| !rest.is_empty());
        is_value = match is_value {
            true => {
                value.clone_into(argument);
                false
            }
            false if equals => {
                *argument = format!("{long}={value}");
                false
            }
            false if joined => {
                *argument = format!("{short}{value}");
                false
            }
            false => argument == long || argument == short,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    // Libraries name no flag of the command line, so these are others.
    #[test]
    fn an_option_goes_with_its_value() {
        for text in ["sim S /part 1/4 /to X", "sim S /part=1/4 /to X"] {
            assert_eq!(without(words(text), "/part"), words("sim S /to X"));
        }
        let other = words("sim S /parts 3");
        assert_eq!(without(other.clone(), "/part"), other);
    }

    #[test]
    fn an_option_gets_another_value() {
        for (text, wanted) in [
            ("sim S /to a /seed 1", "sim S /to b /seed 1"),
            ("sim S /to=a", "sim S /to=b"),
            ("sim S -o a", "sim S -o b"),
            ("sim S -oa", "sim S -ob"),
            ("sim S /together a", "sim S /together a"),
        ] {
            let mut command = words(text);
            set(&mut command, ["/to", "-o"], "b");
            assert_eq!(command, words(wanted));
        }
    }
}
