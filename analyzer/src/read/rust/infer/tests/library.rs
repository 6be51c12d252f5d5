//! Signatures of the libraries.

use super::check;

#[test]
fn collections() {
    check(
        "use std::collections::{HashMap, VecDeque};
        fn main() {
            let mut v = Vec::new(); v.push(1.5f32);
            let mut q = VecDeque::with_capacity(4); q.push_back((0u8, 'a'));
            let front = q.pop_front();
            let mut m = HashMap::new(); *m.entry(3u16).or_insert(0) += 1u64;
            let got = m.get(&3);
            for (key, value) in &m {}
            let (left, right) = v.split_at_mut(1);
            let rows = v.chunks(2).map(|row| row.to_vec()).collect::<Vec<_>>();
            let flat = rows.concat();
            let part = v.get(0..2);
            let most = v.iter().copied().fold(f32::MIN, f32::max);
            let mut more = Vec::new(); more.extend(v.iter()); more.push(1.0f32);
            let (odd, even): (Vec<i64>, Vec<i64>) = (0..9).partition(|n| n % 2 == 1);
            let (xs, ys): (Vec<_>, Vec<_>) = v.iter().map(|x| (*x, 1u8)).unzip();
        }",
        &[
            "v: Vec<f32>",
            "q: VecDeque<(u8, char)>",
            "front: Option<(u8, char)>",
            "m: HashMap<u16, u64>",
            "got: Option<&u64>",
            "key: &u16",
            "value: &u64",
            "left: &[f32]",
            "row: &[f32]",
            "rows: Vec<Vec<f32>>",
            "flat: Vec<f32>",
            "part: Option<&[f32]>",
            "most: f32",
            "more: Vec<f32>",
            "n: &i64",
            "xs: Vec<f32>",
            "ys: Vec<u8>",
        ],
    );
}

#[test]
fn memory_and_shared_values() {
    check(
        "use std::{cell::RefCell, rc::Rc, mem};
        fn main() {
            let shared = Rc::new(RefCell::new(vec![0u8; 4]));
            let copy = shared.clone();
            let first = copy.borrow()[0];
            let mut a = 0.0; let mut b = 1.0f32; mem::swap(&mut a, &mut b);
            let old = mem::replace(&mut b, 2.0);
            let size = mem::size_of::<f64>();
            let top = i64::MAX; let pi = std::f32::consts::PI; let root = pi.sqrt();
            let n = 7u32.pow(2); let s = n.to_string(); let c = n.checked_sub(1);
            let words: Vec<String> = s.split(' ').map(|w| w.to_owned()).collect();
        }",
        &[
            "shared: Rc<RefCell<Vec<u8>>>",
            "copy: Rc<RefCell<Vec<u8>>>",
            "first: u8",
            "a: f32",
            "old: f32",
            "size: usize",
            "top: i64",
            "pi: f32",
            "root: f32",
            "n: u32",
            "s: str",
            "c: Option<u32>",
            "words: Vec<str>",
        ],
    );
}

#[test]
fn requests_know_their_buffers() {
    check(
        "use mpi::{traits::*, request::WaitGuard};
        fn main() {
            let world = mpi::initialize().unwrap().world();
            let mut halo = vec![0.0f32; 8];
            mpi::request::scope(|scope| {
                let sent = world.process_at_rank(1).immediate_send(scope, &halo[..]);
                let _guard = WaitGuard::from(sent);
            });
            let x = 3u64;
            let done = mpi::request::multiple_scope(2, |scope, requests| {
                requests.add(world.this_process().immediate_send(scope, &x));
                let (index, status, data) = requests.wait_any().unwrap();
                *data
            });
            let future = world.any_process().immediate_receive::<u16>();
            let (value, _) = future.get();
            let list = world.any_process().receive_vec::<f64>().0;
            let (message, envelope) = world.any_process().matched_probe();
            let (taken, _) = message.matched_receive::<i8>();
        }",
        &[
            "scope: &LocalScope",
            "sent: Request<[f32], &LocalScope>",
            "_guard: WaitGuard<[f32], &LocalScope>",
            "requests: &RequestCollection<u64>",
            "index: usize",
            "data: &u64",
            "done: u64",
            "future: ReceiveFuture<u16>",
            "value: u16",
            "list: Vec<f64>",
            "message: Message",
            "taken: i8",
        ],
    );
}

#[test]
fn what_is_sent_does_not_decide_what_is_received() {
    check(
        "use mpi::{traits::*, collective::SystemOperation, point_to_point as p2p};
        fn main() {
            let world = mpi::initialize().unwrap().world();
            let rank = world.rank();
            let mut total = 0.0;
            world.all_reduce_into(&rank, &mut total, SystemOperation::sum());
            let mut all = vec![0; 4];
            world.all_gather_into(&1u8, &mut all);
            let (answer, status) = p2p::send_receive(&1.5f32, &p, &p);
            let kind: i64 = answer;
            let color = mpi::topology::Color::with_value(rank % 2);
            let part = world.split_by_color(color).unwrap();
            let grid = part.create_cartesian_communicator(&[2, 2], &[false, true], false);
            let (up, down) = grid.unwrap().shift(0, 1);
            let started = mpi::time();
        }",
        &[
            "rank: i32",
            "total: f64",
            "all: Vec<i32>",
            "answer: i64",
            "status: Status",
            "part: SimpleCommunicator",
            "grid: Option<CartesianCommunicator>",
            "down: Option<i32>",
            "started: f64",
        ],
    );
}

#[test]
fn a_parameter_that_is_a_communicator_is_one() {
    check(
        "use mpi::traits::*;
        fn first<C: Communicator>(one: &C) { let a = one.rank(); let p = one.process_at_rank(a); }
        fn second(two: &impl Communicator) { let b = two.size(); let (c, _) = two.any_process().receive::<f32>(); }
        fn third(three: &dyn Communicator) { let d = three.rank() as usize; }",
        &["a: i32", "p: Process", "b: i32", "c: f32", "d: usize"],
    );
}
