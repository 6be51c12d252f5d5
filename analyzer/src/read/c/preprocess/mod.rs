//! From a C file to one text without directives, macros and comments, and back from every byte of it
//! to where it stands: what a compiler's preprocessor does, as far as programs need it that are read
//! without a compiler.
//!
//! Local headers are put in where they are included. Those of the system are not read: their macros
//! stay names, but for the constants that programs compute with (`INT_MAX`). Nothing is parsed here.

mod comments;
mod condition;
mod directives;
mod expansion;
mod include;
mod lexer;
mod macros;
mod options;
mod origins;
mod output;
mod sources;
mod system;
mod texts;

#[cfg(test)]
mod tests;

use std::ops::Range;

pub(crate) use comments::{Piece, pieces};
pub(in crate::read) use include::Missing;
use lexer::{Kind, Lexer};
use macros::{Builtin, Macros, Token};
pub(crate) use options::Options;
pub(crate) use origins::Origins;
use output::Output;
use rustc_hash::FxHashSet;
use sources::Sources;
use texts::Text;
pub(in crate::read) use texts::{Texts, read};

use crate::diagnostic::Failure;
use crate::source::{FileId, Language, SourceFile};

/// How many tokens macros may say in one translation unit.
const TOKENS: usize = 2_000_000;

/// How large the expanded text may be.
const BYTES: usize = 64 << 20;

/// The number of a text that is no file.
const NO_FILE: FileId = u32::MAX as FileId;

/// A translation unit after its preprocessing.
#[derive(Clone, Debug)]
pub(crate) struct Expanded {
    /// What is left: no directives, no macros, no comments.
    pub(crate) text: String,
    /// Where each byte of it comes from.
    pub(crate) origins: Origins,
    /// C or C++.
    pub(crate) language: Language,
    /// The local headers that were not found.
    pub(in crate::read) missing: Vec<Missing>,
    /// The names of the headers that it includes, without folders and extensions.
    pub(in crate::read) headers: Vec<String>,
}

/// Why a file is not read any further.
#[derive(Debug)]
pub(in crate::read) struct Stop {
    /// The file in which it stands.
    pub(in crate::read) file: FileId,
    pub(in crate::read) failure: Failure,
}

/// Expands a file.
pub(in crate::read) fn expand<'r>(
    texts: &'r Texts<'r>,
    file: FileId,
    language: Language,
    options: &'r Options,
) -> Result<Expanded, Stop> {
    let Some(text) = texts.text(file) else {
        return Err(Stop { file, failure: Failure::new("there is no such file") });
    };
    let mut preprocessor = Preprocessor {
        texts,
        options,
        is_cpp: language == Language::Cpp,
        sources: Sources::default(),
        macros: Macros::default(),
        output: Output::default(),
        once: FxHashSet::default(),
        missing: Vec::new(),
        headers: Vec::new(),
        included: 0,
        files_open: 0,
        room: TOKENS,
        depth: 0,
        counter: 0,
        used: Used { text: 0, bytes: 0..0 },
        line: (0, 0, 1),
    };
    preprocessor.begin()?;
    preprocessor.output.text.reserve(text.as_str().len());
    let number = preprocessor.sources.add(text, file);
    preprocessor.scan(number)?;
    let Preprocessor { output, missing, headers, .. } = preprocessor;
    Ok(Expanded { text: output.text, origins: output.origins, language, missing, headers })
}

/// Expands a text that is no file, as if it were the only one.
pub(crate) fn expand_text(text: &str, language: Language) -> Result<Expanded, Failure> {
    let source = SourceFile::new("text.c".into(), "text.c".to_owned(), text.to_owned());
    let (texts, options) = (Texts::new(vec![&source]), Options::default());
    expand(&texts, 0, language, &options).map_err(|stop| stop.failure)
}

/// One translation unit while it is expanded.
struct Preprocessor<'r> {
    texts: &'r Texts<'r>,
    options: &'r Options,
    is_cpp: bool,
    sources: Sources<'r>,
    macros: Macros,
    output: Output,
    /// The files that are not included again.
    once: FxHashSet<FileId>,
    missing: Vec<Missing>,
    headers: Vec<String>,
    /// How often something was included.
    included: usize,
    /// How many files are open, each included by the one before.
    files_open: usize,
    /// How many tokens macros may still say.
    room: usize,
    /// How many uses of macros in arguments are being replaced.
    depth: usize,
    /// How often `__COUNTER__` was used.
    counter: usize,
    /// The use of a macro, or the directive, that is being read.
    used: Used,
    /// The line that some byte of a text stands on, so that lines are counted once: the text, the
    /// byte, the line.
    line: (u32, usize, usize),
}

/// A stretch of a text.
struct Used {
    text: u32,
    bytes: Range<u32>,
}

impl<'r> Preprocessor<'r> {
    /// Defines what is defined before a file begins.
    fn begin(&mut self) -> Result<(), Stop> {
        let builtins = [
            ("__FILE__", Builtin::File),
            ("__LINE__", Builtin::Line),
            ("__COUNTER__", Builtin::Counter),
        ];
        for (name, builtin) in builtins {
            self.macros.define_builtin(name, builtin);
        }
        self.scan_own(system::predefined(self.is_cpp))?;
        self.scan_own(&self.options.definitions)?;
        for path in &self.options.forced {
            if let Some(file) = self.texts.header(path) {
                self.scan_file(file)?;
            }
        }
        Ok(())
    }

    /// Reads a text of which nothing but its directives is wanted.
    fn scan_own(&mut self, text: &'r str) -> Result<(), Stop> {
        let number = self.sources.add(Text::Own(text), NO_FILE);
        self.scan(number)
    }

    /// Reads a file where it is included.
    fn scan_file(&mut self, file: FileId) -> Result<(), Stop> {
        let Some(text) = self.texts.text(file) else { return Ok(()) };
        let number = self.sources.add(text, file);
        self.output.begin_line();
        self.scan(number)?;
        self.output.begin_line();
        Ok(())
    }

    /// Reads a text from its beginning to its end.
    fn scan(&mut self, number: u32) -> Result<(), Stop> {
        let text = self.sources.text(number);
        let words = text.as_str();
        if words.len() > BYTES {
            return Err(self.stop(number, 0..0, format!("it is larger than {} MiB", BYTES >> 20)));
        }
        let mut lexer = Lexer::new(words, self.is_cpp);
        let mut branches = Vec::new();
        // Up to where the text was copied, and whether a line begins.
        let (mut copied, mut begins) = (0, true);
        loop {
            let token = lexer.next();
            let start = token.start as usize;
            match token.kind {
                Kind::Name => {
                    begins = false;
                    let Some(found) = self.macros.find(&words[start..token.end as usize]) else {
                        continue;
                    };
                    self.copy(number, copied..start)?;
                    self.replace_use(found, Token::of(token, number), &mut lexer)?;
                    copied = lexer.at;
                }
                Kind::Newline => begins = true,
                Kind::Comment => {
                    self.copy(number, copied..start)?;
                    self.output.separate();
                    copied = lexer.at;
                }
                Kind::Hash if begins => {
                    self.copy(number, copied..start)?;
                    self.directive(number, token.start, words, &mut lexer, &mut branches)?;
                    copied = lexer.at;
                }
                Kind::End => {
                    self.copy(number, copied..start)?;
                    return self.close(number, &branches);
                }
                _ => begins = false,
            }
        }
    }

    fn copy(&mut self, number: u32, bytes: Range<usize>) -> Result<(), Stop> {
        if self.sources.number(number) == NO_FILE {
            return Ok(());
        }
        if self.output.text.len() > BYTES {
            let at = bytes.start as u32;
            let message = format!("with its headers it is larger than {} MiB here", BYTES >> 20);
            return Err(self.stop(number, at..at, message));
        }
        self.output.copy(&self.sources, number, bytes);
        Ok(())
    }

    /// Writes what a macro says that is used here.
    fn replace_use(&mut self, found: u32, name: Token, lexer: &mut Lexer<'_>) -> Result<(), Stop> {
        self.used = Used { text: name.text, bytes: name.start..name.end };
        let said = match self.macros.plain_word(found, &self.sources, self.is_cpp) {
            // Most macros are numbers.
            Some(word) if self.room > 0 => {
                self.room -= 1;
                vec![word]
            }
            _ => self.replace(vec![name], &mut expansion::Input::Text(lexer, name.text))?,
        };
        let used = name.start..lexer.at as u32;
        self.output.write(&self.sources, &said, name.text, &used);
        Ok(())
    }

    /// Takes account of tokens that macros say.
    fn spend(&mut self, tokens: usize) -> Result<(), Stop> {
        match self.room.checked_sub(tokens) {
            Some(room) => {
                self.room = room;
                Ok(())
            }
            None => {
                let message = format!("macros say more than {TOKENS} tokens up to here");
                Err(self.stop_here(message))
            }
        }
    }

    /// What keeps the file from being read any further, at the macro that is being replaced.
    fn stop_here(&self, message: String) -> Stop {
        self.stop(self.used.text, self.used.bytes.clone(), message)
    }

    fn stop(&self, text: u32, bytes: Range<u32>, message: String) -> Stop {
        let failure = Failure::at(bytes.start as usize..bytes.end as usize, message);
        Stop { file: self.sources.number(text), failure }
    }

    /// `__FILE__`
    fn file_name(&self) -> String {
        let text = self.sources.text(self.used.text);
        let name = text.path().and_then(|path| path.file_name());
        format!("{:?}", name.unwrap_or_default().to_string_lossy())
    }

    /// `__LINE__`
    fn line(&mut self) -> usize {
        let Used { text, bytes } = &self.used;
        let at = bytes.start as usize;
        let (known, from, line) = self.line;
        let (from, line) = if known == *text && from <= at { (from, line) } else { (0, 1) };
        let passed = &self.sources.file(*text).as_bytes()[from..at];
        let line = line + memchr::memchr_iter(b'\n', passed).count();
        self.line = (*text, at, line);
        line
    }
}
