//! One rank of one size: its memory, its calls, and what it does to others.
//!
//! The methods here are what [`super::library`] builds on; statements and expressions are evaluated
//! in the modules below.

use p2p_protocol::model::{Action, RequestId, SourceId};

use super::value::{Path, Unknown, Value};
use super::{Evaluated, Limits, Understood};
use crate::program::{Entry, Expression, Place, Program, Type};

/// Why evaluation does not go on at the next expression.
#[derive(Clone, Debug)]
pub(super) enum Flow {
    /// `break`, with its label and its value.
    Break(Option<String>, Value),
    /// `continue`, with its label.
    Continue(Option<String>),
    /// `return`, with its value.
    Return(Value),
    /// The rank is gone: it panicked, exited, or nothing more can be known of it.
    Gone,
}

/// What an evaluation comes to.
pub(super) type Outcome<T = Value> = Result<T, Flow>;

/// A call of a library's function or method, with all that its meaning may depend on.
pub(super) struct Call<'p> {
    /// The method's or function's last name: `send_with_tag`.
    pub(super) name: &'p str,
    /// The turbofish, with generic parameters replaced.
    pub(super) generics: Vec<Type>,
    /// The arguments, evaluated in order, without the receiver.
    pub(super) arguments: Vec<Value>,
    /// The argument expressions.
    pub(super) expressions: &'p [Expression],
    /// The type that inference gives the call, with generic parameters replaced.
    pub(super) ty: Type,
    /// Where the whole call stands.
    pub(super) place: Place,
}

/// One rank while it is evaluated.
pub(super) struct Machine<'p> {
    pub(super) program: &'p Program,
    /// The rank in the world.
    pub(super) rank: u32,
    /// The world's size.
    pub(super) size: u32,
}

pub(super) fn evaluate(_: &Program, _: &Entry, _: u32, _: Limits) -> Evaluated {
    Evaluated::default()
}

#[expect(unused_variables, reason = "stubs")]
impl<'p> Machine<'p> {
    // ---- memory

    /// Memory that outlives the frame it is made in: `Box`, `Rc`, a collection's requests.
    pub(super) fn allocate(&mut self, value: Value) -> Path {
        todo!()
    }

    /// The value at a path; unknown where the path leads nowhere. Notes the access where an
    /// operation is pending on that memory.
    pub(super) fn read(&mut self, path: &Path, place: Place) -> Value {
        todo!()
    }

    /// Sets the value at a path. Notes the access where an operation is pending on that memory.
    pub(super) fn write(&mut self, path: &Path, value: Value, place: Place) {
        todo!()
    }

    /// Makes everything behind the references in a value unknown: it was handed to code that is
    /// not known.
    pub(super) fn forget(&mut self, value: &Value, place: Place) {
        todo!()
    }

    /// The value behind all references.
    pub(super) fn behind(&mut self, value: &Value, place: Place) -> Value {
        todo!()
    }

    /// The type of a value, as far as it is known.
    pub(super) fn type_of(&self, value: &Value) -> Type {
        todo!()
    }

    // ---- what is not known

    /// A value that is the same wherever the same computation has the same inputs: `what` names the
    /// computation. Uniform if all inputs are.
    pub(super) fn computed(&mut self, what: &str, inputs: &[&Value], ty: Type) -> Value {
        todo!()
    }

    /// A value that nobody knows and that no other is equal to.
    pub(super) fn fresh(&mut self, ty: Type) -> Value {
        todo!()
    }

    /// A value that nobody knows, but that is the same on every rank that asks with the same words.
    pub(super) fn uniform(&mut self, what: &str, ty: Type) -> Value {
        todo!()
    }

    // ---- calls

    /// Calls a closure, a function of the program, or one of a library. `ty`: the result's type.
    pub(super) fn call(
        &mut self,
        callee: &Value,
        arguments: Vec<Value>,
        ty: &Type,
        place: Place,
    ) -> Outcome {
        todo!()
    }

    /// Ends a value's life: guards wait, messages that were never received are noted.
    pub(super) fn drop_value(&mut self, value: Value, place: Place) -> Outcome<()> {
        todo!()
    }

    /// Runs `body` as long as it answers that it wants to go on, as a loop whose number of turns
    /// nobody knows: `while !flag { test }`.
    pub(super) fn waits(&mut self, place: Place) {
        todo!()
    }

    // ---- what others see

    /// Writes an event down. [`Flow::Gone`] where the limit of events is reached.
    pub(super) fn emit(&mut self, action: Action, place: Place) -> Outcome<()> {
        todo!()
    }

    /// A request slot that is not in use.
    pub(super) fn new_request(&mut self) -> RequestId {
        todo!()
    }

    /// A slot for a source.
    pub(super) fn new_slot(&mut self) -> SourceId {
        todo!()
    }

    /// The index of a datatype in the world's table, by its signature.
    pub(super) fn datatype(&mut self, signature: &str, bytes: Option<u64>) -> u16 {
        todo!()
    }

    /// From here on nothing is known of this rank. Always [`Flow::Gone`].
    pub(super) fn lost(&mut self, place: Place, why: &str) -> Flow {
        todo!()
    }

    /// How a communication call was understood.
    pub(super) fn understood(&mut self, place: Place, how: Understood) {
        todo!()
    }

    /// The memory that a path leads to, in bytes, where that is known.
    pub(super) fn buffer(&mut self, path: &Path) -> Option<p2p_protocol::model::Buffer> {
        todo!()
    }

    /// An operation uses this memory until its request is completed: accesses are noted from now on.
    pub(super) fn begin_use(&mut self, request: RequestId, path: &Path, writes: bool) {
        todo!()
    }

    /// The request was completed.
    pub(super) fn end_use(&mut self, request: RequestId) {
        todo!()
    }

    // ---- what ranks must tell each other (evaluation goes in rounds until nothing new is told)

    /// What this rank contributes to the n-th collective of a communicator, and what all members
    /// contributed, in order of their ranks in it, once that is known from an earlier round.
    pub(super) fn exchange(
        &mut self,
        communicator: u16,
        members: &[u32],
        contribution: Told,
    ) -> Option<Vec<Told>> {
        todo!()
    }

    /// The index of a communicator with these members in the world's table. `made_by`: what makes it
    /// the same on all members, such as "split 3 of world, color 1".
    pub(super) fn communicator(&mut self, made_by: &str, name: &str, members: &[u32]) -> u16 {
        todo!()
    }

    /// Whether a condition that is not known holds. A uniform one is decided alike on all ranks
    /// (and the other way in another world); `None` for any other: whoever asks must follow both.
    pub(super) fn decide(&mut self, condition: Unknown, place: Place) -> Option<bool> {
        todo!()
    }
}

/// What a rank tells the others of a communicator.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Told {
    /// A number: a color, a count, a value that is broadcast.
    Number(Option<i128>),
    /// Several: a key and a color, an array of counts.
    Numbers(Vec<Option<i128>>),
    /// Nothing that is known.
    Nothing,
}
