//! Expressions: Rust's, over integers and conditions.

use proc_macro2::{Delimiter, TokenTree};

use super::{Parsed, Parser};
use crate::grammar::scope::Meaning;
use crate::grammar::suggest;
use crate::grammar::syntax::{
    BinaryOperator, Expression, ExpressionKind, Method, Name, UnaryOperator,
};
use crate::grammar::tokens::{Cursor, Region, Token};

/// How many nodes an expression may have. Evaluating and dropping it recurse over them.
const MOST_NODES: usize = 256;

const METHODS: [(&str, Method); 6] = [
    ("min", Method::Min),
    ("max", Method::Max),
    ("pow", Method::Pow),
    ("abs_diff", Method::AbsDiff),
    ("ilog2", Method::Ilog2),
    ("is_power_of_two", Method::IsPowerOfTwo),
];

/// The operators with their strength, the longer ones before those that they begin with.
const OPERATORS: [(&str, u8, BinaryOperator); 18] = [
    ("||", 1, BinaryOperator::LogicalOr),
    ("&&", 2, BinaryOperator::LogicalAnd),
    ("==", 3, BinaryOperator::Equal),
    ("!=", 3, BinaryOperator::NotEqual),
    ("<<", 7, BinaryOperator::ShiftLeft),
    (">>", 7, BinaryOperator::ShiftRight),
    ("<=", 3, BinaryOperator::LessOrEqual),
    (">=", 3, BinaryOperator::GreaterOrEqual),
    ("<", 3, BinaryOperator::Less),
    (">", 3, BinaryOperator::Greater),
    ("|", ALTERNATIVE, BinaryOperator::Or),
    ("^", 5, BinaryOperator::Xor),
    ("&", 6, BinaryOperator::And),
    ("+", 8, BinaryOperator::Add),
    ("-", 8, BinaryOperator::Subtract),
    ("*", 9, BinaryOperator::Multiply),
    ("/", 9, BinaryOperator::Divide),
    ("%", 9, BinaryOperator::Remainder),
];

/// The strength of `|`, which separates alternatives in patterns.
const ALTERNATIVE: u8 = 4;

impl Method {
    /// Whether it takes an argument.
    fn takes_argument(self) -> bool {
        !matches!(self, Method::Ilog2 | Method::IsPowerOfTwo)
    }
}

/// What an expression is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Type {
    Integer,
    Condition,
    /// Coordinates on the grid.
    Pair,
}

impl Type {
    fn noun(self) -> &'static str {
        match self {
            Type::Integer => "a number",
            Type::Condition => "a condition",
            Type::Pair => "a pair of coordinates",
        }
    }
}

impl Parser {
    /// An integer that ends where the cursor does or at a token that no operator begins with.
    pub(super) fn integer(&mut self, cursor: &mut Cursor<'_>) -> Parsed<Expression> {
        let expression = self.expression(cursor, 0)?;
        self.expect(&expression, Type::Integer)?;
        Ok(expression)
    }

    /// An integer in a pattern, where `|` separates alternatives.
    pub(super) fn integer_in_pattern(&mut self, cursor: &mut Cursor<'_>) -> Parsed<Expression> {
        let expression = self.expression(cursor, ALTERNATIVE + 1)?;
        self.expect(&expression, Type::Integer)?;
        Ok(expression)
    }

    /// A condition.
    pub(super) fn condition(&mut self, cursor: &mut Cursor<'_>) -> Parsed<Expression> {
        let expression = self.expression(cursor, 0)?;
        self.expect(&expression, Type::Condition)?;
        Ok(expression)
    }

    /// Any value, whatever it is to be used for.
    pub(super) fn value(&mut self, cursor: &mut Cursor<'_>) -> Parsed<Expression> {
        self.expression(cursor, 0)
    }

    /// A rank: an integer, coordinates on the grid, or a source that stands alone.
    pub(super) fn peer(&mut self, cursor: &mut Cursor<'_>) -> Parsed<Expression> {
        if let Some(expression) = self.lone_source(cursor) {
            return Ok(expression);
        }
        let expression = self.expression(cursor, 0)?;
        if type_of(&expression) != Type::Pair {
            self.expect(&expression, Type::Integer)?;
        }
        Ok(expression)
    }

    fn lone_source(&mut self, cursor: &mut Cursor<'_>) -> Option<Expression> {
        let token = cursor.peek()?;
        let ident = token.word()?;
        if cursor.rest.get(1).is_some_and(|next| !next.is_mark(',')) {
            return None;
        }
        let entry = self.scope.find(&token.text)?;
        if !matches!(entry.meaning, Meaning::Source) {
            return None;
        }
        let name = Name { ident: ident.clone(), id: entry.id };
        cursor.next();
        Some(Expression::at(ident.span().into(), ExpressionKind::Variable(name)))
    }

    fn expression(&mut self, cursor: &mut Cursor<'_>, weakest: u8) -> Parsed<Expression> {
        self.nodes = 0;
        self.binary(cursor, weakest)
    }

    /// Operands with operators at least as strong as this.
    fn binary(&mut self, cursor: &mut Cursor<'_>, weakest: u8) -> Parsed<Expression> {
        let mut left = self.unary(cursor)?;
        while let Some((text, strength, operator)) = self.operator(*cursor, weakest)? {
            cursor.take(text);
            let right = self.binary(cursor, strength + 1)?;
            self.expect_operands(operator, &left, &right)?;
            let region = left.region().to(right.region());
            let kind = ExpressionKind::Binary(operator, Box::new(left), Box::new(right));
            left = self.node(kind, region)?;
        }
        Ok(left)
    }

    /// The operator that follows, if it is strong enough.
    fn operator(
        &mut self,
        cursor: Cursor<'_>,
        weakest: u8,
    ) -> Parsed<Option<(&'static str, u8, BinaryOperator)>> {
        if cursor.at_word("as") {
            return Err(self.wrong_help(
                cursor.remainder(),
                "there are no casts here",
                "leave `as` away: all numbers of the language are alike",
            ));
        }
        let operator = OPERATORS.iter().find(|(text, _, _)| cursor.at(text)).copied();
        if let Some((text, _, _)) = operator {
            let mut after = cursor;
            after.take(text);
            if !matches!(text, "==" | "!=" | "<=" | ">=")
                && after.at("=")
                && cursor.at(&format!("{text}="))
            {
                return Err(self.wrong_help(
                    cursor.region(),
                    "nothing can be assigned here",
                    "a protocol's values never change; a loop variable comes from `for`",
                ));
            }
        }
        Ok(operator.filter(|&(_, strength, _)| strength >= weakest))
    }

    fn unary(&mut self, cursor: &mut Cursor<'_>) -> Parsed<Expression> {
        let region = cursor.region();
        let (operator, operand) = if cursor.take("!") {
            (UnaryOperator::Not, Type::Condition)
        } else if cursor.take("-") {
            (UnaryOperator::Negate, Type::Integer)
        } else {
            return self.postfix(cursor);
        };
        self.count_node(region)?;
        let inner = self.unary(cursor)?;
        self.expect(&inner, operand)?;
        let region = region.to(inner.region());
        Ok(Expression::at(region, ExpressionKind::Unary(operator, Box::new(inner))))
    }

    fn postfix(&mut self, cursor: &mut Cursor<'_>) -> Parsed<Expression> {
        let mut receiver = self.primary(cursor)?;
        while cursor.at(".") && !cursor.at("..") {
            cursor.take(".");
            receiver = self.method(receiver, cursor)?;
        }
        Ok(receiver)
    }

    fn method(&mut self, receiver: Expression, cursor: &mut Cursor<'_>) -> Parsed<Expression> {
        let known = "methods of numbers here: min, max, pow, abs_diff, ilog2, is_power_of_two";
        let Some(token) = cursor.next().filter(|token| token.word().is_some()) else {
            return Err(self.wrong_help(cursor.region(), "expected a method's name", known));
        };
        let Some(&(name, method)) = METHODS.iter().find(|(name, _)| token.is_word(name)) else {
            let near = suggest::nearest(&token.text, METHODS.map(|(name, _)| name));
            let help = near.map_or(known.to_owned(), |near| format!("did you mean `{near}`?"));
            let message = format!("unknown method `{}`", token.text);
            return Err(self.wrong_help(token.region(), message, help));
        };
        self.expect(&receiver, Type::Integer)?;
        let Some(group) = cursor.take_group(Delimiter::Parenthesis) else {
            let help = format!("write `{name}(..)`");
            return Err(self.wrong_help(token.region(), "a method is called with brackets", help));
        };
        let mut inside = group.enter();
        let argument = if method.takes_argument() {
            let argument = self.nested(&mut inside)?;
            self.expect(&argument, Type::Integer)?;
            inside.take(",");
            Some(Box::new(argument))
        } else {
            None
        };
        self.finished(inside, known)?;
        let region = receiver.region().to(group.region());
        self.node(ExpressionKind::Method(method, Box::new(receiver), argument), region)
    }

    fn primary(&mut self, cursor: &mut Cursor<'_>) -> Parsed<Expression> {
        let Some(token) = cursor.next() else {
            return Err(self.wrong_help(
                cursor.end,
                "expected a value",
                "values are made of `rank`, `size`, numbers, loop variables and parameters",
            ));
        };
        match &token.tree {
            TokenTree::Literal(literal) => {
                let region = token.region();
                match syn::Lit::new(literal.clone()) {
                    syn::Lit::Int(number) => self.number(&number, region),
                    _ => Err(self.wrong(region, "only whole numbers are values here")),
                }
            }
            TokenTree::Group(group) => match group.delimiter() {
                Delimiter::Parenthesis => self.parenthesised(token),
                Delimiter::None => {
                    let mut inside = token.enter();
                    let value = self.nested(&mut inside)?;
                    self.finished(inside, "one value")?;
                    Ok(value)
                }
                _ => Err(self.wrong(token.region(), "expected a value")),
            },
            TokenTree::Ident(_) if token.is_word("if") => self.conditional(token.region(), cursor),
            TokenTree::Ident(_) => self.word(token, *cursor),
            TokenTree::Punct(_) => Err(self.wrong(token.region(), "expected a value")),
        }
    }

    fn number(&mut self, number: &syn::LitInt, region: Region) -> Parsed<Expression> {
        match number.base10_parse::<i64>() {
            Ok(value) => self.node(ExpressionKind::Integer(value), region),
            Err(_) => Err(self.wrong(region, "this number is too large: the largest is 2^63 - 1")),
        }
    }

    /// `(value)` or `(x, y)`.
    fn parenthesised(&mut self, token: &Token) -> Parsed<Expression> {
        let mut inside = token.enter();
        let first = self.nested(&mut inside)?;
        if inside.is_empty() {
            return Ok(Expression::at(token.region(), first.kind));
        }
        let help = "a rank on a grid is `(x, y)`";
        if !inside.take(",") {
            return self.finished(inside, help).map(|()| first);
        }
        let second = self.nested(&mut inside)?;
        inside.take(",");
        self.finished(inside, help)?;
        self.expect(&first, Type::Integer)?;
        self.expect(&second, Type::Integer)?;
        let kind = ExpressionKind::Pair(Box::new(first), Box::new(second));
        if self.grid_known {
            return self.node(kind, token.region());
        }
        Err(self.wrong_help(
            token.region(),
            "coordinates need a grid",
            "write `#[p2p_protocol(grid(P, Q))]`, or a rank as one number",
        ))
    }

    /// `if c { a } else { b }`
    fn conditional(&mut self, start: Region, cursor: &mut Cursor<'_>) -> Parsed<Expression> {
        self.count_node(start)?;
        let help = "as a value: `if condition { a } else { b }`";
        let mut head = cursor.until(|token| token.is_group(Delimiter::Brace));
        let condition = self.nested(&mut head)?;
        self.finished(head, help)?;
        self.expect(&condition, Type::Condition)?;
        let Some(then) = cursor.take_group(Delimiter::Brace) else {
            return Err(self.wrong_help(cursor.region(), "expected `{ value }`", help));
        };
        let then = self.braced(then)?;
        if !cursor.take_word("else") {
            return Err(self.wrong_help(cursor.region(), "expected `else { value }`", help));
        }
        let region = cursor.region();
        let otherwise = if cursor.take_word("if") {
            self.conditional(region, cursor)?
        } else if let Some(group) = cursor.take_group(Delimiter::Brace) {
            self.braced(group)?
        } else {
            return Err(self.wrong_help(cursor.region(), "expected `{ value }`", help));
        };
        self.expect(&otherwise, type_of(&then))?;
        let region = start.to(otherwise.region());
        let kind =
            ExpressionKind::Conditional(Box::new(condition), Box::new(then), Box::new(otherwise));
        Ok(Expression::at(region, kind))
    }

    fn braced(&mut self, group: &Token) -> Parsed<Expression> {
        let mut inside = group.enter();
        let value = self.nested(&mut inside)?;
        self.finished(inside, "one value")?;
        Ok(value)
    }

    fn nested(&mut self, cursor: &mut Cursor<'_>) -> Parsed<Expression> {
        self.binary(cursor, 0)
    }

    fn word(&mut self, token: &Token, after: Cursor<'_>) -> Parsed<Expression> {
        let region = token.region();
        let kind = match token.text.as_str() {
            "true" => ExpressionKind::Boolean(true),
            "false" => ExpressionKind::Boolean(false),
            "size" if self.size_known => ExpressionKind::Size,
            "rank" if self.rank_known => ExpressionKind::Rank,
            word @ ("rank" | "size") => {
                return Err(self.wrong(region, format!("`{word}` is not known here")));
            }
            _ => match self.named_value(token) {
                Some(value) => return self.node(value.kind, region),
                None => ExpressionKind::Variable(self.variable(token, after)?),
            },
        };
        self.node(kind, region)
    }

    /// The value that `let` has given this name. Its nodes count wherever it stands.
    fn named_value(&mut self, token: &Token) -> Option<Expression> {
        let Some(Meaning::Value(value)) = self.scope.find(&token.text).map(|entry| &entry.meaning)
        else {
            return None;
        };
        let value = Expression::clone(value);
        self.nodes += value.nodes() - 1;
        Some(value)
    }

    /// A name that stands for a number.
    fn variable(&mut self, token: &Token, after: Cursor<'_>) -> Parsed<Name> {
        let (word, region) = (token.text.as_str(), token.region());
        let Some(ident) = token.word() else {
            return Err(self.wrong(region, "expected a value"));
        };
        match self.scope.find(word) {
            Some(entry) if matches!(entry.meaning, Meaning::Unknown) => Err(super::Reported),
            Some(entry) if matches!(entry.meaning, Meaning::Opaque) => Err(self.wrong_help(
                region,
                format!("the value of `{word}` is not known here"),
                "a constant that a role uses is written in numbers and other such constants",
            )),
            Some(entry) if entry.meaning.is_number() => {
                Ok(Name { ident: ident.clone(), id: entry.id })
            }
            Some(entry) if matches!(entry.meaning, Meaning::Source) => Err(self.wrong_help(
                region,
                format!("nothing can be computed from the source `{word}`"),
                format!(
                    "who it is shows only at run time; it may stand alone as a peer, as in \
                     `send({word}, Message)`"
                ),
            )),
            Some(entry) => {
                let message = format!("`{word}` is {}, not a number", entry.meaning.noun());
                Err(self.wrong(region, message))
            }
            None => Err(self.unknown_variable(word, region, after)),
        }
    }

    fn unknown_variable(
        &mut self,
        word: &str,
        region: Region,
        after: Cursor<'_>,
    ) -> super::Reported {
        if self.messages.iter().any(|message| message.text == word) {
            let message = format!("`{word}` is a message, not a rank");
            return self.wrong_help(region, message, "the peer comes first, then the message");
        }
        if after.peek().is_some_and(|next| next.is_group(Delimiter::Parenthesis)) {
            let help = match suggest::nearest(word, ["test"]) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "values are made of `rank`, `size`, numbers, loop variables and parameters"
                    .to_owned(),
            };
            return self.wrong_help(region, "no function can be called in a value", help);
        }
        let near = self
            .scope
            .nearest(word, Meaning::is_number)
            .or_else(|| suggest::nearest(word, ["rank", "size"]));
        let help = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!(
                "known are `rank`, `size`, loop variables, constants, and parameters of the role: \
                 `fn role({word}: usize)`"
            ),
        };
        self.wrong_help(region, format!("unknown variable `{word}`"), help)
    }

    fn node(&mut self, kind: ExpressionKind, region: Region) -> Parsed<Expression> {
        self.count_node(region)?;
        Ok(Expression::at(region, kind))
    }

    fn count_node(&mut self, region: Region) -> Parsed<()> {
        self.nodes += 1;
        if self.nodes > MOST_NODES {
            return Err(self.wrong(region, "this expression is too long to be checked"));
        }
        Ok(())
    }

    fn expect(&mut self, expression: &Expression, expected: Type) -> Parsed<()> {
        let found = type_of(expression);
        if found == expected {
            return Ok(());
        }
        let message = format!("expected {}, this is {}", expected.noun(), found.noun());
        Err(self.wrong(expression.region(), message))
    }

    fn expect_operands(
        &mut self,
        operator: BinaryOperator,
        left: &Expression,
        right: &Expression,
    ) -> Parsed<()> {
        let operand = match operator {
            BinaryOperator::LogicalAnd | BinaryOperator::LogicalOr => Type::Condition,
            BinaryOperator::Equal
            | BinaryOperator::NotEqual
            | BinaryOperator::Xor
            | BinaryOperator::And
            | BinaryOperator::Or
                if type_of(left) == Type::Condition =>
            {
                Type::Condition
            }
            _ => Type::Integer,
        };
        self.expect(left, operand)?;
        self.expect(right, operand)
    }
}

/// The type that a well-typed expression has. It looks at no more than one path into the tree.
fn type_of(expression: &Expression) -> Type {
    use BinaryOperator::{Add, Divide, Multiply, Remainder, ShiftLeft, ShiftRight, Subtract};
    match &expression.kind {
        ExpressionKind::Boolean(_)
        | ExpressionKind::Unary(UnaryOperator::Not, _)
        | ExpressionKind::Method(Method::IsPowerOfTwo, ..) => Type::Condition,
        ExpressionKind::Pair(..) => Type::Pair,
        ExpressionKind::Binary(operator, left, _) => match operator {
            Add | Subtract | Multiply | Divide | Remainder | ShiftLeft | ShiftRight => {
                Type::Integer
            }
            BinaryOperator::Xor | BinaryOperator::And | BinaryOperator::Or => type_of(left),
            _ => Type::Condition,
        },
        ExpressionKind::Conditional(_, then, _) => type_of(then),
        _ => Type::Integer,
    }
}
