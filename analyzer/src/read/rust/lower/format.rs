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

/// The format with all its holes plain, and which variable each of them names, if it names one.
/// `None`: a hole says more.
pub(super) fn plain(format: &str) -> Option<(String, Vec<Option<String>>)> {
    let mut text = String::new();
    let mut holes = Vec::new();
    let mut rest = format;
    while let Some(open) = rest.find('{') {
        text.push_str(&rest[..open]);
        rest = &rest[open + 1..];
        if let Some(escaped) = rest.strip_prefix('{') {
            text.push_str("{{");
            rest = escaped;
            continue;
        }
        let close = rest.find('}')?;
        let name = &rest[..close];
        let is_name = name.starts_with(|letter: char| letter.is_alphabetic() || letter == '_');
        if !name.is_empty() && (!is_name || !name.chars().all(is_part)) {
            return None;
        }
        text.push_str("{}");
        holes.push((!name.is_empty()).then(|| name.to_owned()));
        rest = &rest[close + 1..];
    }
    text.push_str(rest);
    Some((text, holes))
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
    fn holes_with_names_become_plain() {
        let holes = vec![Some("a".to_owned()), None];
        assert_eq!(plain("{a} {{b}} {}"), Some(("{} {{b}} {}".to_owned(), holes)));
        assert_eq!(plain("{a:?}"), None);
        assert_eq!(plain("{0}"), None);
        assert_eq!(plain("{é"), None);
    }

    #[test]
    fn names_are_found_and_numbers_and_braces_are_not() {
        let names = inline_arguments("{a} {{no}} {0} {} {b:?} {c:>width$.places$} {:>d$} {a:5}");
        assert_eq!(names, ["a", "b", "c", "width", "places", "d"]);
        assert!(inline_arguments("{ { }} {é").is_empty());
    }
}
