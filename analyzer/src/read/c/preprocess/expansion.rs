//! Replaces macros by what they say, as the standard has it: arguments first, then the whole again
//! together with what follows, and no macro within itself.

use std::rc::Rc;

use super::lexer::{Kind, Lexer};
use super::macros::{Builtin, Meaning, NO_PARAMETER, Token};
use super::{Preprocessor, Stop};

/// How deep uses of macros may stand in the arguments of others.
const DEPTH: usize = 200;

/// Where tokens come from when those of a macro are used up.
pub(super) enum Input<'a, 't> {
    /// There are no others.
    Nothing,
    /// The text that the macro is used in, and its number.
    Text(&'a mut Lexer<'t>, u32),
}

/// Tokens that are read before those that come after them.
struct Context {
    tokens: Tokens,
    at: usize,
    /// The macro that says them: it stands for itself in there.
    opened: Option<u32>,
    /// Whether there is space before the first one.
    space: bool,
}

enum Tokens {
    Meaning(Rc<Meaning>),
    List(Vec<Token>),
}

impl Tokens {
    fn get(&self, at: usize) -> Option<Token> {
        match self {
            Tokens::Meaning(meaning) => meaning.body.get(at).copied(),
            Tokens::List(list) => list.get(at).copied(),
        }
    }
}

/// What a macro is used with.
struct Arguments {
    given: Vec<Vec<Token>>,
    /// The same with the macros in it replaced, where that is needed.
    replaced: Vec<Option<Vec<Token>>>,
    /// The parameter that stands for all that is left.
    rest: Option<usize>,
}

/// The tokens between the parentheses; `Open` where they do not end.
enum Given {
    Closed(Vec<Vec<Token>>),
    Open(Vec<Vec<Token>>),
}

impl Preprocessor<'_> {
    /// Replaces all macros in these tokens, and in what follows them as far as a macro of theirs needs
    /// it.
    pub(super) fn replace(
        &mut self,
        tokens: Vec<Token>,
        input: &mut Input<'_, '_>,
    ) -> Result<Vec<Token>, Stop> {
        let mut contexts =
            vec![Context { tokens: Tokens::List(tokens), at: 0, opened: None, space: false }];
        let mut replaced = Vec::new();
        while let Some(token) = self.next(&mut contexts)? {
            let is_name = token.kind == Kind::Name && !token.done;
            match is_name.then(|| self.macros.find(self.sources.word(&token))).flatten() {
                Some(number) => self.enter(number, token, &mut contexts, input, &mut replaced)?,
                None => replaced.push(token),
            }
        }
        Ok(replaced)
    }

    /// The next token of what was replaced so far.
    fn next(&mut self, contexts: &mut Vec<Context>) -> Result<Option<Token>, Stop> {
        while let Some(context) = contexts.last_mut() {
            if let Some(mut token) = context.tokens.get(context.at) {
                if context.at == 0 && context.opened.is_some() {
                    token.space = context.space;
                }
                context.at += 1;
                self.spend(1)?;
                token.done = token.done
                    || token.kind == Kind::Name
                        && self
                            .macros
                            .find(self.sources.word(&token))
                            .is_some_and(|number| self.macros.get(number).open);
                return Ok(Some(token));
            }
            self.leave(contexts);
        }
        Ok(None)
    }

    fn leave(&mut self, contexts: &mut Vec<Context>) {
        if let Some(number) = contexts.pop().and_then(|context| context.opened) {
            self.macros.get_mut(number).open = false;
        }
    }

    /// Puts what a macro says in front of all that follows; a name that is no use of it is kept.
    fn enter(
        &mut self,
        number: u32,
        name: Token,
        contexts: &mut Vec<Context>,
        input: &mut Input<'_, '_>,
        replaced: &mut Vec<Token>,
    ) -> Result<(), Stop> {
        if let Some(builtin) = self.macros.get(number).builtin {
            let token = self.builtin(builtin, name);
            replaced.push(token);
            return Ok(());
        }
        let meaning = self.macros.meaning(number, &self.sources, self.is_cpp);
        let tokens = match meaning.parameters {
            None if meaning.body.iter().any(|token| token.kind == Kind::Paste) => {
                Tokens::List(self.substitute(&meaning, Vec::new())?)
            }
            None => Tokens::Meaning(meaning),
            Some(parameters) => {
                if !self.takes_open(contexts, input) {
                    replaced.push(name);
                    return Ok(());
                }
                let most = parameters.max(1) - usize::from(meaning.variadic && parameters > 0);
                let most = if meaning.variadic { most } else { usize::MAX };
                match self.arguments(contexts, input, most)? {
                    Given::Closed(given) if fits(&meaning, parameters, &given) => {
                        Tokens::List(self.substitute(&meaning, given)?)
                    }
                    Given::Closed(given) => {
                        replaced.push(name);
                        self.keep(given, replaced);
                        replaced.push(self.sources.make(Kind::Close, false, ")"));
                        return Ok(());
                    }
                    Given::Open(given) => {
                        replaced.push(name);
                        self.keep(given, replaced);
                        return Ok(());
                    }
                }
            }
        };
        self.macros.get_mut(number).open = true;
        contexts.push(Context { tokens, at: 0, opened: Some(number), space: name.space });
        Ok(())
    }

    /// Writes down `(` and the arguments of a use that does not fit as they are.
    fn keep(&mut self, given: Vec<Vec<Token>>, replaced: &mut Vec<Token>) {
        replaced.push(self.sources.make(Kind::Open, false, "("));
        for (number, argument) in given.into_iter().enumerate() {
            if number > 0 {
                replaced.push(self.sources.make(Kind::Comma, false, ","));
            }
            replaced.extend(argument);
        }
    }

    /// Reads `(` if it comes next.
    fn takes_open(&mut self, contexts: &mut Vec<Context>, input: &mut Input<'_, '_>) -> bool {
        while let Some(context) = contexts.last_mut() {
            if let Some(token) = context.tokens.get(context.at) {
                let is_open = token.kind == Kind::Open;
                context.at += usize::from(is_open);
                return is_open;
            }
            self.leave(contexts);
        }
        let Input::Text(lexer, _) = input else { return false };
        let mut ahead = lexer.clone();
        loop {
            match ahead.next().kind {
                Kind::Newline | Kind::Comment => {}
                Kind::Open => {
                    **lexer = ahead;
                    return true;
                }
                _ => return false,
            }
        }
    }

    /// Reads up to the `)`. Behind `most` arguments all is one.
    fn arguments(
        &mut self,
        contexts: &mut Vec<Context>,
        input: &mut Input<'_, '_>,
        most: usize,
    ) -> Result<Given, Stop> {
        let mut given: Vec<Vec<Token>> = Vec::new();
        let mut argument = Vec::new();
        let mut depth = 0_usize;
        loop {
            let next = match self.next(contexts)? {
                Some(token) => Some(token),
                None => self.next_of_input(input)?,
            };
            let Some(token) = next else {
                given.push(argument);
                return Ok(Given::Open(given));
            };
            match token.kind {
                Kind::Close if depth == 0 => {
                    given.push(argument);
                    return Ok(Given::Closed(given));
                }
                Kind::Comma if depth == 0 && given.len() < most => {
                    given.push(std::mem::take(&mut argument));
                    continue;
                }
                Kind::Open => depth += 1,
                Kind::Close => depth -= 1,
                _ => {}
            }
            argument.push(token);
        }
    }

    /// The next token of the text, if there is one before its end and the next directive.
    fn next_of_input(&mut self, input: &mut Input<'_, '_>) -> Result<Option<Token>, Stop> {
        let Input::Text(lexer, text) = input else { return Ok(None) };
        let mut space = false;
        // Where the line before the token ends, if one does.
        let mut line_end = None;
        loop {
            let token = lexer.next();
            match (token.kind, line_end) {
                (Kind::Newline, _) => (space, line_end) = (true, Some(token.start as usize)),
                (Kind::Comment, _) => space = true,
                (Kind::End, _) => return Ok(None),
                (Kind::Hash, Some(before)) => {
                    lexer.at = before;
                    return Ok(None);
                }
                _ => {
                    self.spend(1)?;
                    let token = Token::of(token, *text);
                    return Ok(Some(Token { space: token.space || space, ..token }));
                }
            }
        }
    }

    /// What a macro says with these arguments.
    fn substitute(
        &mut self,
        meaning: &Meaning,
        given: Vec<Vec<Token>>,
    ) -> Result<Vec<Token>, Stop> {
        let parameters = meaning.parameters.unwrap_or(0);
        let mut arguments = Arguments {
            replaced: given.iter().map(|_| None).collect(),
            given,
            rest: meaning.variadic.then(|| parameters.saturating_sub(1)),
        };
        let mut said = Vec::new();
        self.say(&meaning.body, meaning.parameters.is_some(), &mut arguments, &mut said)?;
        Ok(said)
    }

    /// Writes down a part of what a macro says. `has_parameters`: `#` makes a string.
    fn say(
        &mut self,
        body: &[Token],
        has_parameters: bool,
        arguments: &mut Arguments,
        said: &mut Vec<Token>,
    ) -> Result<(), Stop> {
        // Whether `##` comes before, and whether what stood before that was nothing.
        let (mut pastes, mut empty) = (false, true);
        let mut at = 0;
        while at < body.len() {
            let token = body[at];
            if token.kind == Kind::Paste && at > 0 {
                pastes = true;
                at += 1;
                continue;
            }
            if let Some(length) = arguments.comma_before_rest(&body[at..]) {
                let rest = arguments.rest.unwrap_or_default();
                if arguments.given.get(rest).is_some_and(|rest| !rest.is_empty()) {
                    said.push(token);
                    said.extend(self.argument(arguments, rest, token.space)?);
                }
                (pastes, empty, at) = (false, false, at + length);
                continue;
            }
            let is_plain = token.parameter == NO_PARAMETER
                && !matches!(token.kind, Kind::Hash | Kind::Name)
                && !pastes;
            if is_plain {
                self.spend(1)?;
                said.push(token);
                (empty, at) = (false, at + 1);
                continue;
            }
            let (piece, length) = self.piece(&body[at..], has_parameters, pastes, arguments)?;
            at += length;
            self.spend(piece.len())?;
            let was_empty = piece.is_empty();
            match piece.split_first() {
                Some((first, others)) if pastes && !empty => {
                    match said.pop() {
                        Some(last) => self.paste(last, *first, said)?,
                        None => said.push(*first),
                    }
                    said.extend_from_slice(others);
                }
                _ => said.extend_from_slice(&piece),
            }
            empty = was_empty && (empty || !pastes);
            pastes = false;
        }
        Ok(())
    }

    /// What stands at the beginning of a part, and how many tokens that is. `pastes`: `##` comes
    /// before it.
    fn piece(
        &mut self,
        body: &[Token],
        has_parameters: bool,
        pastes: bool,
        arguments: &mut Arguments,
    ) -> Result<(Vec<Token>, usize), Stop> {
        let token = body[0];
        let pasted =
            |length: usize| pastes || body.get(length).is_some_and(|next| next.kind == Kind::Paste);
        if token.kind == Kind::Hash
            && has_parameters
            && let Some(next) = body.get(1).filter(|next| next.parameter != NO_PARAMETER)
        {
            let argument = arguments.given.get(usize::from(next.parameter));
            let string = self.string_of(argument.map_or(&[][..], Vec::as_slice), token.space)?;
            return Ok((vec![string], 2));
        }
        if let Some(end) = self.optional_part(body, arguments) {
            let mut said = Vec::new();
            let rest = arguments.rest.unwrap_or_default();
            if arguments.given.get(rest).is_some_and(|rest| !rest.is_empty()) {
                self.say(&body[2..end], has_parameters, arguments, &mut said)?;
            }
            return Ok((said, end + 1));
        }
        if token.parameter == NO_PARAMETER {
            return Ok((vec![token], 1));
        }
        let number = usize::from(token.parameter);
        if pasted(1) {
            let given = arguments.given.get(number);
            return Ok((given.cloned().unwrap_or_default(), 1));
        }
        Ok((self.argument(arguments, number, token.space)?, 1))
    }

    /// Where `__VA_OPT__(..)` ends, if it begins here.
    fn optional_part(&self, body: &[Token], arguments: &Arguments) -> Option<usize> {
        let is_one = arguments.rest.is_some()
            && body[0].kind == Kind::Name
            && body.get(1).is_some_and(|next| next.kind == Kind::Open)
            && self.sources.word(&body[0]) == "__VA_OPT__";
        let mut depth = 0_usize;
        let closes = |token: &Token| {
            match token.kind {
                Kind::Open => depth += 1,
                Kind::Close => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0
        };
        is_one.then(|| body[1..].iter().position(closes)).flatten().map(|at| at + 1)
    }

    /// An argument with the macros in it replaced.
    fn argument(
        &mut self,
        arguments: &mut Arguments,
        number: usize,
        space: bool,
    ) -> Result<Vec<Token>, Stop> {
        let Some(given) = arguments.given.get(number) else { return Ok(Vec::new()) };
        let mut tokens = match &arguments.replaced[number] {
            Some(replaced) => replaced.clone(),
            None if !self.has_macro(given) => given.clone(),
            None => {
                self.depth += 1;
                if self.depth > DEPTH {
                    let message = format!("macros are nested more than {DEPTH} deep here");
                    return Err(self.stop_here(message));
                }
                let replaced = self.replace(given.clone(), &mut Input::Nothing)?;
                self.depth -= 1;
                arguments.replaced[number].insert(replaced).clone()
            }
        };
        if let Some(first) = tokens.first_mut() {
            first.space = space;
        }
        Ok(tokens)
    }

    fn has_macro(&self, tokens: &[Token]) -> bool {
        let mut names = tokens.iter().filter(|token| token.kind == Kind::Name);
        names.any(|name| self.macros.find(self.sources.word(name)).is_some())
    }

    /// `#`
    fn string_of(&mut self, tokens: &[Token], space: bool) -> Result<Token, Stop> {
        let mut string = String::from("\"");
        for (number, token) in tokens.iter().enumerate() {
            if number > 0 && token.space {
                string.push(' ');
            }
            for letter in self.sources.word(token).chars() {
                if token.kind == Kind::Literal && matches!(letter, '"' | '\\') {
                    string.push('\\');
                }
                string.push(letter);
            }
        }
        string.push('"');
        self.spend(string.len() / 8)?;
        Ok(self.sources.make(Kind::Literal, space, &string))
    }

    /// `##`
    fn paste(&mut self, left: Token, right: Token, said: &mut Vec<Token>) -> Result<(), Stop> {
        let word = [self.sources.word(&left), self.sources.word(&right)].concat();
        self.spend(word.len() / 8)?;
        let mut lexer = Lexer::new(&word, self.is_cpp);
        let token = lexer.next();
        if token.end as usize == word.len() && token.kind != Kind::Comment {
            said.push(self.sources.make(token.kind, left.space, &word));
        } else {
            said.extend([left, right]);
        }
        Ok(())
    }

    fn builtin(&mut self, builtin: Builtin, name: Token) -> Token {
        let (kind, word) = match builtin {
            Builtin::File => (Kind::Literal, self.file_name()),
            Builtin::Line => (Kind::Number, self.line().to_string()),
            Builtin::Counter => {
                self.counter += 1;
                (Kind::Number, (self.counter - 1).to_string())
            }
        };
        self.sources.make(kind, name.space, &word)
    }
}

impl Arguments {
    /// How long `, ## __VA_ARGS__` is, if it begins here: without such arguments there is no comma.
    fn comma_before_rest(&self, body: &[Token]) -> Option<usize> {
        let [comma, paste, rest, ..] = body else { return None };
        let is_one = comma.kind == Kind::Comma
            && paste.kind == Kind::Paste
            && self.rest == Some(usize::from(rest.parameter));
        is_one.then_some(3)
    }
}

/// Whether a macro can be used with so many arguments.
fn fits(meaning: &Meaning, parameters: usize, given: &[Vec<Token>]) -> bool {
    match parameters {
        0 => matches!(given, [only] if only.is_empty()),
        _ if meaning.variadic => given.len() + 1 >= parameters,
        _ => given.len() == parameters,
    }
}
