//! Boxes, shared memory, cells, locks, functions of `std::mem` and `std::slice`.

use super::told;
use crate::evaluate::tests::does;

#[test]
fn shared_memory_is_shared() {
    assert_eq!(
        told(
            "use std::rc::Rc; use std::cell::{Cell, RefCell}; use std::sync::{Arc, Mutex};
             let a = Rc::new(RefCell::new(vec![1])); let b = Rc::clone(&a); let c = a.clone();
             b.borrow_mut().push(2); tell(a.borrow().len() as i32); tell(c.borrow()[1]);
             let m = Arc::new(Mutex::new(3)); *m.lock().unwrap() += 4; tell(*m.lock().unwrap());
             let cell = Cell::new(5); cell.set(cell.get() + 1); tell(cell.get());
             let boxed = Box::new(7); tell(*boxed);
             let o = std::cell::OnceCell::new(); tell(*o.get_or_init(|| 8)); tell(*o.get().unwrap());"
        ),
        [2, 2, 7, 6, 7, 8, 8]
    );
}

#[test]
fn defaults_and_sizes() {
    assert_eq!(
        told(
            "#[derive(Default, Clone, PartialEq)] struct S { a: i32, v: Vec<f64> }
             let s = S::default(); tell(s.a); tell(s.v.len() as i32);
             let t = S { a: 4, ..Default::default() }; tell(t.a);
             tell((s == s.clone()) as i32); tell((s == t) as i32);
             tell(std::mem::size_of::<f64>() as i32); tell(std::mem::size_of::<[u16; 3]>() as i32);
             tell(i32::default());"
        ),
        [0, 0, 4, 1, 0, 8, 6, 0]
    );
}

#[test]
fn slices_of_raw_parts_are_the_same_memory() {
    does(
        "let mut v = vec![0_u16; 8];
         if rank == 0 {
             let to = world.process_at_rank(1);
             to.send(unsafe { std::slice::from_raw_parts(v.as_ptr(), 5) });
             to.send(std::slice::from_ref(&v[2]));
             to.send(unsafe { std::slice::from_raw_parts_mut(v.as_mut_ptr().add(2), 3) });
         }",
        2,
        &["0: send 1 tag 0 5 x u16; send 1 tag 0 1 x u16; send 1 tag 0 3 x u16", "1:"],
    );
}

#[test]
fn a_rank_that_exits_is_gone() {
    does(
        "if rank == 1 { std::process::exit(1); } world.process_at_rank(0).send(&1_u8);",
        2,
        &["0: send 0 tag 0 1 x u8", "1: exited"],
    );
}

/// A scope for threads runs its closure where it is called.
#[test]
fn scopes_for_threads_are_entered() {
    let text = "let x = std::thread::scope(|s| { tell(1); 2 }); tell(x);
        let y = crossbeam::thread::scope(|s| { s.spawn(|_| 7); 3 }).unwrap(); tell(y);
        rayon::scope(|s| tell(4)); let (a, b) = rayon::join(|| { tell(5); 6 }, || 7); tell(a); tell(b);";
    assert_eq!(told(text), [1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn atomics_keep_what_is_stored() {
    assert_eq!(
        told(
            "use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering::SeqCst};
             static RANK: AtomicI32 = AtomicI32::new(-1);
             RANK.store(world.rank() + 3, SeqCst); tell(RANK.load(SeqCst));
             let n = AtomicUsize::new(4); n.fetch_add(2, SeqCst); tell(n.fetch_sub(1, SeqCst) as i32);
             tell(n.swap(9, SeqCst) as i32); tell(n.into_inner() as i32);
             let stop = AtomicBool::default(); tell(stop.load(SeqCst) as i32);
             tell(stop.compare_exchange(false, true, SeqCst, SeqCst).is_ok() as i32);
             if stop.load(SeqCst) { tell(7); }"
        ),
        [3, 6, 5, 9, 0, 1, 7]
    );
}

/// Another thread may have changed it.
#[test]
fn what_threads_share_is_not_known() {
    let text = "use std::sync::{Arc, Mutex, atomic::*};
        let stop = Arc::new(AtomicBool::new(false)); let seen = stop.clone();
        let tag = Arc::new(Mutex::new(3)); let kept = tag.clone();
        if *tag.lock().unwrap() == 3 { tell(1); }
        std::thread::spawn(move || { stop.store(true, Ordering::SeqCst); *kept.lock().unwrap() = 4; });
        if seen.load(Ordering::SeqCst) { world.barrier(); }
        let tag: i32 = *tag.lock().unwrap(); world.process_at_rank(0).send_with_tag(&1, tag);";
    let shown = crate::evaluate::tests::run(
        &format!("let tell = |x: i32| world.process_at_rank(0).send_with_tag(&x, x); {text}"),
        2,
    );
    assert!(shown.contains("branch"), "{shown}");
    assert_eq!(shown.matches("opaque").count(), 2, "{shown}");
}

#[test]
fn a_thread_that_is_joined_before_others_communicate_is_followed() {
    does(
        "let me = std::thread::spawn(move || {
             let world = SimpleCommunicator::world();
             if world.rank() == 0 { world.process_at_rank(1).send(&1u8); }
             world.rank()
         });
         if me.join().unwrap() == 1 { world.process_at_rank(0).receive::<u8>(); }
         std::thread::scope(|scope| { scope.spawn(|| world.barrier()); });
         crossbeam::scope(|scope| { let it = scope.spawn(|_| world.barrier()); it.join().unwrap(); }).unwrap();",
        2,
        &["0: send 1 tag 0 1 x u8; barrier; barrier", "1: receive 0 tag any 1 x u8; barrier; barrier"],
    );
}

#[test]
fn threads_that_communicate_at_once_are_not_followed() {
    for text in [
        "let it = std::thread::spawn(move || SimpleCommunicator::world().barrier()); world.barrier(); it.join();",
        "std::thread::spawn(move || SimpleCommunicator::world().barrier());",
        "std::thread::scope(|s| { s.spawn(|| world.barrier()); s.spawn(|| world.barrier()); });",
        "std::thread::scope(|s| { s.spawn(|| world.barrier()); world.barrier(); });",
        "std::thread::spawn(move || SimpleCommunicator::world().barrier()); return;",
    ] {
        let shown = crate::evaluate::tests::run(text, 2);
        assert_eq!(shown, "0: opaque\n1: opaque", "{text}");
    }
}
