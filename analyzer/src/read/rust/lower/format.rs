//! The variables that a format names: `{x}`, `{x:?}`, `{:width$}`.

/// The names, each once, in order.
pub(super) fn inline_arguments(format: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = format;
    while let Some(open) = rest.find('{') {
        rest = &rest[open + 1..];
        if let Some(escaped) = rest.strip_prefix('{') {
            rest = escaped;
            continue;
        }
        let Some(close) = rest.find('}') else { break };
        let (argument, spec) = rest[..close].split_once(':').unwrap_or((&rest[..close], ""));
        add(argument.trim(), &mut names);
        // A width or a precision may be a variable as well: `width$`, `.places$`.
        let mut pieces: Vec<&str> = spec.split('$').collect();
        pieces.pop();
        for piece in pieces {
            let start = piece
                .rfind(|letter: char| !is_part(letter))
                .map_or(0, |at| at + piece[at..].chars().next().map_or(1, char::len_utf8));
            add(&piece[start..], &mut names);
        }
        rest = &rest[close + 1..];
    }
    names
}

fn is_part(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

fn add(name: &str, names: &mut Vec<String>) {
    let starts = name.starts_with(|letter: char| letter.is_alphabetic() || letter == '_');
    if starts && name.chars().all(is_part) && !names.iter().any(|known| known == name) {
        names.push(name.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_and_numbers_and_braces_are_not() {
        let names = inline_arguments("{a} {{no}} {0} {} {b:?} {c:>width$.places$} {:>d$} {a:5}");
        assert_eq!(names, ["a", "b", "c", "width", "places", "d"]);
        assert!(inline_arguments("{ { }} {é").is_empty());
    }
}
