//! Which functions and variables a file defines, and which names it uses: told from its tokens, so
//! that files can be put together before any of them is parsed.

use rustc_hash::FxHashSet;

use super::preprocess::{Expanded, Piece, pieces};
use crate::source::Language;

/// What a file defines and uses.
#[derive(Debug, Default)]
pub(super) struct Names<'t> {
    /// What other files can use.
    pub(super) external: FxHashSet<&'t str>,
    /// What only this one can.
    pub(super) own: FxHashSet<&'t str>,
    /// The names in bodies and initial values, but for that of the function around them.
    pub(super) uses: FxHashSet<&'t str>,
}

/// What has been read of a declaration outside of functions.
#[derive(Default)]
struct Declaration<'t> {
    /// The last word, if it is a name.
    name: Option<&'t str>,
    /// The name before the last parentheses.
    called: Option<&'t str>,
    /// The names before `=`, `,` and `[`.
    variables: Vec<&'t str>,
    has_value: bool,
    /// Between `=` and the next comma.
    in_value: bool,
    is_static: bool,
    is_extern: bool,
    is_type: bool,
    /// The next name is that of a struct, a union or an enum.
    before_tag: bool,
    /// The last word is a string: `extern "C"`, perhaps.
    after_string: bool,
}

/// Where a reader is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within<'t> {
    /// Between declarations, or in one.
    File,
    /// In the braces of a type or a value.
    Braces,
    /// In the body of this function.
    Function(&'t str),
}

struct Reader<'t> {
    names: Names<'t>,
    declaration: Declaration<'t>,
    /// The function whose parameters may be declared at present, between its head and its body:
    /// `main(argc, argv) int argc; char **argv; { .. }`.
    old_style: Option<&'t str>,
    within: Within<'t>,
    braces: usize,
    parentheses: usize,
}

impl<'t> Names<'t> {
    /// Looks through a text.
    pub(super) fn of(expanded: &'t Expanded) -> Names<'t> {
        let mut reader = Reader {
            names: Names::default(),
            declaration: Declaration::default(),
            old_style: None,
            within: Within::File,
            braces: 0,
            parentheses: 0,
        };
        for piece in pieces(&expanded.text, expanded.language == Language::Cpp) {
            if let Piece::Code(bytes) = piece {
                reader.read(&expanded.text[bytes]);
            }
        }
        reader.names
    }

    /// Whether it has a `main`.
    pub(super) fn is_program(&self) -> bool {
        self.external.contains("main")
    }
}

impl Declaration<'_> {
    /// Whether nothing has been read of it.
    fn is_empty(&self) -> bool {
        self.name.is_none() && self.called.is_none() && self.variables.is_empty()
    }
}

fn is_name(word: &str) -> bool {
    word.starts_with(|first: char| first.is_alphabetic() || first == '_')
        && !word.ends_with(['"', '\''])
}

impl<'t> Reader<'t> {
    fn read(&mut self, word: &'t str) {
        match self.within {
            Within::File => self.outside(word),
            Within::Braces | Within::Function(_) => self.inside(word),
        }
    }

    fn inside(&mut self, word: &'t str) {
        match word {
            "{" => self.braces += 1,
            "}" => {
                self.braces -= 1;
                if self.braces == 0 {
                    let was = std::mem::replace(&mut self.within, Within::File);
                    match was {
                        Within::Function(_) => self.declaration = Declaration::default(),
                        _ => self.declaration.name = None,
                    }
                }
            }
            _ if is_name(word) && self.within != Within::Function(word) => {
                self.names.uses.insert(word);
            }
            _ => {}
        }
    }

    fn outside(&mut self, word: &'t str) {
        let declaration = &mut self.declaration;
        let after_string = std::mem::take(&mut declaration.after_string);
        match word {
            "(" => {
                if self.parentheses == 0 && !declaration.has_value {
                    // Between the parentheses of a pointer to a function is no name before them.
                    declaration.called = declaration.name.or(declaration.called);
                }
                self.parentheses += 1;
            }
            ")" => self.parentheses = self.parentheses.saturating_sub(1),
            "{" => {
                let transparent = after_string && declaration.is_extern
                    || declaration.variables.first() == Some(&"namespace");
                if transparent && self.parentheses == 0 {
                    *declaration = Declaration::default();
                    return;
                }
                self.braces = 1;
                let old_style = self.old_style.take().filter(|_| declaration.is_empty());
                self.within = match declaration.called.or(old_style) {
                    Some(name) if !declaration.has_value && self.parentheses == 0 => {
                        let is_static = declaration.is_static;
                        let known =
                            if is_static { &mut self.names.own } else { &mut self.names.external };
                        known.insert(name);
                        Within::Function(name)
                    }
                    _ => Within::Braces,
                };
            }
            "}" => *declaration = Declaration::default(),
            ";" if self.parentheses == 0 => self.end_declaration(),
            "=" | "," | "[" if self.parentheses == 0 => {
                declaration.variables.extend(declaration.name.take());
                declaration.has_value |= word == "=";
                declaration.in_value = word == "=" || declaration.in_value && word == "[";
            }
            "static" => declaration.is_static = true,
            "extern" => declaration.is_extern = true,
            "typedef" => declaration.is_type = true,
            "struct" | "union" | "enum" | "class" => declaration.before_tag = true,
            _ if std::mem::take(&mut declaration.before_tag) => {}
            "namespace" => declaration.variables.push(word),
            "__attribute__" | "__declspec" | "alignas" | "_Alignas" | "const" | "noexcept" => {}
            _ if is_name(word) => {
                if declaration.in_value {
                    self.names.uses.insert(word);
                } else if self.parentheses == 0 {
                    declaration.name = Some(word);
                }
                return;
            }
            _ => declaration.after_string = word.ends_with('"'),
        }
        if word != "const" {
            self.declaration.name = None;
        }
    }

    fn end_declaration(&mut self) {
        let declaration = std::mem::take(&mut self.declaration);
        let head = declaration.called.filter(|_| declaration.name.is_some());
        self.old_style = head.or(self.old_style.filter(|_| declaration.called.is_none()));
        let defines = !declaration.is_type
            && (!declaration.is_extern || declaration.has_value)
            && (declaration.called.is_none() || declaration.has_value);
        if defines {
            let known =
                if declaration.is_static { &mut self.names.own } else { &mut self.names.external };
            known.extend(declaration.variables);
            known.extend(declaration.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::preprocess::expand_text;
    use super::*;

    fn sorted<'t>(names: &FxHashSet<&'t str>) -> Vec<&'t str> {
        let mut names: Vec<&str> = names.iter().copied().collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn what_a_file_defines_is_told_from_what_it_declares() {
        let text = "int f(int a); extern int e; typedef struct { int x; } T; struct V; struct S { int (*p)(int); };\n\
            static int s(void) { return g(1) + s(); }\n\
            extern \"C\" { int c(void) { return e; } }\n\
            int v, w[3] = { N, M }, *u = &q; static double h;\n\
            T *make(int n, int (*compare)(int, int)) { struct S x = { f }; return h; }\n\
            __attribute__((noinline)) void after(void) {}\n\
            int main(int argc, char **argv) { after(); { main(); } }";
        let expanded = expand_text(text, Language::C).unwrap();
        let names = Names::of(&expanded);
        assert_eq!(sorted(&names.external), ["after", "c", "main", "make", "u", "v", "w"]);
        assert_eq!(sorted(&names.own), ["h", "s"]);
        let uses = ["M", "N", "S", "after", "e", "f", "g", "h", "q"];
        assert!(uses.iter().all(|name| names.uses.contains(name)), "{:?}", sorted(&names.uses));
        assert!(!names.uses.contains("main") && !names.uses.contains("s"));
        assert!(names.is_program());
    }

    #[test]
    fn parameters_may_be_declared_behind_the_head() {
        let text = "int f(int); int g(n, c) int n; MPI_Comm c; { return h(n); }\n\
            main(argc, argv) int argc; char **argv; { g(1); }";
        let expanded = expand_text(text, Language::C).unwrap();
        let names = Names::of(&expanded);
        assert!(names.is_program() && names.external.contains("g"), "{:?}", names.external);
        assert!(!names.external.contains("f") && names.uses.contains("h"), "{:?}", names.uses);
    }

    #[test]
    fn nothing_is_taken_amiss() {
        for text in [
            "}",
            "{",
            "(",
            ")",
            ";",
            "f(",
            "f() {",
            "= {",
            "} } int f() {}",
            "a { b",
            "extern \"C\" {",
        ] {
            let expanded = expand_text(text, Language::C).unwrap();
            Names::of(&expanded);
        }
    }
}
