//! Directives: what is defined, what is left out, and what is put in.

use super::lexer::{Kind, Lexer};
use super::macros::Token;
use super::{NO_FILE, Preprocessor, Stop, Used};

/// An `#if` that has no `#endif` yet.
pub(super) struct Branch {
    /// Where it stands.
    start: u32,
    /// One of its parts was read, or is being read.
    taken: bool,
}

impl Preprocessor<'_> {
    /// Reads the directive whose `#` was read, up to the end of its line.
    pub(super) fn directive(
        &mut self,
        text: u32,
        start: u32,
        words: &str,
        lexer: &mut Lexer<'_>,
        branches: &mut Vec<Branch>,
    ) -> Result<(), Stop> {
        let name = first_word(lexer, words);
        self.used = Used { text, bytes: start..lexer.at as u32 };
        match name {
            "define" => self.define(text, words, lexer),
            "undef" => {
                let name = first_word(lexer, words);
                self.macros.undefine(name);
            }
            "include" | "import" => {
                let target = self.target(text, words, lexer)?;
                line_end(lexer);
                return self.include(text, start, words, target, lexer.at);
            }
            "if" | "ifdef" | "ifndef" => {
                let taken = self.decide(name, text, words, lexer)?;
                branches.push(Branch { start, taken });
                if !taken {
                    return self.skip(text, words, lexer, branches);
                }
            }
            "elif" | "elifdef" | "elifndef" | "else" | "endif" => {
                line_end(lexer);
                let Some(branch) = branches.last_mut() else {
                    let message = format!("there is no `#if` before this `#{name}`");
                    return Err(self.stop_here(message));
                };
                if name == "endif" {
                    branches.pop();
                } else {
                    // The part before was read.
                    branch.taken = true;
                    return self.skip(text, words, lexer, branches);
                }
            }
            "pragma" if first_word(lexer, words) == "once" => {
                self.once.insert(self.sources.number(text));
            }
            "error" => return Err(self.error(text, start, words, lexer)),
            _ => {}
        }
        line_end(lexer);
        Ok(())
    }

    fn define(&mut self, text: u32, words: &str, lexer: &mut Lexer<'_>) {
        let name = first_word(lexer, words);
        let start = lexer.at as u32;
        line_end(lexer);
        if !name.is_empty() {
            self.macros.define(name, text, start, lexer.at as u32);
        }
    }

    /// `#error` where it is read.
    fn error(&self, text: u32, start: u32, words: &str, lexer: &mut Lexer<'_>) -> Stop {
        line_end(lexer);
        let line = words[start as usize..lexer.at].trim();
        let mut stop = self.stop(text, start..start + line.len() as u32, format!("`{line}`"));
        let help =
            "hand over what the build defines: `-D NAME=VALUE`, or `--compile-commands FILE`";
        stop.failure = stop.failure.help(Some(help));
        stop
    }

    /// Whether the part that begins with this directive is read.
    fn decide(
        &mut self,
        name: &str,
        text: u32,
        words: &str,
        lexer: &mut Lexer<'_>,
    ) -> Result<bool, Stop> {
        if matches!(name, "ifdef" | "ifndef" | "elifdef" | "elifndef") {
            let is_defined = self.macros.find(first_word(lexer, words)).is_some();
            line_end(lexer);
            return Ok(is_defined == name.ends_with("ifdef"));
        }
        let tokens = line(lexer, text);
        self.holds(tokens)
    }

    /// Passes over parts that are not read, up to the next one that is, or to the `#endif`.
    fn skip(
        &mut self,
        text: u32,
        words: &str,
        lexer: &mut Lexer<'_>,
        branches: &mut Vec<Branch>,
    ) -> Result<(), Stop> {
        let mut inside = 0_usize;
        let mut begins = false;
        loop {
            let token = lexer.next();
            match token.kind {
                Kind::End => return Ok(()),
                Kind::Newline => begins = true,
                Kind::Comment => {}
                Kind::Hash if begins => {
                    begins = false;
                    let name = first_word(lexer, words);
                    match name {
                        "if" | "ifdef" | "ifndef" => inside += 1,
                        "endif" if inside > 0 => inside -= 1,
                        "endif" => {
                            branches.pop();
                            line_end(lexer);
                            return Ok(());
                        }
                        "else" | "elif" | "elifdef" | "elifndef" if inside == 0 => {
                            let Some(branch) = branches.last_mut().filter(|it| !it.taken) else {
                                continue;
                            };
                            self.used = Used { text, bytes: token.start..lexer.at as u32 };
                            if name == "else" || self.decide(name, text, words, lexer)? {
                                branch.taken = true;
                                line_end(lexer);
                                return Ok(());
                            }
                            // `decide` has read up to the end of the line.
                        }
                        _ => {}
                    }
                }
                _ => begins = false,
            }
        }
    }

    /// At the end of a text no `#if` may be left.
    pub(super) fn close(&self, text: u32, branches: &[Branch]) -> Result<(), Stop> {
        match branches.last() {
            Some(branch) if self.sources.number(text) != NO_FILE => {
                let message = "this `#if` has no `#endif`".to_owned();
                Err(self.stop(text, branch.start..branch.start + 1, message))
            }
            _ => Ok(()),
        }
    }
}

/// The name that comes next on the line, or nothing.
pub(super) fn first_word<'t>(lexer: &mut Lexer<'_>, words: &'t str) -> &'t str {
    loop {
        let before = lexer.at;
        let token = lexer.next();
        match token.kind {
            Kind::Comment => {}
            Kind::Name => return &words[token.start as usize..token.end as usize],
            _ => {
                lexer.at = before;
                return "";
            }
        }
    }
}

/// Reads up to the end of the line, which is left.
pub(super) fn line_end(lexer: &mut Lexer<'_>) {
    loop {
        let token = lexer.next();
        if matches!(token.kind, Kind::Newline | Kind::End) {
            lexer.at = token.start as usize;
            return;
        }
    }
}

/// The tokens up to the end of the line.
pub(super) fn line(lexer: &mut Lexer<'_>, text: u32) -> Vec<Token> {
    let mut tokens = Vec::new();
    loop {
        let token = lexer.next();
        match token.kind {
            Kind::Comment => {}
            Kind::Newline | Kind::End => {
                lexer.at = token.start as usize;
                return tokens;
            }
            _ => tokens.push(Token::of(token, text)),
        }
    }
}
