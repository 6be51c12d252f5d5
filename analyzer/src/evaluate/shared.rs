//! What the ranks of a world have in common while they are evaluated: its tables, the answers of its
//! oracle, and what they tell each other. How they are evaluated in rounds is in `world`.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use p2p_protocol::model::{Behaviour, Communicator, Datatype, Dialect, Shares, Window, World};
use rustc_hash::FxHashMap;

use super::alike::{self, Number};
use super::handle::KnownCommunicator;
use super::library::mpi::{Carried, SentTags, sent_tags};
use super::machine::{Machine, Told};
use super::oracle::Oracle;
use super::state::Counted;

/// What the ranks of a world have in common.
#[derive(Clone, Debug, Default)]
pub(super) struct Shared {
    pub(super) oracle: Oracle,
    tables: Tables,
    /// What was told in the round before, by communicator and number; by rank of the world.
    told: Stories,
    /// The tags that were sent in the round before, and whether that matters.
    sent: SentTags,
    asks_for_sent: bool,
    /// What messages between two ranks carry.
    pub(super) carried: Carried,
    /// What is told in this round.
    telling: Stories,
    /// The same by the rank that is run.
    tale: Tale<Telling>,
    /// What ranks have gone on by in this round.
    asked: BTreeMap<(u16, u64), Question>,
}

/// What a rank tells, for what others that do the same tell.
#[derive(Clone, Debug)]
pub(super) enum Telling {
    /// Numbers.
    Numbers(Vec<Option<Number>>),
    /// Nothing that is known.
    Nothing,
}

impl Telling {
    /// What it is on the rank that is run, which goes on by it.
    pub(super) fn told(&self) -> Told {
        self.by(Number::get)
    }

    /// By what numbers are on some rank.
    pub(super) fn by(&self, there: impl Fn(Number) -> i128) -> Told {
        match self {
            Telling::Numbers(numbers) => {
                Told::Numbers(numbers.iter().map(|number| number.map(&there)).collect())
            }
            Telling::Nothing => Told::Nothing,
        }
    }
}

impl From<Told> for Telling {
    fn from(told: Told) -> Self {
        match told {
            Told::Numbers(numbers) => {
                Telling::Numbers(numbers.into_iter().map(|it| it.map(Number::from)).collect())
            }
            Told::Nothing => Telling::Nothing,
        }
    }
}

/// What was told in which collective: of which communicator, and its number there.
pub(super) type Tale<Telling> = Vec<((u16, u64), Telling)>;

type Stories = BTreeMap<(u16, u64), BTreeMap<u32, Told>>;

/// What a rank asks of a collective that it has told its own part of.
#[derive(Clone, Debug)]
struct Question {
    /// The members of the communicator, in order.
    members: Rc<[u32]>,
    /// That not all have told yet is as good as that they have nothing to tell.
    for_numbers: bool,
}

impl Question {
    /// What all members tell.
    fn answer(&self, stories: &Stories, key: (u16, u64)) -> Option<Vec<Told>> {
        let story = stories.get(&key);
        let told = |member| story.and_then(|story| story.get(member)).cloned();
        let all: Option<Vec<Told>> = self.members.iter().map(told).collect();
        let nothing = || vec![Told::Nothing; self.members.len()];
        all.or_else(|| self.for_numbers.then(nothing))
    }
}

impl Shared {
    /// Of ranks that have done nothing yet.
    pub(super) fn of(oracle: Oracle) -> Self {
        let world = Communicator::of_all("world");
        let tables = Tables { communicators: vec![world], ..Tables::default() };
        Shared { oracle, tables, ..Shared::default() }
    }

    /// Whether the ranks have the same in common in both, as far as it is of use.
    pub(super) fn is_same(&self, other: &Shared) -> bool {
        let [mine, theirs] = [self, other].map(|it| (it.oracle.learnt(), it.oracle.requirements()));
        self.tables == other.tables
            && (&self.telling, self.asks_for_sent) == (&other.telling, other.asks_for_sent)
            && self.asked.keys().eq(other.asked.keys())
            && mine == theirs
    }

    /// Whether the ranks have not gone by anything that they have in common.
    pub(super) fn has_answered_nothing(&self) -> bool {
        self.asked.is_empty()
            && !self.asks_for_sent
            && !self.carried.is_asked_for()
            && self.oracle.learnt() == 0
    }

    /// What the rank has told that was run last, for those that have done the same.
    pub(super) fn take_tale(&mut self) -> Tale<Telling> {
        std::mem::take(&mut self.tale)
    }

    /// A rank has told this.
    pub(super) fn tell_as(&mut self, rank: u32, told: Tale<Told>) {
        for (key, told) in told {
            self.telling.entry(key).or_default().insert(rank, told);
        }
    }

    /// Ends a round in which the ranks have done this. Whether they may do something else now that
    /// they know what was told.
    pub(super) fn end_round<'b>(
        &mut self,
        behaviours: impl Iterator<Item = &'b Behaviour> + Clone,
    ) -> bool {
        let mut is_news = self.has_news() | self.carried.end_round();
        if self.asks_for_sent {
            let sent = sent_tags(behaviours);
            is_news |= sent != self.sent;
            self.sent = sent;
        }
        self.told = std::mem::take(&mut self.telling);
        self.asked.clear();
        is_news
    }

    /// The world in which the ranks do this, and what was answered in it.
    pub(super) fn world(self, behaviours: Vec<Behaviour>, dialect: Dialect) -> (World, Oracle) {
        let tables = self.tables;
        let world = World {
            behaviours,
            communicators: tables.communicators.into(),
            datatypes: tables.datatypes.into(),
            operations: tables.operations.into(),
            shares: tables.shares.into(),
            calls: tables.calls.into(),
            texts: tables.texts.into(),
            windows: tables.windows.into(),
            dialect,
            ..World::default()
        };
        (world, self.oracle)
    }

    /// Whether what is told now would have been another answer to what was asked.
    fn has_news(&self) -> bool {
        if self.oracle.has_answered() {
            // Answers may go by what is only computed later, and is known in the next round.
            if !informative(&self.telling).eq(informative(&self.told)) {
                return true;
            }
        }
        let mut asked = self.asked.iter();
        asked.any(|(key, it)| it.answer(&self.telling, *key) != it.answer(&self.told, *key))
    }
}

/// What is told, but for that there is nothing to tell.
fn informative(stories: &Stories) -> impl Iterator<Item = ((u16, u64), u32, &Told)> {
    let each = stories
        .iter()
        .flat_map(|(key, story)| story.iter().map(|(rank, told)| (*key, *rank, told)));
    each.filter(|(.., told)| **told != Told::Nothing)
}

/// The world's tables.
#[derive(Clone, Debug, Default, PartialEq)]
struct Tables {
    datatypes: Vec<Datatype>,
    operations: Vec<String>,
    shares: Vec<Shares>,
    communicators: Vec<Communicator>,
    known: FxHashMap<(String, Vec<u32>), u16>,
    calls: Vec<String>,
    texts: Vec<String>,
    windows: Vec<Window>,
    known_windows: FxHashMap<String, u16>,
}

/// The index of a name in a table, which it is put into.
fn index_of(table: &mut Vec<String>, name: &str) -> u16 {
    let index = table.iter().position(|it| it == name).unwrap_or_else(|| {
        table.push(name.to_owned());
        table.len() - 1
    });
    u16::try_from(index).unwrap_or(u16::MAX)
}

impl Machine<'_> {
    /// The index of a datatype in the world's table, by its signature.
    pub(super) fn datatype(&mut self, signature: &str, bytes: Option<u64>) -> u16 {
        let datatypes = &mut self.shared.tables.datatypes;
        let known = datatypes.iter().position(|it| it.signature == signature && it.bytes == bytes);
        let index = known.unwrap_or_else(|| {
            datatypes.push(Datatype { signature: signature.to_owned(), bytes });
            datatypes.len() - 1
        });
        u16::try_from(index).unwrap_or(u16::MAX)
    }

    /// The index of a reduction's operation in the world's table.
    pub(super) fn operation(&mut self, name: &str) -> u16 {
        index_of(&mut self.shared.tables.operations, name)
    }

    /// The index of a function's name, such as `MPI_Send`, in the world's table of calls.
    pub(super) fn call_name(&mut self, name: &str) -> u16 {
        index_of(&mut self.shared.tables.calls, name)
    }

    /// The index of a few words about an argument in the world's table.
    pub(super) fn text(&mut self, text: &str) -> u16 {
        index_of(&mut self.shared.tables.texts, text)
    }

    /// The index of a window in the world's table. `made_by`: what makes it the same on all its ranks,
    /// such as "window 2 of world".
    pub(super) fn window(&mut self, made_by: &str, window: Window) -> u16 {
        let tables = &mut self.shared.tables;
        *tables.known_windows.entry(made_by.to_owned()).or_insert_with(|| {
            tables.windows.push(window);
            u16::try_from(tables.windows.len() - 1).unwrap_or(u16::MAX)
        })
    }

    /// The index of counts for each rank in the world's table.
    pub(super) fn shares(&mut self, shares: Shares) -> u32 {
        let known = &mut self.shared.tables.shares;
        let index = known.iter().position(|it| *it == shares).unwrap_or_else(|| {
            known.push(shares);
            known.len() - 1
        });
        u32::try_from(index).unwrap_or(u32::MAX)
    }

    /// The index of a communicator with these members in the world's table. `made_by`: what makes it
    /// the same on all members, such as "split 3 of world, color 1".
    pub(super) fn communicator(&mut self, made_by: &str, name: &str, members: &[u32]) -> u16 {
        let tables = &mut self.shared.tables;
        let key = (made_by.to_owned(), members.to_vec());
        *tables.known.entry(key).or_insert_with(|| {
            let members: Arc<[u32]> = members.into();
            tables
                .communicators
                .push(Communicator { name: name.to_owned(), members: Some(members) });
            u16::try_from(tables.communicators.len() - 1).unwrap_or(u16::MAX)
        })
    }

    /// The tags that ranks send on a communicator, as far as the round before has shown.
    pub(super) fn tags_sent(&mut self, communicator: u16) -> BTreeSet<i32> {
        alike::alone();
        self.shared.asks_for_sent = true;
        self.shared.sent.get(&communicator).cloned().unwrap_or_default()
    }

    /// What this rank contributes to the n-th collective of a communicator.
    pub(super) fn tell(
        &mut self,
        communicator: u16,
        contribution: impl Into<Telling>,
    ) -> Option<(u16, u64)> {
        let number = self.count(Counted::Exchanges(communicator))?;
        let (key, contribution) = ((communicator, number), contribution.into());
        let (rank, told) = (self.rank.here() as u32, contribution.by(Number::here));
        self.shared.telling.entry(key).or_default().insert(rank, told);
        self.shared.tale.push((key, contribution));
        Some(key)
    }

    /// The same, and what all members contributed, in order of their ranks in it, once that is known
    /// from an earlier round.
    pub(super) fn exchange(
        &mut self,
        known: &KnownCommunicator,
        contribution: Told,
    ) -> Option<Vec<Told>> {
        let key = self.tell(known.id, contribution)?;
        self.ask(key, Question { members: known.members.each().clone(), for_numbers: false })
    }

    /// The same where only numbers are of use; before all have told theirs, nothing is told.
    pub(super) fn exchange_numbers(
        &mut self,
        known: &KnownCommunicator,
        contribution: impl Into<Telling>,
    ) -> Option<Vec<Told>> {
        let key = self.tell(known.id, contribution)?;
        self.ask(key, Question { members: known.members.each().clone(), for_numbers: true })
    }

    fn ask(&mut self, key: (u16, u64), question: Question) -> Option<Vec<Told>> {
        let answer = question.answer(&self.shared.told, key);
        let asked = self.shared.asked.entry(key).or_insert_with(|| question.clone());
        asked.for_numbers &= question.for_numbers;
        answer
    }
}
