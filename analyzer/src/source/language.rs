//! Which language a file is written in, by its name.

use std::path::Path;

/// A language that is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Language {
    /// Rust.
    #[default]
    Rust,
    /// C.
    C,
    /// C++, as far as it looks like C.
    Cpp,
}

impl Language {
    /// The language of a file that can be read by itself; `None` for all others, headers among them.
    pub fn of(path: &Path) -> Option<Language> {
        Some(match path.extension()?.to_str()? {
            "rs" => Language::Rust,
            "c" => Language::C,
            "cpp" | "cc" | "cxx" | "c++" | "C" => Language::Cpp,
            _ => return None,
        })
    }

    /// The language of a file that somebody names: a header may be named as well.
    pub fn of_named(path: &Path) -> Option<Language> {
        Language::of(path).or_else(|| match path.extension()?.to_str()? {
            "h" => Some(Language::C),
            "hpp" | "hh" | "hxx" | "H" => Some(Language::Cpp),
            _ => None,
        })
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Language::Rust => "Rust",
            Language::C => "C",
            Language::Cpp => "C++",
        }
    }
}
