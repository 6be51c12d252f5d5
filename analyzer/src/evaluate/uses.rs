//! What operations are going on, and the memory that they use until they are complete.

use std::collections::{BTreeMap, BTreeSet};

use p2p_protocol::model::RequestId;
use rustc_hash::FxHashMap;

use super::value::{ObjectId, Path};

/// The requests that are not complete, with what they use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Uses {
    /// The objects that each request uses a part of.
    objects: BTreeMap<RequestId, Vec<ObjectId>>,
    /// Which parts these are.
    parts: FxHashMap<ObjectId, Parts>,
    /// Those that are no messages: collectives and one-sided accesses.
    others: BTreeSet<RequestId>,
}

/// The parts of one object that are in use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Parts {
    /// By the requests that use them.
    requests: BTreeMap<RequestId, Vec<Use>>,
    /// An operation writes to one of them, or has done so.
    is_written: bool,
}

/// Memory that an operation uses.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Use {
    path: Path,
    /// Which bytes of the object these are, where they are told by bytes.
    bytes: Option<(u64, u64)>,
    /// Whether the operation writes there.
    writes: bool,
}

impl Uses {
    /// A request slot that is not in use; from now on it is.
    pub(super) fn begin(&mut self) -> RequestId {
        let count = self.objects.len() as RequestId;
        let has_gap = self.objects.last_key_value().is_some_and(|(last, _)| *last >= count);
        let gap = || self.objects.keys().zip(0..).find(|(used, number)| **used != *number);
        let free = if has_gap { gap().map_or(count, |(_, number)| number) } else { count };
        self.begin_again(free);
        free
    }

    /// A request goes on that uses nothing at present.
    pub(super) fn begin_again(&mut self, request: RequestId) {
        self.objects.entry(request).or_default();
    }

    /// Whether a request is going on.
    pub(super) fn has(&self, request: RequestId) -> bool {
        self.objects.contains_key(&request)
    }

    /// Whether a request goes on that uses nothing at present.
    pub(super) fn is_idle(&self, request: RequestId) -> bool {
        self.objects.get(&request).is_some_and(Vec::is_empty)
    }

    /// A request is that of a collective or of a one-sided access.
    pub(super) fn is_no_message(&mut self, request: RequestId) {
        self.others.insert(request);
    }

    /// Whether the event that starts a request speaks of all that it uses of an object: that of a message
    /// does, of one piece.
    pub(super) fn is_spoken_of(&self, request: RequestId, object: ObjectId) -> bool {
        let parts = self.parts.get(&object).and_then(|parts| parts.requests.get(&request));
        !self.others.contains(&request) && parts.is_none_or(|parts| parts.len() < 2)
    }

    /// A request uses this memory.
    pub(super) fn add(&mut self, request: RequestId, path: Path, writes: bool) {
        let object = path.object;
        self.parts_of(request, object, writes).push(Use { path, bytes: None, writes });
    }

    /// A request uses these bytes of an object, from the first to before the second.
    pub(super) fn add_bytes(
        &mut self,
        request: RequestId,
        object: ObjectId,
        bytes: (u64, u64),
        writes: bool,
    ) {
        let path = Path::whole(object);
        self.parts_of(request, object, writes).push(Use { path, bytes: Some(bytes), writes });
    }

    /// The parts of an object that a request uses.
    fn parts_of(&mut self, request: RequestId, object: ObjectId, writes: bool) -> &mut Vec<Use> {
        let parts = self.parts.entry(object).or_default();
        parts.is_written |= writes;
        let parts = parts.requests.entry(request).or_default();
        if parts.is_empty() {
            self.objects.entry(request).or_default().push(object);
        }
        parts
    }

    /// A request is complete: it uses nothing, and its slot is free again.
    pub(super) fn end(&mut self, request: RequestId) {
        self.others.remove(&request);
        for object in self.objects.remove(&request).unwrap_or_default() {
            let Some(parts) = self.parts.get_mut(&object) else { continue };
            parts.requests.remove(&request);
            if parts.requests.is_empty() {
                self.parts.remove(&object);
            }
        }
    }

    /// Whether no memory is in use.
    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The requests that touch what is touched, in order: both the same memory, and one writes.
    pub(super) fn touching(&self, path: &Path, writes: bool) -> Vec<RequestId> {
        let parts = self.parts.get(&path.object).filter(|parts| writes || parts.is_written);
        let Some(parts) = parts else { return Vec::new() };
        let touched = parts.requests.iter().filter(|(_, parts)| {
            parts.iter().any(|part| (writes || part.writes) && part.path.overlaps(path))
        });
        touched.map(|(request, _)| *request).collect()
    }

    /// The bytes of an object that are in use, and whether they are written.
    pub(super) fn bytes_of(
        &self,
        object: ObjectId,
    ) -> impl Iterator<Item = (Option<(u64, u64)>, bool)> + '_ {
        let parts = self.parts.get(&object).into_iter();
        let uses = parts.flat_map(|parts| parts.requests.values().flatten());
        uses.map(|part| (part.bytes, part.writes))
    }

    /// The requests that use some part of an object.
    pub(super) fn requests_of(&self, object: ObjectId) -> Vec<RequestId> {
        let parts = self.parts.get(&object).into_iter();
        parts.flat_map(|parts| parts.requests.keys().copied()).collect()
    }

    /// Whether some part of an object may be touched by what is touched.
    pub(super) fn may_touch(&self, object: ObjectId, writes: bool) -> bool {
        self.parts.get(&object).is_some_and(|parts| writes || parts.is_written)
    }

    /// The requests that touch what is touched of an object: these bytes, or, if it is not `exact`,
    /// some of them, nobody knows which.
    pub(super) fn touching_extent(
        &self,
        object: ObjectId,
        (from, to, exact): (u64, u64, bool),
        writes: bool,
    ) -> Vec<RequestId> {
        let Some(parts) = self.parts.get(&object) else { return Vec::new() };
        let touches = |part: &Use| {
            let (first, end) = part.bytes.unwrap_or_default();
            let meets = match exact {
                true => first < to && from < end,
                false => first <= from && to <= end && from < to,
            };
            meets && first < end && (writes || part.writes)
        };
        let touched = parts.requests.iter().filter(|(_, parts)| parts.iter().any(touches));
        touched.map(|(request, _)| *request).collect()
    }

    /// The requests that touch what is touched, where that is told by bytes: of an object of this
    /// size. `None`: some part of it, nobody knows which.
    pub(super) fn touching_bytes(
        &self,
        (object, size): (ObjectId, u64),
        bytes: Option<(u64, u64)>,
        writes: bool,
    ) -> Vec<RequestId> {
        let Some(parts) = self.parts.get(&object) else { return Vec::new() };
        let touches = |part: &Use| {
            let (first, end) = part.bytes.unwrap_or_default();
            let meets = match bytes {
                Some((from, to)) => first < to && from < end,
                None => first == 0 && end >= size && size > 0,
            };
            meets && first < end && (writes || part.writes)
        };
        let touched = parts.requests.iter().filter(|(_, parts)| parts.iter().any(touches));
        touched.map(|(request, _)| *request).collect()
    }

    /// Whether the same requests are going on, whatever they use.
    pub(super) fn are_of_the_same(&self, other: &Uses) -> bool {
        self.objects.keys().eq(other.objects.keys())
    }

    /// Where two ways come together, memory is in use that was on either of them.
    pub(super) fn join(&mut self, other: &Uses) {
        self.others.extend(&other.others);
        for (object, parts) in &other.parts {
            for (request, others) in &parts.requests {
                let mine = self.parts_of(*request, *object, parts.is_written);
                let missing = others.iter().filter(|it| !mine.contains(it)).cloned();
                let missing: Vec<_> = missing.collect();
                mine.extend(missing);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::value::Step;
    use super::*;

    fn element(index: u64) -> Path {
        Path::whole(ObjectId(3)).child(Step::Element(index))
    }

    #[test]
    fn the_lowest_slot_that_is_free_is_taken() {
        let mut uses = Uses::default();
        let all: Vec<RequestId> = (0..4).map(|_| uses.begin()).collect();
        assert_eq!(all, [0, 1, 2, 3]);
        uses.end(1);
        assert_eq!((uses.begin(), uses.begin()), (1, 4));
    }

    #[test]
    fn memory_is_in_use_until_its_request_is_complete() {
        let mut uses = Uses::default();
        let (sent, received) = (uses.begin(), uses.begin());
        uses.add(sent, element(0), false);
        uses.add(received, element(1), true);
        uses.add(received, element(2), true);
        let whole = Path::whole(ObjectId(3));
        assert_eq!(uses.touching(&whole, true), [sent, received]);
        assert_eq!(uses.touching(&whole, false), [received]);
        assert!(uses.touching(&element(0), false).is_empty());
        assert_eq!(uses.touching(&element(2), false), [received]);
        uses.end(received);
        assert_eq!(uses.touching(&whole, true), [sent]);
        uses.end(sent);
        assert_eq!(uses, Uses::default());
    }

    #[test]
    fn ways_are_joined_in_what_they_use() {
        let mut one = Uses::default();
        let request = one.begin();
        let mut other = one.clone();
        one.add(request, element(0), true);
        other.add(request, element(1), true);
        assert!(one.are_of_the_same(&other) && one != other);
        one.join(&other);
        one.join(&other);
        assert_eq!(one.touching(&element(1), false), [request]);
        one.end(request);
        assert_eq!(one, Uses::default());
    }
}
