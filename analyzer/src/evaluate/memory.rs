//! The memory of one rank: a growing row of objects, shared between copies until one of them
//! changes, so that both arms of a branch can be followed from a copy each.

use std::rc::Rc;

use super::value::{ObjectId, Value};

/// Objects that are copied together when one of them changes.
const CHUNK: usize = 32;

/// All objects.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    chunks: Vec<Rc<Vec<Value>>>,
    length: usize,
}

impl Memory {
    /// How many objects there are.
    pub(super) fn len(&self) -> usize {
        self.length
    }

    /// A new object.
    pub(super) fn add(&mut self, value: Value) -> ObjectId {
        if self.length.is_multiple_of(CHUNK) {
            self.chunks.push(Rc::new(Vec::with_capacity(CHUNK)));
        }
        let chunk = self.chunks.last_mut().expect("there is a chunk with room");
        Rc::make_mut(chunk).push(value);
        self.length += 1;
        ObjectId(u32::try_from(self.length - 1).expect("steps are limited, and so are objects"))
    }

    /// An object's value.
    pub(super) fn get(&self, object: ObjectId) -> Option<&Value> {
        let index = object.0 as usize;
        self.chunks.get(index / CHUNK)?.get(index % CHUNK)
    }

    /// An object's value, to be changed.
    pub(super) fn get_mut(&mut self, object: ObjectId) -> Option<&mut Value> {
        let index = object.0 as usize;
        Rc::make_mut(self.chunks.get_mut(index / CHUNK)?).get_mut(index % CHUNK)
    }

    /// Forgets all objects from this number on.
    pub(super) fn truncate(&mut self, length: usize) {
        if length >= self.length {
            return;
        }
        self.chunks.truncate(length.div_ceil(CHUNK));
        if let Some(last) = self.chunks.last_mut()
            && !length.is_multiple_of(CHUNK)
        {
            Rc::make_mut(last).truncate(length % CHUNK);
        }
        self.length = length;
    }

    /// The objects that are not the same piece of memory in both, by number, among those that both
    /// have.
    pub(super) fn differing(&self, other: &Memory) -> Vec<ObjectId> {
        let chunks = self.chunks.iter().zip(&other.chunks).enumerate();
        let chunks = chunks.filter(|(_, (mine, theirs))| !Rc::ptr_eq(mine, theirs));
        let objects = chunks.flat_map(|(number, (mine, theirs))| {
            let first = number * CHUNK;
            (first..first + mine.len().min(theirs.len())).map(|index| ObjectId(index as u32))
        });
        objects.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Scalar;

    fn number(value: i128) -> Value {
        Value::integer(value, Scalar::I32)
    }

    #[test]
    fn a_copy_keeps_its_values() {
        let mut memory = Memory::default();
        let objects: Vec<ObjectId> = (0..70).map(|value| memory.add(number(value))).collect();
        let copy = memory.clone();
        *memory.get_mut(objects[40]).unwrap() = number(7);
        assert_eq!(memory.get(objects[40]).unwrap().as_integer(), Some(7));
        assert_eq!(copy.get(objects[40]).unwrap().as_integer(), Some(40));
        let differing = memory.differing(&copy);
        assert!(differing.contains(&objects[40]) && !differing.contains(&objects[3]));
    }

    #[test]
    fn what_is_cut_off_is_gone() {
        let mut memory = Memory::default();
        let objects: Vec<ObjectId> = (0..70).map(|value| memory.add(number(value))).collect();
        memory.truncate(33);
        assert_eq!(memory.len(), 33);
        assert!(memory.get(objects[33]).is_none() && memory.get(objects[32]).is_some());
        assert_eq!(memory.add(number(5)), objects[33]);
    }
}
