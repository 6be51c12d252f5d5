//! The messages from one rank to another, in order.
//!
//! One thread pushes and one thread pops, so a message costs one cache line that goes over: a slot
//! holds the message and the number that says it is there. Slots come in blocks that are linked,
//! so a push never waits; a block that was read to its end goes back to the sender.
//!
//! **Who may touch what.** `sending` and the slots from its position on belong to the sender;
//! `receiving` and the slots from there up to the sender's position belong to the receiver. A slot
//! passes from the sender to the receiver when its number is stored (sequentially consistent, which
//! releases what was written before) and seen (which acquires it). A block passes back through
//! `spare`, a swap that releases and acquires. The numbers in a returned block are old ones, at
//! least a block's length behind what is expected next, so a slot is never taken for filled.
//! The number 0 is never used, because fresh slots hold it.

#![allow(unsafe_code)]

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use super::loan::Loan;
use super::message::{Body, INLINE_BYTES, Inline, Message};
use crate::plain::Element;
use crate::transport::message::{Envelope, RawVec};

const SLOTS: usize = 32;

/// One cache line. Everything but the number is written before the number and read after it.
#[repr(C, align(64))]
struct Slot {
    number: AtomicU32,
    tag: i32,
    session: u32,
    communicator: u16,
    kind: Kind,
    count: u8,
    element: &'static Element,
    receipt: *const Loan,
    words: Inline,
}

#[derive(Clone, Copy)]
#[repr(u8)]
enum Kind {
    Inline,
    Owned,
    Lent,
}

struct Block {
    slots: [UnsafeCell<MaybeUninit<Slot>>; SLOTS],
    next: AtomicPtr<Block>,
}

impl Block {
    fn allocate() -> NonNull<Block> {
        let block: Box<MaybeUninit<Block>> = Box::new(MaybeUninit::zeroed());
        // All bytes zero is what a block starts with: numbers 0, slots that nobody may read yet,
        // and no next block.
        // SAFETY: `AtomicPtr` may be null, and the slots are `MaybeUninit`.
        let block = unsafe { block.assume_init() };
        NonNull::from(Box::leak(block))
    }

    /// The number of a slot; the only part of it that both ends look at.
    ///
    /// # Safety
    ///
    /// `block` is alive and `index` is below [`SLOTS`].
    #[inline]
    unsafe fn number<'a>(block: NonNull<Block>, index: usize) -> &'a AtomicU32 {
        // SAFETY: the block was made zeroed, so its number is initialised; it is only ever used as
        // an atomic. The caller keeps the block alive.
        unsafe { &(*Block::slot(block, index)).number }
    }

    /// # Safety
    ///
    /// As [`Block::number`].
    #[inline]
    unsafe fn slot(block: NonNull<Block>, index: usize) -> *mut Slot {
        // SAFETY: the caller says that the block is alive, and no reference to a slot is made.
        unsafe { (*block.as_ptr()).slots.get_unchecked(index).get().cast() }
    }
}

#[derive(Clone, Copy)]
struct Position {
    block: NonNull<Block>,
    index: usize,
    /// The number of the next message.
    number: u32,
}

impl Position {
    #[inline]
    fn advance(&mut self) {
        self.index += 1;
        self.number = self.number.wrapping_add(1).max(1);
    }
}

#[repr(align(64))]
struct Sending {
    position: UnsafeCell<Position>,
}

#[repr(align(64))]
struct Receiving {
    position: UnsafeCell<Position>,
    /// How many messages that their sender did not wait for have been matched.
    taken: AtomicU32,
    spare: AtomicPtr<Block>,
}

/// See the module. The methods are unsafe where only one of the two threads may call them.
pub(crate) struct Queue {
    sending: Sending,
    receiving: Receiving,
}

// SAFETY: see "Who may touch what" above; what passes over are messages, whose elements are `Send`
// by `Plain`, and lent pointers, which `Loan` guards.
unsafe impl Send for Queue {}
// SAFETY: as above.
unsafe impl Sync for Queue {}

impl Queue {
    pub(crate) fn new() -> Self {
        let position = Position { block: Block::allocate(), index: 0, number: 1 };
        Queue {
            sending: Sending { position: UnsafeCell::new(position) },
            receiving: Receiving {
                position: UnsafeCell::new(position),
                taken: AtomicU32::new(0),
                spare: AtomicPtr::new(ptr::null_mut()),
            },
        }
    }

    /// How many messages without receipt the receiver has matched.
    pub(crate) fn taken(&self) -> u32 {
        self.receiving.taken.load(Ordering::Relaxed)
    }

    /// Counts one more message without receipt as matched. Only the receiver writes it.
    #[inline]
    pub(crate) fn count_taken(&self) {
        let taken = self.receiving.taken.load(Ordering::Relaxed);
        self.receiving.taken.store(taken.wrapping_add(1), Ordering::Relaxed);
    }

    /// Adds a message at the end. Its number is stored sequentially consistent, because a look at
    /// whether the receiver sleeps follows (see `park`).
    ///
    /// # Safety
    ///
    /// Only one thread ever pushes.
    #[inline]
    pub(crate) unsafe fn push(&self, message: Message) {
        // SAFETY: the slot is the sender's while it is written.
        unsafe { self.push_with(|slot| Slot::write(slot, message)) }
    }

    /// Adds a message that holds its `count` elements itself and needs no receipt.
    ///
    /// # Safety
    ///
    /// Only one thread ever pushes. `elements` can be read, and they take up to [`INLINE_BYTES`].
    #[inline]
    pub(crate) unsafe fn push_inline(
        &self,
        envelope: Envelope,
        element: &'static Element,
        elements: *const u8,
        count: u8,
    ) {
        // SAFETY: the slot is the sender's while it is written; its words have the room.
        unsafe {
            self.push_with(|slot| {
                Slot::write_head(slot, envelope, element, Kind::Inline, count);
                let words: *mut u8 = (&raw mut (*slot).words).cast();
                ptr::copy_nonoverlapping(elements, words, usize::from(count) * element.size);
            });
        }
    }

    /// # Safety
    ///
    /// Only one thread ever pushes, and `write` makes a message of the slot that it gets.
    #[inline]
    unsafe fn push_with(&self, write: impl FnOnce(*mut Slot)) {
        // SAFETY: only the sender touches `sending`, and there is one.
        let position = unsafe { &mut *self.sending.position.get() };
        if position.index == SLOTS {
            self.push_block(position);
        }
        // SAFETY: the block is alive, since the receiver gives it back only after it has read the
        // last slot, and the slot is the sender's until its number is stored.
        unsafe {
            write(Block::slot(position.block, position.index));
            Block::number(position.block, position.index).store(position.number, Ordering::SeqCst);
        }
        position.advance();
    }

    #[cold]
    fn push_block(&self, position: &mut Position) {
        let spare = self.receiving.spare.swap(ptr::null_mut(), Ordering::Acquire);
        let block = NonNull::new(spare).unwrap_or_else(Block::allocate);
        // SAFETY: a spare block is the sender's alone, and the current one stays alive until the
        // receiver has seen its `next`.
        unsafe {
            (*block.as_ptr()).next.store(ptr::null_mut(), Ordering::Relaxed);
            (*position.block.as_ptr()).next.store(block.as_ptr(), Ordering::SeqCst);
        }
        position.block = block;
        position.index = 0;
    }

    /// What the next message is matched by, if there is one.
    ///
    /// # Safety
    ///
    /// Only one thread ever peeks and pops.
    #[inline]
    pub(crate) unsafe fn peek(&self) -> Option<Envelope> {
        // SAFETY: only the receiver touches its position, and there is one.
        let position = unsafe { &mut *self.receiving.position.get() };
        if position.index == SLOTS && !self.next_block(position) {
            return None;
        }
        // SAFETY: the receiver's block is alive until it gives it back. The slot's other fields
        // are read only once the number says that they are there.
        unsafe {
            let number = Block::number(position.block, position.index).load(Ordering::SeqCst);
            (number == position.number)
                .then(|| Slot::envelope(Block::slot(position.block, position.index)))
        }
    }

    /// Takes the message that `peek` has just shown straight to `place`, if it holds its elements
    /// itself, has as many as there is room for at most, and needs no receipt; how many there are.
    ///
    /// # Safety
    ///
    /// As for [`Queue::pop`], and `place` is for `room` elements of `element`.
    #[inline]
    pub(crate) unsafe fn pop_inline(
        &self,
        element: &'static Element,
        place: *mut u8,
        room: usize,
    ) -> Option<usize> {
        // SAFETY: only the receiver touches its position, and there is one.
        let position = unsafe { &mut *self.receiving.position.get() };
        // SAFETY: `peek` saw the number, so the slot is the receiver's; an inline message has its
        // elements in the words.
        unsafe {
            let slot = Block::slot(position.block, position.index);
            let count = usize::from((*slot).count);
            let simple = matches!((*slot).kind, Kind::Inline)
                && (*slot).receipt.is_null()
                && ptr::eq((*slot).element, element)
                && count <= room;
            if !simple {
                return None;
            }
            let words: *const u8 = (&raw const (*slot).words).cast();
            ptr::copy_nonoverlapping(words, place, count * element.size);
            position.advance();
            self.count_taken();
            Some(count)
        }
    }

    #[cold]
    fn next_block(&self, position: &mut Position) -> bool {
        // SAFETY: the receiver's block is alive until it gives it back, below.
        let next = unsafe { (*position.block.as_ptr()).next.load(Ordering::SeqCst) };
        let Some(next) = NonNull::new(next) else { return false };
        let read = std::mem::replace(&mut position.block, next);
        position.index = 0;
        let unused = self.receiving.spare.swap(read.as_ptr(), Ordering::AcqRel);
        if !unused.is_null() {
            // SAFETY: it came from `Block::allocate`, and whoever swaps it out owns it.
            drop(unsafe { Box::from_raw(unused) });
        }
        true
    }

    /// Takes the message that `peek` has just shown.
    ///
    /// # Safety
    ///
    /// Only one thread ever peeks and pops, and `peek` has shown a message since the last pop.
    #[inline]
    pub(crate) unsafe fn pop(&self) -> Message {
        // SAFETY: only the receiver touches its position, and there is one.
        let position = unsafe { &mut *self.receiving.position.get() };
        // SAFETY: `peek` saw the number, so the slot is the receiver's.
        let message = unsafe { Slot::read(Block::slot(position.block, position.index)) };
        position.advance();
        message
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // SAFETY: nobody else has the queue any more, so this thread is both ends; the blocks from
        // the receiver's on are a list that ends in null, and they and the spare are owned here.
        unsafe {
            while self.peek().is_some() {
                drop(self.pop());
            }
            let mut block = (*self.receiving.position.get()).block.as_ptr();
            while !block.is_null() {
                let next = (*block).next.load(Ordering::Relaxed);
                drop(Box::from_raw(block));
                block = next;
            }
            let spare = self.receiving.spare.load(Ordering::Relaxed);
            if !spare.is_null() {
                drop(Box::from_raw(spare));
            }
        }
    }
}

impl Slot {
    /// # Safety
    ///
    /// `slot` is alive and the caller's to write; its number is left alone.
    #[inline]
    unsafe fn write(slot: *mut Slot, message: Message) {
        let mut words: Inline = [MaybeUninit::uninit(); INLINE_BYTES / size_of::<*mut u8>()];
        let mut number = |index: usize, value: usize| {
            words[index] = MaybeUninit::new(ptr::without_provenance_mut(value));
        };
        let kind = match message.body {
            Body::Inline(inline) => {
                words = inline;
                Kind::Inline
            }
            Body::Owned(owned) => {
                let owned = std::mem::ManuallyDrop::new(owned);
                number(1, owned.length);
                number(2, owned.capacity);
                words[0] = MaybeUninit::new(owned.pointer);
                Kind::Owned
            }
            Body::Lent(pointer) => {
                number(1, message.count);
                words[0] = MaybeUninit::new(pointer.cast_mut());
                Kind::Lent
            }
        };
        // SAFETY: the caller owns the slot.
        unsafe {
            Slot::write_head(slot, message.envelope, message.element, kind, message.count as u8);
            (&raw mut (*slot).receipt).write(message.receipt.map_or(ptr::null(), Arc::into_raw));
            (&raw mut (*slot).words).write(words);
        }
    }

    /// Writes all but the number and the words. Each field is written by itself, never a reference
    /// to the whole made, because the other end may be looking at the number.
    ///
    /// # Safety
    ///
    /// `slot` is alive and the caller's to write.
    #[inline]
    unsafe fn write_head(
        slot: *mut Slot,
        envelope: Envelope,
        element: &'static Element,
        kind: Kind,
        count: u8,
    ) {
        // SAFETY: the caller owns the slot.
        unsafe {
            (&raw mut (*slot).tag).write(envelope.tag);
            (&raw mut (*slot).session).write(envelope.session);
            (&raw mut (*slot).communicator).write(envelope.communicator);
            (&raw mut (*slot).kind).write(kind);
            (&raw mut (*slot).count).write(count);
            (&raw mut (*slot).element).write(element);
            (&raw mut (*slot).receipt).write(ptr::null());
        }
    }

    /// # Safety
    ///
    /// `slot` holds a message, which is the caller's.
    #[inline]
    unsafe fn envelope(slot: *const Slot) -> Envelope {
        // SAFETY: the caller says so.
        unsafe {
            Envelope {
                tag: (*slot).tag,
                session: (*slot).session,
                communicator: (*slot).communicator,
            }
        }
    }

    /// Takes the message out; the slot counts as empty then.
    ///
    /// # Safety
    ///
    /// `slot` holds a message, which is the caller's and is not read again.
    #[inline]
    unsafe fn read(slot: *const Slot) -> Message {
        // SAFETY: the caller says so. The words are what `write` put there for this kind, and a
        // receipt is one reference count that `write` gave away.
        unsafe {
            let words = (*slot).words;
            let element = (*slot).element;
            let receipt = (*slot).receipt;
            let (body, count) = match (*slot).kind {
                Kind::Inline => (Body::Inline(words), usize::from((*slot).count)),
                Kind::Owned => {
                    let length = words[1].assume_init().addr();
                    let capacity = words[2].assume_init().addr();
                    let pointer = words[0].assume_init();
                    (Body::Owned(RawVec { pointer, length, capacity, element }), length)
                }
                Kind::Lent => {
                    (Body::Lent(words[0].assume_init().cast_const()), words[1].assume_init().addr())
                }
            };
            let receipt = (!receipt.is_null()).then(|| Arc::from_raw(receipt));
            Message { envelope: Slot::envelope(slot), element, count, body, receipt }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(tag: i32, words: usize) -> Message {
        let data: Vec<u64> = (0..words as u64).map(|word| word + tag as u64).collect();
        Message {
            envelope: Envelope { tag, session: 1, communicator: 0 },
            element: Element::of::<u64>(),
            count: words,
            body: Body::Owned(RawVec::new(data)),
            receipt: None,
        }
    }

    #[test]
    fn a_slot_is_one_cache_line() {
        assert_eq!(size_of::<Slot>(), 64);
    }

    #[test]
    fn messages_come_out_in_order_across_blocks_and_threads() {
        let queue = Queue::new();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for tag in 0..10_000 {
                    // SAFETY: this thread alone pushes.
                    unsafe { queue.push(message(tag, 3)) };
                }
            });
            let mut expected = 0;
            while expected < 10_000 {
                // SAFETY: this thread alone pops.
                let Some(envelope) = (unsafe { queue.peek() }) else {
                    std::hint::spin_loop();
                    continue;
                };
                assert_eq!(envelope.tag, expected);
                // SAFETY: as above, after a peek.
                let message = unsafe { queue.pop() };
                let Body::Owned(owned) = message.body else { panic!("it was sent owned") };
                let data = owned.into_vec::<u64>().expect("the type it was sent with");
                assert_eq!(data[2], expected as u64 + 2);
                expected += 1;
            }
        });
    }

    #[test]
    fn what_was_not_taken_is_dropped_with_the_queue() {
        let queue = Queue::new();
        let receipt = Arc::new(Loan::new());
        for tag in 0..100 {
            let receipt = Some(receipt.clone());
            // SAFETY: this thread alone pushes.
            unsafe { queue.push(Message { receipt, ..message(tag, 1000) }) };
        }
        drop(queue);
        assert_eq!(Arc::strong_count(&receipt), 1);
    }
}
