//! One rank of one size: its memory, its calls, and what it does to others.
//!
//! Here is what [`super::library`] builds on, and what evaluation keeps; how statements,
//! expressions, branches and loops are evaluated is in the modules beside this one.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use p2p_protocol::model::{Action, Departure, RequestId, SourceId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::alike::Number;
use super::effects::Effects;
use super::elements::AnyElements;
use super::facts::Comparison;
use super::graph::{BlockId, Graph};
use super::guesses::Watch;
use super::handle::{Communicator, KnownCommunicator, Members};
use super::recall::Computations;
use super::shared::Shared;
use super::state::{Counted, State};
use super::unions::Union;
use super::value::{Path, Unknown, Value};
use super::{Limits, Understood};
use crate::program::{Dialect, Expression, GlobalId, Place, Program, Type};

/// Why evaluation does not go on at the next expression.
#[derive(Clone, Debug)]
pub(super) enum Flow {
    /// `break`, with its label and its value.
    Break(Option<String>, Value),
    /// `continue`, with its label.
    Continue(Option<String>),
    /// `return`, with its value.
    Return(Value),
    /// The rank panics here: scopes are left, with all that is dropped there.
    Panic(Place),
    /// The rank is gone: it left, or nothing more can be known of it.
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
    pub(super) ty: Cow<'p, Type>,
    /// Where the whole call stands.
    pub(super) place: Place,
}

impl Call<'_> {
    /// The type that inference gives the call, to keep.
    pub(super) fn result(&self) -> Type {
        Type::clone(&self.ty)
    }
}

/// One rank while it is evaluated.
pub(super) struct Machine<'p> {
    pub(super) program: &'p Program,
    /// The rank in the world.
    pub(super) rank: Number,
    /// The world's size.
    pub(super) size: Number,
    /// What differs between the arms of a branch.
    pub(super) state: State,
    /// What others see.
    pub(super) graph: Graph,
    /// Ways that have left an expression which is still being evaluated, see [`super::branches`].
    pub(super) detached: Vec<Detached>,
    /// The loops that are going on, innermost last.
    pub(super) turns: Vec<Turning>,
    /// The constants and static variables whose values are being computed.
    pub(super) begun: Vec<GlobalId>,
    /// What is watched of the innermost loop's turn.
    pub(super) watch: Watch,
    /// Numbers that depend on how often a loop turns of which nobody knows it, by their identities.
    pub(super) guesses: FxHashMap<u64, i128>,
    /// What is evaluated only computes: how it comes out need not be decided.
    pub(super) quiet: bool,
    /// Which expressions can communicate.
    pub(super) effects: Rc<Effects<'p>>,
    /// What the ranks of a world have in common.
    pub(super) shared: Shared,
    /// What conditions say that compare with a known number, by the conditions' identities.
    pub(super) comparisons: FxHashMap<u64, Comparison>,
    /// What decides between values of enums, by the values' identities.
    pub(super) unions: FxHashMap<u64, Union>,
    /// How far it is followed.
    pub(super) limits: Limits,
    /// Steps that were made.
    pub(super) steps: u64,
    /// Steps after which a computation is given up.
    pub(super) budget: u64,
    /// How many identities were made.
    pub(super) made: u64,
    /// How often something was asked that is in no value, or kept for who asks: of MPI, of what is
    /// known of conditions, how numbers come from each other.
    pub(super) asked: Cell<u64>,
    /// What some element of a sequence is, as far as that was asked.
    pub(super) any_elements: RefCell<AnyElements>,
    /// Where pointers may lead to of which nobody knows where they do, by their identities.
    pub(super) pointees: RefCell<FxHashMap<u64, Rc<[Path]>>>,
    /// Conditions that are kept as whole numbers, by their identities.
    pub(super) truths: FxHashSet<u64>,
    /// Numbers that are so many times another one, by their identities: of which, and how many times.
    pub(super) products: FxHashMap<u64, (Value, i128)>,
    /// How many steps loops that only compute have taken in all.
    pub(super) costs: FxHashMap<Place, u64>,
    /// Which element the place is that was located last, where nobody knows.
    pub(super) index: Option<Unknown>,
    /// Numbers of which it is known between which they are, by their identities.
    pub(super) ranges: FxHashMap<u64, (i128, i128)>,
    /// After how many steps the computation began that is going on.
    pub(super) quiet_since: Option<u64>,
    /// What functions have come to that only compute.
    pub(super) computations: Rc<Computations>,
    /// How each call was understood.
    pub(super) calls: BTreeMap<Place, Understood>,
    /// Calls that are only made where the rank gives up, which is taken not to happen.
    pub(super) spared: BTreeSet<Place>,
    /// Where the rank was not followed any further.
    pub(super) lost: BTreeMap<Place, String>,
    /// What else was not understood.
    pub(super) gaps: BTreeMap<Place, String>,
    /// Loops that were cut short, with how many turns they had.
    pub(super) cuts: Vec<(Place, u64)>,
    /// Two ways were joined of which only one has something that must be completed or dropped.
    pub(super) joined_badly: bool,
}

/// A loop that is going on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turning {
    /// How many turns are done.
    pub(super) done: u32,
    /// Whether it is known how many it has at most.
    pub(super) is_counted: bool,
}

/// A way that has left an expression which is still being evaluated: it stands where its flow leads,
/// and goes on when the scope, loop or function that it leaves is done.
#[derive(Clone, Debug)]
pub(super) struct Detached {
    pub(super) state: State,
    pub(super) cursor: BlockId,
    pub(super) flow: Flow,
    /// What decided between this way and the others.
    pub(super) condition: Unknown,
}

impl<'p> Machine<'p> {
    /// Whether the program is one in C: values are copied, never moved and never dropped, and
    /// pointers are followed as often as it is written.
    pub(super) fn is_c(&self) -> bool {
        self.program.dialect == Dialect::C
    }

    // ---- what others see

    /// Writes an event down. [`Flow::Gone`] where the limit of events is reached.
    pub(super) fn emit(&mut self, action: Action, place: Place) -> Outcome<()> {
        if self.graph.total() >= self.limits.events {
            return Err(self.lost(place, "the rank does too much to be followed"));
        }
        if !self.state.threads.is_empty() {
            return Err(self.lost(place, "another thread communicates at the same time"));
        }
        if self.limits.shows_work {
            self.tell_work(Some(&action));
        }
        self.graph.push(action, place);
        Ok(())
    }

    /// The rank leaves here. A panic unwinds first.
    pub(super) fn leave(&mut self, departure: Departure, place: Place) -> Flow {
        if departure == Departure::Panicked {
            return Flow::Panic(place);
        }
        self.graph.push(Action::Leave { departure }, place);
        Flow::Gone
    }

    /// From here on nothing is known of this rank. Always [`Flow::Gone`].
    pub(super) fn lost(&mut self, place: Place, why: &str) -> Flow {
        if self.is_given_up() {
            return Flow::Gone;
        }
        self.lost.entry(place).or_insert_with(|| why.to_owned());
        self.graph.push(Action::Opaque, place);
        Flow::Gone
    }

    /// Others have not told yet what this rank needs to go on: it ends here in this round.
    pub(super) fn untold(&mut self, place: Place) -> Flow {
        self.lost(place, "it depends on what other ranks do, which is not known")
    }

    /// How a communication call was understood.
    pub(super) fn understood(&mut self, place: Place, how: Understood) {
        let seen = self.calls.entry(place).or_insert(Understood::Fully);
        if how > *seen {
            *seen = how;
        }
    }

    /// Something that was not understood, or not followed.
    pub(super) fn gap(&mut self, place: Place, why: &str) {
        self.gaps.entry(place).or_insert_with(|| why.to_owned());
    }

    /// Something is asked that is in no value, or kept for who asks.
    pub(super) fn note_question(&self) {
        self.asked.set(self.asked.get() + 1);
    }

    // ---- requests and slots

    /// A request slot that is not in use.
    pub(super) fn new_request(&mut self) -> RequestId {
        Rc::make_mut(&mut self.state.uses).begin()
    }

    /// An operation uses this memory until its request is completed: accesses are noted from now on.
    pub(super) fn begin_use(&mut self, request: RequestId, path: &Path, writes: bool) {
        self.note_buffer(request, path.object);
        if self.is_c() {
            if let Some(bytes) = self.span(path) {
                let uses = Rc::make_mut(&mut self.state.uses);
                uses.add_bytes(request, path.object, bytes, writes);
            }
            return;
        }
        Rc::make_mut(&mut self.state.uses).add(request, path.clone(), writes);
    }

    /// The request was completed; its slot is free again.
    pub(super) fn end_use(&mut self, request: RequestId) {
        self.note_completed(request);
        Rc::make_mut(&mut self.state.uses).end(request);
    }

    /// A slot for a source. Numbers come round again after many: whoever asked for the old one has
    /// long been answered.
    pub(super) fn new_slot(&mut self) -> SourceId {
        let slot = self.state.next_slot;
        self.state.next_slot = slot.wrapping_add(1);
        slot
    }

    /// Counts: how often this was asked before of the same, along the way that led here.
    /// `None` where ways were joined on which it was asked differently often.
    pub(super) fn count(&mut self, counted: Counted) -> Option<u64> {
        let counters = Rc::make_mut(&mut self.state.counters);
        let counter = counters.entry(counted).or_insert(Some(0));
        let before = *counter;
        *counter = before.map(|count| count + 1);
        before
    }

    // ---- the world

    /// The rank in the world, which the run goes on by.
    pub(super) fn rank(&self) -> u32 {
        u32::try_from(self.rank.get()).expect("a world has fewer than 2^32 ranks")
    }

    /// The communicator of all ranks.
    pub(super) fn world(&self) -> Rc<Communicator> {
        let known = KnownCommunicator {
            id: 0,
            members: Members::of_world(self.size),
            rank: self.rank,
            grid: None,
            neighbors: None,
            remote: None,
        };
        Rc::new(Communicator { known: Some(known), name: "world".into(), made: None })
    }

    /// The world's size, which the run goes on by.
    pub(super) fn size(&self) -> u32 {
        u32::try_from(self.size.get()).expect("a world has fewer than 2^32 ranks")
    }

    /// Whether a computation takes too long; whoever has set it its budget takes it from here.
    pub(super) fn is_given_up(&self) -> bool {
        self.steps >= self.budget && self.budget < self.limits.steps
    }

    /// One more step of evaluation.
    pub(super) fn step_on(&mut self, place: Place) -> Outcome<()> {
        self.steps += 1;
        if self.steps < self.budget {
            return Ok(());
        }
        Err(self.lost(place, "the rank takes too long to be followed"))
    }
}

/// What a rank tells the others of a communicator.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Told {
    /// Numbers: a key and a color, a value that is broadcast, an array of counts.
    Numbers(Vec<Option<i128>>),
    /// Nothing that is known.
    Nothing,
}
