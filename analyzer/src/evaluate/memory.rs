//! The memory of one rank: a growing row of objects, shared between copies until one of them
//! changes, so that both arms of a branch can be followed from a copy each.

use std::rc::Rc;

use super::value::{ObjectId, Value};

/// Objects that are copied together when one of them changes.
const CHUNK: usize = 16;

/// Chunks that are shared together until one of them changes, so that a copy of many costs little.
const CHUNKS: usize = 32;

/// The objects of one branch.
const BRANCH: usize = CHUNK * CHUNKS;

/// Objects in a row, at most [`CHUNK`].
type Chunk = Rc<Vec<Value>>;

/// All objects.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    /// At most [`CHUNKS`] in each.
    branches: Vec<Rc<Vec<Chunk>>>,
    length: usize,
}

impl Memory {
    /// How many objects there are.
    pub(super) fn len(&self) -> usize {
        self.length
    }

    /// A new object.
    pub(super) fn add(&mut self, value: Value) -> ObjectId {
        if self.length.is_multiple_of(BRANCH) {
            self.branches.push(Rc::default());
        }
        let branch = self.branches.last_mut().expect("there is a branch with room");
        let chunks = Rc::make_mut(branch);
        if self.length.is_multiple_of(CHUNK) {
            chunks.push(Rc::new(Vec::with_capacity(CHUNK)));
        }
        let chunk = chunks.last_mut().expect("there is a chunk with room");
        Rc::make_mut(chunk).push(value);
        self.length += 1;
        ObjectId(u32::try_from(self.length - 1).expect("steps are limited, and so are objects"))
    }

    /// An object's value.
    pub(super) fn get(&self, object: ObjectId) -> Option<&Value> {
        let index = object.0 as usize;
        self.branches.get(index / BRANCH)?.get(index % BRANCH / CHUNK)?.get(index % CHUNK)
    }

    /// An object's value, to be changed.
    pub(super) fn get_mut(&mut self, object: ObjectId) -> Option<&mut Value> {
        let index = object.0 as usize;
        let chunks = Rc::make_mut(self.branches.get_mut(index / BRANCH)?);
        Rc::make_mut(chunks.get_mut(index % BRANCH / CHUNK)?).get_mut(index % CHUNK)
    }

    /// Forgets all objects from this number on.
    pub(super) fn truncate(&mut self, length: usize) {
        if length >= self.length {
            return;
        }
        self.branches.truncate(length.div_ceil(BRANCH));
        if let Some(branch) = self.branches.last_mut()
            && !length.is_multiple_of(BRANCH)
        {
            let chunks = Rc::make_mut(branch);
            chunks.truncate((length % BRANCH).div_ceil(CHUNK));
            if let Some(last) = chunks.last_mut()
                && !length.is_multiple_of(CHUNK)
            {
                Rc::make_mut(last).truncate(length % CHUNK);
            }
        }
        self.length = length;
    }

    /// The objects that are not the same piece of memory in both, by number, among those that both
    /// have.
    pub(super) fn differing(&self, other: &Memory) -> Vec<ObjectId> {
        let branches = (0..).step_by(BRANCH).zip(self.branches.iter().zip(&other.branches));
        let branches = branches.filter(|(_, (mine, theirs))| !Rc::ptr_eq(mine, theirs));
        let mut objects = Vec::new();
        for (first, (mine, theirs)) in branches {
            let chunks = (first..).step_by(CHUNK).zip(mine.iter().zip(&**theirs));
            for (first, (mine, theirs)) in chunks {
                if !Rc::ptr_eq(mine, theirs) {
                    objects.extend((first..).map(ObjectId).take(mine.len().min(theirs.len())));
                }
            }
        }
        objects
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
        let objects: Vec<ObjectId> = (0..1500).map(|value| memory.add(number(value))).collect();
        let copy = memory.clone();
        for changed in [objects[40], objects[1400]] {
            *memory.get_mut(changed).unwrap() = number(7);
            assert_eq!(memory.get(changed).unwrap().as_integer(), Some(7));
            assert_eq!(copy.get(changed).unwrap().as_integer(), Some(changed.0.into()));
            let differing = memory.differing(&copy);
            assert!(differing.contains(&changed) && !differing.contains(&objects[3]));
        }
        assert!(memory.differing(&copy).len() < 100 && copy.differing(&copy).is_empty());
    }

    #[test]
    fn what_is_cut_off_is_gone() {
        let mut memory = Memory::default();
        let objects: Vec<ObjectId> = (0..1500).map(|value| memory.add(number(value))).collect();
        for length in [1033, 1024, 512, 33, 0] {
            memory.truncate(length);
            assert_eq!(memory.len(), length);
            assert!(memory.get(objects[length]).is_none());
            assert!(length == 0 || memory.get(objects[length - 1]).is_some());
            assert_eq!(memory.add(number(5)), objects[length]);
        }
    }
}
