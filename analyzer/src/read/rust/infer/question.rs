//! What cannot be told before more is known: questions, which wait for a term and are asked again
//! when it has become known.
//!
//! A question that is never answered has unknown answers, and everything that it is about is
//! doubtful.

use super::Inference;
use super::call::MethodCall;
use super::term::{Kind, TermId};
use crate::program::Binary;

/// Something to be found out.
#[derive(Clone, Debug)]
pub(super) enum Question {
    /// What a method gives and takes.
    Method(Box<MethodCall>),
    /// What calling a value gives.
    Call { callee: TermId, arguments: Vec<TermId>, result: TermId },
    /// What a field is.
    Field { of: TermId, name: String, result: TermId },
    /// What an index gives.
    Index { base: TermId, index: TermId, result: TermId },
    /// What `*` gives.
    Dereference { of: TermId, result: TermId },
    /// What an operator gives.
    Binary { operator: Binary, left: TermId, right: TermId, result: TermId },
    /// What `-` and `!` give.
    Unary { method: &'static str, of: TermId, result: TermId },
    /// Both can be compared.
    Compare { left: TermId, right: TermId },
    /// What the elements are that a loop sees.
    Iterate { over: TermId, item: TermId },
    /// What can be collected from the elements.
    Collect { item: TermId, into: TermId },
    /// The same for elements that may be references to what is collected.
    Extend { item: TermId, into: TermId },
    /// What the elements add up to.
    Sum { item: TermId, into: TermId },
    /// What `?` gives.
    Try { of: TermId, result: TermId },
}

/// What came of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// All that it says is told.
    Done,
    /// Nothing, before this term is known.
    Wait(TermId),
}

impl Question {
    /// Everything that it is about.
    fn terms(&self) -> Vec<TermId> {
        match self {
            Question::Method(call) => {
                let mut terms = call.arguments.clone();
                terms.extend([call.receiver, call.result]);
                terms
            }
            Question::Call { callee, arguments, result } => {
                let mut terms = arguments.clone();
                terms.extend([*callee, *result]);
                terms
            }
            Question::Index { base, index, result } => vec![*base, *index, *result],
            Question::Binary { left, right, result, .. } => vec![*left, *right, *result],
            Question::Compare { left, right } => vec![*left, *right],
            Question::Iterate { over, item } => vec![*over, *item],
            Question::Collect { item, into }
            | Question::Extend { item, into }
            | Question::Sum { item, into } => vec![*item, *into],
            Question::Field { of, result, .. }
            | Question::Dereference { of, result }
            | Question::Unary { of, result, .. }
            | Question::Try { of, result } => vec![*of, *result],
        }
    }

    /// Whether Rust itself would have to know the answer by now: if it is not known here, something
    /// was not understood.
    fn is_urgent(&self) -> bool {
        matches!(
            self,
            Question::Method(_)
                | Question::Call { .. }
                | Question::Field { .. }
                | Question::Index { .. }
                | Question::Dereference { .. }
                | Question::Try { .. }
        )
    }
}

impl Inference<'_> {
    /// Finds it out, now or as soon as it can be told.
    pub(super) fn ask(&mut self, question: Question) {
        match self.answer(&question) {
            Answer::Done => {}
            Answer::Wait(term) => {
                if question.is_urgent() {
                    for term in question.terms() {
                        self.terms.doubt(term);
                    }
                }
                let number =
                    u32::try_from(self.questions.len()).expect("fewer questions than bytes");
                self.questions.push(Some(question));
                self.terms.wait(term, number);
            }
        }
    }

    /// Asks again what has become known.
    pub(super) fn settle(&mut self) {
        while let Some(number) = self.terms.next_woken() {
            let Some(question) = self.questions[number as usize].take() else { continue };
            if let Answer::Wait(term) = self.answer(&question) {
                self.questions[number as usize] = Some(question);
                self.terms.wait(term, number);
            }
        }
    }

    /// Nothing more will become known: what is left open is doubtful, and the other numbers are
    /// what Rust takes them for.
    pub(super) fn conclude(&mut self) {
        self.settle();
        for question in std::mem::take(&mut self.questions).iter().flatten() {
            for term in question.terms() {
                self.terms.doubt(term);
            }
        }
        self.terms.choose_defaults();
    }

    fn answer(&mut self, question: &Question) -> Answer {
        match question {
            Question::Method(call) => self.method(call),
            Question::Call { callee, arguments, result } => {
                self.called(*callee, arguments, *result)
            }
            Question::Field { of, name, result } => self.field(*of, name, *result),
            Question::Index { base, index, result } => self.indexed(*base, *index, *result),
            Question::Dereference { of, result } => self.dereference(*of, *result),
            Question::Binary { operator, left, right, result } => {
                self.binary(*operator, *left, *right, *result)
            }
            Question::Unary { method, of, result } => self.unary(method, *of, *result),
            Question::Compare { left, right } => self.compare(*left, *right),
            Question::Iterate { over, item } => self.iterate(*over, *item),
            Question::Collect { item, into } => self.collect(*item, *into),
            Question::Extend { item, into } => self.extend(*item, *into),
            Question::Sum { item, into } => self.sum(*item, *into),
            Question::Try { of, result } => self.tried(*of, *result),
        }
    }

    /// A term that an answer goes to.
    pub(super) fn open(&mut self) -> TermId {
        self.terms.open(Kind::Any)
    }

    /// Nothing is known of any of them.
    pub(super) fn give_up(&mut self, terms: &[TermId]) -> Answer {
        for term in terms {
            self.terms.doubt(*term);
        }
        Answer::Done
    }
}
