//! Decisions: `match` on what this rank chooses, on what another has chosen, on which of several
//! requests completes.

use proc_macro2::Delimiter;

use super::operation::Call;
use super::statement::Headed;
use super::{Parsed, Parser, Reported};
use crate::grammar::syntax::{Block, DecisionArm, Expression, Name, StatementKind};
use crate::grammar::tokens::{Cursor, Token};

impl Parser {
    /// `match choose(..)`, `match offer(..)`, `match wait_any(..)`.
    pub(super) fn decision(&mut self, cursor: &mut Cursor<'_>) -> Parsed<Headed> {
        let help = "write `match choose(peer) { Go => { .. } Stop => { .. } }`, or `offer`, or \
                    `wait_any`";
        let (mut head, body, region) = self.head(cursor, help)?;
        let call = self.call(&mut head).filter(|_| head.is_empty());
        let kind = match call {
            Some(mut call) if call.verb == "choose" => {
                let peers = self.peers(&mut call);
                let arms = self.decision_arms(body);
                StatementKind::Choose(peers?, arms)
            }
            Some(mut call) if call.verb == "offer" => {
                let peer = self.decider(&mut call);
                let arms = self.decision_arms(body);
                StatementKind::Offer(peer?, arms)
            }
            Some(mut call) if call.verb == "wait_any" => {
                let requests = self.named_requests(&mut call);
                let arms = self.request_arms(body, requests.as_deref().unwrap_or(&[]));
                requests?;
                StatementKind::WaitAny(arms)
            }
            Some(_) => {
                let message = "this is nothing that a protocol can decide by";
                self.wrong_help(region, message, help);
                self.decision_arms(body);
                return Err(Reported);
            }
            None => {
                // The arms are values then, and no decisions.
                let message = "`match` is for decisions, not for values";
                let help = "write `if rank == 0 { .. } else { .. }`; ranks that do other things \
                            altogether are roles: `#[rank(0)]`, `#[rank(1..)]`";
                return Err(self.wrong_help(region, message, help));
            }
        };
        Ok((kind, region))
    }

    fn decider(&mut self, call: &mut Call<'_>) -> Parsed<Expression> {
        if call.arguments.at_word("any") {
            let help = "learn first who it is: `let from = recv(any(..), Message);`, then \
                        `offer(from)`";
            return Err(self.wrong_help(call.region, "`offer` needs one rank", help));
        }
        let peer = self.argument(call, Parser::peer)?;
        self.end_of(call)?;
        Ok(peer)
    }

    fn decision_arms(&mut self, body: &Token) -> Vec<DecisionArm> {
        let mut arms: Vec<DecisionArm> = Vec::new();
        let mut cursor = body.enter();
        if cursor.is_empty() {
            let help = "name what can be decided: `Go => { .. }`";
            self.wrong_help(body.region(), "there is nothing to decide", help);
        }
        while !cursor.is_empty() {
            let Some((label, body)) = self.arm(&mut cursor, "Go") else { continue };
            let Some(ident) = label.word().filter(|_| label.text != "_") else {
                let help = "every decision has an arm of its own, named in camel case: `Go => {}`";
                self.wrong_help(label.region(), "expected a decision's name", help);
                continue;
            };
            let index = self.decision_label(label);
            if arms.iter().any(|arm| arm.index == index) {
                let message = format!("there are two arms `{}`", label.text);
                self.wrong_help(label.region(), message, "join them");
                continue;
            }
            arms.push(DecisionArm { label: ident.clone(), index, body });
        }
        arms
    }

    fn decision_label(&mut self, token: &Token) -> usize {
        let known = self.labels.iter().position(|(_, label)| label == &token.text);
        known.unwrap_or_else(|| {
            if let Some(ident) = token.word() {
                self.labels.push((ident.clone(), token.text.clone()));
            }
            self.labels.len().saturating_sub(1)
        })
    }

    fn request_arms(&mut self, body: &Token, requests: &[Name]) -> Vec<(Name, Block)> {
        let mut arms: Vec<(Name, Block)> = Vec::new();
        let mut cursor = body.enter();
        while !cursor.is_empty() {
            let Some((label, block)) = self.arm(&mut cursor, "first") else { continue };
            let known = requests.iter().find(|name| name.ident == label.text.as_str());
            let Some(name) = known else {
                let help = "each arm is one of the requests in `wait_any(..)`";
                let message = format!("`{}` is not waited for here", label.text);
                self.wrong_help(label.region(), message, help);
                continue;
            };
            if arms.iter().any(|(other, _)| other.id == name.id) {
                let message = format!("there are two arms `{}`", label.text);
                self.wrong_help(label.region(), message, "join them");
                continue;
            }
            arms.push((name.clone(), block));
        }
        for name in requests.iter().filter(|name| arms.iter().all(|(arm, _)| arm.id != name.id)) {
            let message = format!("`{name}` has no arm");
            let help = format!("add `{name} => {{ .. }}`");
            self.wrong_help(name.span().into(), message, help);
        }
        arms
    }

    /// `name => { .. }` or `name => operation,`.
    fn arm<'t>(&mut self, cursor: &mut Cursor<'t>, example: &str) -> Option<(&'t Token, Block)> {
        let help = format!("write `{example} => {{ .. }}`");
        let pattern = cursor.until(|token| token.is_mark('=') || token.is_group(Delimiter::Brace));
        let region = pattern.remainder();
        if !cursor.take("=>") {
            self.wrong_help(region, "expected `name => { .. }`", help);
            cursor.next();
            return None;
        }
        let block = match cursor.take_group(Delimiter::Brace) {
            Some(body) => self.block(body.enter()),
            None => self.block(cursor.until(|token| token.is_mark(','))),
        };
        cursor.take(",");
        match pattern.rest {
            [label] => Some((label, block)),
            _ => {
                self.wrong_help(region, "an arm is one name, without conditions", help);
                None
            }
        }
    }
}
