//! Random programs in random orders, every step of a rank on its own: the verdict comes if all are
//! stuck, and not otherwise, however long a rank is kept from running and between which two steps.

use super::*;

const RANKS: usize = 3;
/// So many looks in vain count as a long wait.
const LIMIT: u32 = 2;

#[derive(Clone, Copy)]
enum Step {
    Send(usize),
    Receive(usize),
}

/// What a rank does next.
#[derive(Clone, Copy)]
enum Next {
    Go,
    Look,
    /// It has found its message, and says so.
    Found,
    /// It has looked in vain, and counts it.
    Count,
    Read(usize),
    Nothing,
}

struct Rank {
    steps: Vec<Step>,
    done: usize,
    next: Next,
    looks: u32,
    published: bool,
    read: [Head; RANKS],
    quiet: Quiet,
}

struct Model {
    ranks: Vec<Rank>,
    table: [Head; RANKS],
    /// How many messages are on the way, from and to whom.
    messages: [[u32; RANKS]; RANKS],
    verdict: bool,
}

/// Numbers that look random.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % limit
    }
}

impl Model {
    fn new(dice: &mut Dice) -> Self {
        let rank = |rank: usize| {
            let steps = (0..dice.below(9)).map(|_| {
                let peer = (rank + 1 + dice.below(RANKS - 1)) % RANKS;
                if dice.below(5) < 3 { Step::Send(peer) } else { Step::Receive(peer) }
            });
            Rank {
                steps: steps.collect(),
                done: 0,
                next: Next::Go,
                looks: 0,
                published: false,
                read: [Head::default(); RANKS],
                quiet: Quiet::default(),
            }
        };
        let ranks = (0..RANKS).map(rank).collect();
        Model { ranks, table: Default::default(), messages: Default::default(), verdict: false }
    }

    /// Whether a rank has ended, or waits for what nobody has sent.
    fn is_stuck(&self, rank: usize) -> bool {
        let Rank { steps, done, next, .. } = &self.ranks[rank];
        match (next, steps.get(*done)) {
            (Next::Nothing, _) => true,
            (Next::Go | Next::Found, _) => false,
            (_, Some(&Step::Receive(from))) => self.messages[from][rank] == 0,
            _ => false,
        }
    }

    fn all_stuck(&self) -> bool {
        (0..RANKS).all(|rank| self.is_stuck(rank))
    }

    fn step(&mut self, number: usize) {
        let rank = &mut self.ranks[number];
        let head = &mut self.table[number];
        rank.next = match (rank.next, rank.steps.get(rank.done)) {
            (Next::Go, None) => {
                head.enter(State::Ended);
                Next::Nothing
            }
            (Next::Go, Some(&Step::Send(to))) => {
                self.messages[number][to] += 1;
                rank.done += 1;
                Next::Go
            }
            (Next::Go, Some(Step::Receive(_))) => {
                rank.looks = 0;
                Next::Look
            }
            (Next::Look, Some(&Step::Receive(from))) if self.messages[from][number] > 0 => {
                self.messages[from][number] -= 1;
                rank.done += 1;
                Next::Found
            }
            (Next::Look, _) => {
                rank.looks += 1;
                if rank.looks < LIMIT { Next::Look } else { Next::Count }
            }
            (Next::Found, _) => {
                if std::mem::take(&mut rank.published) {
                    head.enter(State::Runs);
                }
                Next::Go
            }
            (Next::Count, _) => {
                if !std::mem::replace(&mut rank.published, true) {
                    head.enter(State::Waits);
                    rank.quiet = Quiet::default();
                }
                head.looks += 1;
                Next::Read(0)
            }
            (Next::Read(other), _) if other < RANKS => {
                rank.read[other] = self.table[other];
                Next::Read(other + 1)
            }
            (Next::Read(_), _) => {
                self.verdict |= rank.quiet.see(&rank.read);
                Next::Look
            }
            (Next::Nothing, _) => Next::Nothing,
        };
    }
}

/// Runs one program; whether it got stuck.
fn run(dice: &mut Dice) -> bool {
    let mut model = Model::new(dice);
    let (mut kept, mut steps_kept, mut since_stuck) = (0, 0, 0);
    loop {
        if steps_kept == 0 {
            // A bit for each rank that does not run for a while; never for all.
            (kept, steps_kept) = (dice.below((1 << RANKS) - 1), dice.below(200));
        }
        steps_kept = steps_kept.saturating_sub(1);
        let rank = dice.below(RANKS);
        if kept >> rank & 1 == 1 {
            continue;
        }
        model.step(rank);
        if model.ranks.iter().all(|rank| matches!(rank.next, Next::Nothing)) {
            assert!(!model.verdict, "all have ended");
            return false;
        }
        if model.verdict {
            assert!(model.all_stuck(), "somebody can move");
            return true;
        }
        since_stuck += u32::from(model.all_stuck());
        assert!(since_stuck < 5000, "nobody can move, and nobody says so");
    }
}

#[test]
fn the_verdict_comes_if_all_are_stuck_and_not_otherwise() {
    let mut dice = Dice(1);
    let stuck = (0..20_000).filter(|_| run(&mut dice)).count();
    assert!((2_000..18_000).contains(&stuck), "{stuck} programs of both kinds");
}
