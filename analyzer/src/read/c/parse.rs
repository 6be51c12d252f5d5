//! From expanded text to a tree. Nothing is understood here; what would overflow a stack or is no C
//! at all is turned away.

use std::ops::Range;

use tree_sitter::{Node, Parser, Tree, TreeCursor};

use super::preprocess::{Expanded, Stop};
use crate::diagnostic::Failure;
use crate::source::Language;

/// Brackets inside brackets; handwritten code has some twenty.
const DEPTH: usize = 400;

/// A file as it is after its preprocessor, with its tree.
#[derive(Debug)]
pub(in crate::read) struct Unit {
    pub(super) expanded: Expanded,
    pub(super) tree: Tree,
}

impl Unit {
    pub(super) fn text(&self) -> &str {
        &self.expanded.text
    }

    pub(super) fn is_cpp(&self) -> bool {
        self.expanded.language == Language::Cpp
    }
}

/// Parses what the preprocessor has left of a file.
pub(in crate::read) fn parse(expanded: Expanded) -> Result<Unit, Stop> {
    let at = |bytes: Range<usize>, message: String| {
        let location = expanded.origins.locate(bytes);
        Stop { file: location.file, failure: Failure::at(location.bytes, message) }
    };
    let unclosed = match brackets(expanded.text.as_bytes()) {
        Ok(unclosed) => unclosed,
        Err(bytes) => {
            let message =
                format!("brackets stand in more than {DEPTH} others here, which is not read");
            return Err(at(bytes, message));
        }
    };
    let language = match expanded.language {
        Language::Cpp => tree_sitter_cpp::LANGUAGE.into(),
        _ => tree_sitter_c::LANGUAGE.into(),
    };
    let mut parser = Parser::new();
    let set = parser.set_language(&language);
    let tree = match set {
        Ok(()) => parser.parse(&expanded.text, None),
        Err(error) => return Err(at(0..0, format!("the parser cannot be used: {error}"))),
    };
    let Some(tree) = tree else {
        return Err(at(0..0, "this cannot be parsed".to_owned()));
    };
    if let (Some(bytes), true) = (unclosed, tree.root_node().has_error()) {
        let message = "the bracket that opens here is never closed: the file is cut off".to_owned();
        return Err(at(bytes, message));
    }
    if let Some(bytes) = nothing_but_errors(tree.root_node()) {
        return Err(at(bytes, format!("this is not {}", expanded.language.name())));
    }
    Ok(Unit { expanded, tree })
}

/// The outermost curly bracket that is not closed; or where brackets are nested too deeply.
fn brackets(text: &[u8]) -> Result<Option<Range<usize>>, Range<usize>> {
    let mut depth = 0usize;
    let mut open_blocks = Vec::new();
    let mut quote = None;
    let mut at = 0;
    while at < text.len() {
        let letter = text[at];
        match (quote, letter) {
            (Some(_), b'\\') => at += 1,
            (Some(open), _) if open == letter || letter == b'\n' => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(letter),
            (None, b'(' | b'[' | b'{') => {
                depth += 1;
                if depth > DEPTH {
                    return Err(at..at + 1);
                }
                open_blocks.extend((letter == b'{').then_some(at));
            }
            (None, b')' | b']' | b'}') => {
                depth = depth.saturating_sub(1);
                if letter == b'}' {
                    open_blocks.pop();
                }
            }
            (None, _) => {}
        }
        at += 1;
    }
    Ok(open_blocks.first().map(|&at| at..at + 1))
}

/// The first part that is no C, where no function or declaration was understood besides.
fn nothing_but_errors(root: Node<'_>) -> Option<Range<usize>> {
    if !root.has_error() {
        return None;
    }
    if root.is_error() {
        return Some(root.byte_range());
    }
    let mut error = None;
    for child in children(root, &mut root.walk()) {
        match child.kind() {
            "ERROR" => error = error.or(Some(child.byte_range())),
            "function_definition" => return None,
            "declaration"
            | "type_definition"
            | "linkage_specification"
            | "namespace_definition"
            | "template_declaration"
                if !child.has_error() =>
            {
                return None;
            }
            _ => {}
        }
    }
    error
}

/// The named parts of a node, without comments.
pub(super) fn children<'t>(node: Node<'t>, cursor: &mut TreeCursor<'t>) -> Vec<Node<'t>> {
    node.named_children(cursor).filter(|child| child.kind() != "comment").collect()
}

#[cfg(test)]
mod tests {
    use super::super::preprocess::expand_text;
    use super::*;

    fn fault(text: &str) -> Option<(Range<usize>, String)> {
        let expanded = expand_text(text, Language::C).ok()?;
        let failure = parse(expanded).err()?.failure;
        Some((failure.bytes?, failure.message))
    }

    #[test]
    fn a_file_that_is_cut_off_is_no_file_in_which_nothing_is_wrong() {
        let whole = "int f(void) { return '{'; }\nint main(void) { if (f()) { return 1; } }\n";
        assert_eq!(fault(whole), None);
        let (bytes, message) = fault(&whole[..whole.len() - 8]).expect("main is not closed");
        assert_eq!(whole[..bytes.start].matches('\n').count(), 1);
        assert!(message.contains("never closed"), "{message}");
    }
}
