//! Maps, sets and heaps.

use super::told;

#[test]
fn maps_keep_what_is_put_in() {
    assert_eq!(
        told(
            "use std::collections::{BTreeMap, HashMap, HashSet};
             let mut m = HashMap::new();
             m.insert(3, 30); m.insert(1, 10);
             tell(m.len() as i32); tell(m[&3]); tell(*m.get(&1).unwrap());
             tell(m.get(&2).is_none() as i32);
             *m.entry(1).or_insert(0) += 5; *m.entry(9).or_insert(90) += 1;
             tell(m[&1]); tell(m[&9]);
             tell(m.remove(&3).unwrap()); tell(m.contains_key(&3) as i32);
             let b: BTreeMap<i32, i32> = vec![(5, 50), (2, 20)].into_iter().collect();
             for (k, v) in &b { tell(*k); tell(*v); }
             let s: HashSet<i32> = (0..4).collect();
             tell(s.contains(&2) as i32); tell(s.len() as i32);
             for (k, v) in b.range(3..) { tell(*k); tell(*v); }"
        ),
        [2, 30, 10, 1, 15, 91, 30, 0, 2, 20, 5, 50, 1, 4, 5, 50]
    );
}

#[test]
fn a_copy_of_a_map_changes_on_its_own() {
    assert_eq!(
        told(
            "let mut a = std::collections::BTreeMap::new(); a.insert(1, 1);
             let mut b = a.clone(); *b.get_mut(&1).unwrap() = 2;
             tell(a[&1]); tell(b[&1]);"
        ),
        [1, 2]
    );
}

/// Any order is one that a run may have.
#[test]
fn hash_maps_are_run_through_in_one_of_their_orders() {
    let text = "let mut m = std::collections::HashMap::new(); m.insert(3, 30); m.insert(1, 10);
        for (k, v) in &m { tell(*k); tell(*v); } for k in m.into_keys() { tell(k); }";
    assert_eq!(told(text), [3, 30, 1, 10, 3, 1]);
}

#[test]
fn the_greatest_leaves_a_heap_first() {
    assert_eq!(
        told(
            "use std::cmp::Reverse; use std::collections::BinaryHeap;
             let mut free: BinaryHeap<i32> = (1..4).collect(); free.push(2);
             tell(*free.peek().unwrap()); while let Some(x) = free.pop() { tell(x); }
             let mut queue = BinaryHeap::new();
             queue.push((Reverse(9), 1)); queue.push((Reverse(4), 2)); queue.push((Reverse(4), 3));
             while let Some((Reverse(when), what)) = queue.pop() { tell(when); tell(what); }
             tell(BinaryHeap::from(vec![5, 8, 6]).into_sorted_vec()[1]);
             tell(free.pop().is_none() as i32); tell(free.is_empty() as i32);"
        ),
        [3, 3, 2, 2, 1, 4, 3, 4, 2, 9, 1, 6, 1, 1]
    );
}

/// The order of a type may be its own, and the order in which a heap keeps the others is unknown.
#[test]
fn what_leaves_a_heap_is_not_guessed() {
    let text = "use std::cmp::Ordering; use std::collections::BinaryHeap;
        #[derive(PartialEq, Eq)] struct Task(i32);
        impl Ord for Task { fn cmp(&self, o: &Self) -> Ordering { o.0.cmp(&self.0) } }
        impl PartialOrd for Task { fn partial_cmp(&self, o: &Self) -> Option<Ordering> { Some(self.cmp(o)) } }
        fn main() {
            let universe = mpi::initialize().unwrap();
            let world = universe.world();
            let mut heap = BinaryHeap::new(); heap.push(Task(0)); heap.push(Task(1));
            world.process_at_rank(heap.pop().unwrap().0).send(&1);
        }";
    let shown = crate::evaluate::tests::run(text, 2);
    assert_eq!(shown.matches("opaque").count(), 2, "{shown}");
}
