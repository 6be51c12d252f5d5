//! Expressions, one by one.

use std::sync::Arc;

use syn::{BinOp, Expr, UnOp};

use super::pattern::member;
use super::{Body, label};
use crate::program::{Binary, Block, Closure, Expression, Kind, Pattern, Statement, Type, Unary};

impl Body<'_, '_> {
    /// An expression.
    pub(super) fn expression(&mut self, written: &Expr) -> Expression {
        match written {
            Expr::Lit(it) => self.literal(&it.lit),
            Expr::Path(it) => self.path(it),
            Expr::Paren(it) => self.expression(&it.expr),
            Expr::Group(it) => self.expression(&it.expr),
            Expr::Await(it) => self.expression(&it.base),
            Expr::Call(it) => self.call(it),
            Expr::MethodCall(it) => self.method_call(it),
            Expr::Macro(it) => self.invocation(&it.mac),
            Expr::If(it) => self.branch(it),
            Expr::While(it) => self.while_loop(it),
            Expr::Match(it) => self.match_expression(it),
            Expr::Block(it) => self.block_expression(&it.block, it.label.as_ref()),
            Expr::Unsafe(it) => self.block_expression(&it.block, None),
            Expr::Const(it) => self.block_expression(&it.block, None),
            Expr::Async(it) => self.block_expression(&it.block, None),
            Expr::Closure(it) => self.closure(it),
            Expr::Struct(it) => self.struct_expression(it),
            Expr::Loop(_) | Expr::ForLoop(_) => self.loop_expression(written),
            Expr::Break(_) | Expr::Continue(_) | Expr::Return(_) => self.leaving(written),
            Expr::Assign(it) => self.assignment(it),
            Expr::Binary(it) => self.binary(it),
            _ => self.operation(written),
        }
    }

    pub(super) fn expressions<'x>(
        &mut self,
        written: impl IntoIterator<Item = &'x Expr>,
    ) -> Vec<Expression> {
        written.into_iter().map(|it| self.expression(it)).collect()
    }

    /// What is made of one or two other expressions.
    fn operation(&mut self, written: &Expr) -> Expression {
        match written {
            Expr::Unary(it) => {
                let inner = self.expression(&it.expr);
                let (kind, span): (fn(Box<Expression>) -> Kind, _) = match &it.op {
                    UnOp::Deref(token) => (Kind::Dereference, token.span),
                    UnOp::Not(token) => (|inner| Kind::Unary(Unary::Not, inner), token.span),
                    UnOp::Neg(token) => (|inner| Kind::Unary(Unary::Negate, inner), token.span),
                    _ => return inner,
                };
                let bytes = self.bytes(span).start..self.end_of(&inner);
                self.make(kind(Box::new(inner)), bytes)
            }
            Expr::Reference(it) => {
                let mutable = it.mutability.is_some();
                self.reference(&it.expr, it.and_token.span, mutable)
            }
            Expr::RawAddr(it) => {
                let mutable = matches!(it.mutability, syn::PointerMutability::Mut(_));
                self.reference(&it.expr, it.and_token.span, mutable)
            }
            Expr::Cast(it) => {
                let inner = self.expression(&it.expr);
                let ty = self.translation.type_of(&it.ty, &self.context);
                let end = self.end_of_type(&it.ty).unwrap_or(self.end_of(&inner));
                let bytes = self.start_of(&inner)..end;
                self.make(Kind::Cast(Box::new(inner), ty), bytes)
            }
            Expr::Try(it) => {
                let inner = self.expression(&it.expr);
                let bytes = self.start_of(&inner)..self.bytes(it.question_token.span).end;
                self.make(Kind::Try(Box::new(inner)), bytes)
            }
            Expr::Field(it) => self.field(it),
            Expr::Index(it) => {
                let of = self.expression(&it.expr);
                let index = self.expression(&it.index);
                let end = self.bytes(it.bracket_token.span.close()).end;
                let bytes = self.start_of(&of)..end;
                self.make(Kind::Index(Box::new(of), Box::new(index)), bytes)
            }
            Expr::Range(it) => self.range(it),
            Expr::Tuple(it) => {
                let parts = self.expressions(&it.elems);
                self.at(Kind::Tuple(parts), it.paren_token.span.join())
            }
            Expr::Array(it) => {
                let parts = self.expressions(&it.elems);
                self.at(Kind::Array(parts), it.bracket_token.span.join())
            }
            Expr::Repeat(it) => {
                let element = self.expression(&it.expr);
                let length = self.expression(&it.len);
                let kind = Kind::Repeat(Box::new(element), Box::new(length));
                self.at(kind, it.bracket_token.span.join())
            }
            other => self.unreadable(other),
        }
    }

    fn unreadable(&mut self, written: &Expr) -> Expression {
        use syn::spanned::Spanned;
        let why = match written {
            Expr::TryBlock(_) => "`try` blocks are not read",
            Expr::Yield(_) => "generators are not read",
            Expr::Let(_) => "`let` stands where no condition does",
            _ => "this expression cannot be read",
        };
        let bytes = self.bytes(written.span());
        self.unknown(why, bytes)
    }

    fn reference(&mut self, of: &Expr, start: proc_macro2::Span, mutable: bool) -> Expression {
        let of = self.expression(of);
        let bytes = self.bytes(start).start..self.end_of(&of);
        self.make(Kind::Reference { of: Box::new(of), mutable }, bytes)
    }

    fn field(&mut self, written: &syn::ExprField) -> Expression {
        let of = self.expression(&written.base);
        let end = match &written.member {
            syn::Member::Named(ident) => self.bytes(ident.span()).end,
            syn::Member::Unnamed(index) => self.bytes(index.span).end,
        };
        let bytes = self.start_of(&of)..end;
        self.make(Kind::Field(Box::new(of), member(&written.member)), bytes)
    }

    fn range(&mut self, written: &syn::ExprRange) -> Expression {
        let start = written.start.as_ref().map(|it| Box::new(self.expression(it)));
        let end = written.end.as_ref().map(|it| Box::new(self.expression(it)));
        let (inclusive, dots) = match &written.limits {
            syn::RangeLimits::HalfOpen(dots) => (false, dots.spans[0]),
            syn::RangeLimits::Closed(dots) => (true, dots.spans[0]),
        };
        let dots = self.bytes(dots);
        let from = start.as_ref().map_or(dots.start, |it| self.start_of(it));
        let to = end.as_ref().map_or(dots.start + 2, |it| self.end_of(it));
        self.make(Kind::Range { start, end, inclusive }, from..to)
    }

    fn binary(&mut self, written: &syn::ExprBinary) -> Expression {
        let left = self.expression(&written.left);
        let right = self.expression(&written.right);
        let bytes = self.start_of(&left)..self.end_of(&right);
        let (operation, assigns) = operation(&written.op);
        let (left, right) = (Box::new(left), Box::new(right));
        let kind = match operation {
            Some(operation) if assigns => Kind::AssignWith(operation, left, right),
            Some(operation) => Kind::Binary(operation, left, right),
            None => Kind::Unknown("this operation is not known".to_owned()),
        };
        self.make(kind, bytes)
    }

    /// `left = right`, also where the left side takes the right one apart.
    fn assignment(&mut self, written: &syn::ExprAssign) -> Expression {
        let value = self.expression(&written.right);
        let mut assignments = Vec::new();
        let pattern = match &*written.left {
            Expr::Tuple(_) | Expr::Array(_) | Expr::Infer(_) => {
                self.targets(&written.left, &mut assignments)
            }
            plain => {
                let target = self.expression(plain);
                let bytes = self.start_of(&target)..self.end_of(&value);
                return self.make(Kind::Assign(Box::new(target), Box::new(value)), bytes);
            }
        };
        let bytes = self.bytes_of(&value);
        let end = self.place(bytes.end..bytes.end);
        let mut statements = vec![Statement::Let {
            pattern,
            ty: Type::Unknown,
            value: Some(value),
            otherwise: None,
        }];
        statements.extend(assignments.into_iter().map(Statement::Expression));
        self.make(Kind::Block(Block { statements, end, ..Block::default() }), bytes)
    }

    /// A pattern for the left side of an assignment, and what is assigned from its variables.
    fn targets(&mut self, written: &Expr, assignments: &mut Vec<Expression>) -> Pattern {
        match written {
            Expr::Infer(_) => Pattern::Wildcard,
            Expr::Range(it) if it.start.is_none() && it.end.is_none() => Pattern::Rest,
            Expr::Tuple(it) => {
                Pattern::Tuple(it.elems.iter().map(|it| self.targets(it, assignments)).collect())
            }
            Expr::Array(it) => {
                Pattern::Slice(it.elems.iter().map(|it| self.targets(it, assignments)).collect())
            }
            other => {
                let target = self.expression(other);
                let bytes = self.bytes_of(&target);
                let variable = self.hidden("assigned", Type::Unknown);
                let value = self.variable(variable, bytes.clone());
                let assign = Kind::Assign(Box::new(target), Box::new(value));
                let assign = self.make(assign, bytes);
                assignments.push(assign);
                Pattern::Variable(variable, None)
            }
        }
    }

    fn loop_expression(&mut self, written: &Expr) -> Expression {
        match written {
            Expr::Loop(it) => {
                let start = self.bytes(it.loop_token.span).start;
                let body = Box::new(self.block_expression(&it.body, None));
                let end = self.end_of(&body);
                let label = it.label.as_ref().map(|it| label(&it.name));
                self.make(Kind::Loop(label, body), start..end)
            }
            Expr::ForLoop(it) => {
                let start = self.bytes(it.for_token.span).start;
                let over = Box::new(self.expression(&it.expr));
                self.scopes.open();
                let pattern = self.pattern(&it.pat);
                let body = Box::new(self.block_expression(&it.body, None));
                self.scopes.close();
                let end = self.end_of(&body);
                let label = it.label.as_ref().map(|it| label(&it.name));
                self.make(Kind::For { label, pattern, over, body }, start..end)
            }
            other => self.unreadable(other),
        }
    }

    fn leaving(&mut self, written: &Expr) -> Expression {
        let (span, target, value) = match written {
            Expr::Break(it) => (it.break_token.span, it.label.as_ref(), it.expr.as_ref()),
            Expr::Continue(it) => (it.continue_token.span, it.label.as_ref(), None),
            Expr::Return(it) => (it.return_token.span, None, it.expr.as_ref()),
            other => return self.unreadable(other),
        };
        let value = value.map(|it| Box::new(self.expression(it)));
        let bytes = self.bytes(span);
        let end = value.as_ref().map_or(bytes.end, |it| self.end_of(it));
        let target = target.map(label);
        let kind = match written {
            Expr::Break(_) => Kind::Break(target, value),
            Expr::Continue(_) => Kind::Continue(target),
            _ => Kind::Return(value),
        };
        self.make(kind, bytes.start..end)
    }

    fn closure(&mut self, written: &syn::ExprClosure) -> Expression {
        let start = self.bytes(written.inputs_begin.span).start;
        self.scopes.open();
        let mut parameters = Vec::new();
        for input in &written.inputs {
            let (pattern, ty) = match input {
                syn::Pat::Type(typed) => {
                    let ty = self.translation.annotation(&typed.ty, &self.context);
                    (&*typed.pat, ty)
                }
                other => (other, Type::Unknown),
            };
            let pattern = self.pattern(pattern);
            if let Pattern::Variable(variable, None) = &pattern {
                self.variables[variable.0 as usize].ty = ty.clone();
            }
            parameters.push((pattern, ty));
        }
        let mut body = self.expression(&written.body);
        if let syn::ReturnType::Type(_, result) = &written.output {
            body.ty = self.translation.type_of(result, &self.context);
        }
        self.scopes.close();
        let end = self.end_of(&body);
        let moves = written.capture.is_some();
        self.make(Kind::Closure(Arc::new(Closure { parameters, body, moves })), start..end)
    }

    fn struct_expression(&mut self, written: &syn::ExprStruct) -> Expression {
        let start = written.path.segments.first().map(|it| self.bytes(it.ident.span()).start);
        let end = self.bytes(written.brace_token.span.close()).end;
        let bytes = start.unwrap_or(end)..end;
        let fields: Vec<(String, Expression)> = written
            .fields
            .iter()
            .map(|field| (member(&field.member), self.expression(&field.expr)))
            .collect();
        let rest = written.rest.as_ref().map(|it| Box::new(self.expression(it)));
        let ty = self.translation.named(&written.path, &self.context);
        if let Some((definition, variant)) = self.constructor(&written.path) {
            let mut built = self.make(Kind::Construct { definition, variant, fields, rest }, bytes);
            built.ty = self.of_definition(definition, ty);
            return built;
        }
        // A library's struct: what its fields are given is evaluated, what comes of it is not known.
        let import = super::super::types::import_of(&written.path);
        let callee = self.make(Kind::External(import.path.into(), Vec::new()), bytes.clone());
        let mut arguments: Vec<Expression> = fields.into_iter().map(|(_, value)| value).collect();
        arguments.extend(rest.map(|rest| *rest));
        self.make(Kind::Call(Box::new(callee), arguments), bytes)
    }

    /// The written type of a value of a definition, where generic arguments are written.
    pub(super) fn of_definition(
        &self,
        definition: crate::program::DefinitionId,
        written: Type,
    ) -> Type {
        let generics = self.translation.program.definition(definition).generics.len();
        match written {
            Type::Defined(own, arguments) if own == definition && arguments.len() == generics => {
                Type::Defined(own, arguments)
            }
            _ => Type::Defined(definition, vec![Type::Variable(0); generics]),
        }
    }

    /// Where a written type ends, if that is easily seen.
    fn end_of_type(&self, written: &syn::Type) -> Option<usize> {
        match written {
            syn::Type::Path(path) => {
                let last = path.path.segments.last()?;
                match &last.arguments {
                    syn::PathArguments::AngleBracketed(it) => {
                        Some(self.bytes(it.gt_token.span).end)
                    }
                    _ => Some(self.bytes(last.ident.span()).end),
                }
            }
            syn::Type::Infer(it) => Some(self.bytes(it.underscore_token.span).end),
            syn::Type::Ptr(it) => self.end_of_type(&it.elem),
            syn::Type::Reference(it) => self.end_of_type(&it.elem),
            _ => None,
        }
    }
}

/// The operation, and whether it assigns its result.
fn operation(written: &BinOp) -> (Option<Binary>, bool) {
    let assigns = matches!(
        written,
        BinOp::AddAssign(_)
            | BinOp::SubAssign(_)
            | BinOp::MulAssign(_)
            | BinOp::DivAssign(_)
            | BinOp::RemAssign(_)
            | BinOp::BitXorAssign(_)
            | BinOp::BitAndAssign(_)
            | BinOp::BitOrAssign(_)
            | BinOp::ShlAssign(_)
            | BinOp::ShrAssign(_)
    );
    let operation = match written {
        BinOp::Add(_) | BinOp::AddAssign(_) => Binary::Add,
        BinOp::Sub(_) | BinOp::SubAssign(_) => Binary::Subtract,
        BinOp::Mul(_) | BinOp::MulAssign(_) => Binary::Multiply,
        BinOp::Div(_) | BinOp::DivAssign(_) => Binary::Divide,
        BinOp::Rem(_) | BinOp::RemAssign(_) => Binary::Remainder,
        BinOp::BitXor(_) | BinOp::BitXorAssign(_) => Binary::BitXor,
        BinOp::BitAnd(_) | BinOp::BitAndAssign(_) => Binary::BitAnd,
        BinOp::BitOr(_) | BinOp::BitOrAssign(_) => Binary::BitOr,
        BinOp::Shl(_) | BinOp::ShlAssign(_) => Binary::ShiftLeft,
        BinOp::Shr(_) | BinOp::ShrAssign(_) => Binary::ShiftRight,
        BinOp::And(_) => Binary::And,
        BinOp::Or(_) => Binary::Or,
        BinOp::Eq(_) => Binary::Equal,
        BinOp::Ne(_) => Binary::NotEqual,
        BinOp::Lt(_) => Binary::Less,
        BinOp::Le(_) => Binary::LessOrEqual,
        BinOp::Gt(_) => Binary::Greater,
        BinOp::Ge(_) => Binary::GreaterOrEqual,
        _ => return (None, assigns),
    };
    (Some(operation), assigns)
}
