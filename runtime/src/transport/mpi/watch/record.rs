//! What a rank publishes of itself, as bytes of a fixed length.
//!
//! What is too long is cut, and the cut shows: a text ends in "...", a path begins with it.

use crate::transport::report::{Doing, Known, Stuck};
use crate::transport::waiting::{Collective, Entered};

/// The length of a record. The texts of a wait have about half of it.
pub(super) const RECORD_BYTES: usize = 2048;

/// The longest texts, in bytes, and the most ranges of peers: with them, and with as many calls as
/// are remembered, a record is full.
const VERB: usize = 32;
const TEXT: usize = 512;
const FILE: usize = 256;
const PEERS: usize = 48;

const ENDED: u8 = 0;
const WAITS: u8 = 1;
const NO_ROOT: u32 = u32::MAX;
const CUT: &str = "...";

/// The record of a rank that waits or has ended.
pub(super) fn write(known: &Known) -> [u8; RECORD_BYTES] {
    let mut bytes = Vec::with_capacity(RECORD_BYTES);
    let calls: Vec<_> = known.entered.calls().collect();
    bytes.push(calls.len() as u8);
    for (session, communicator, number) in calls {
        put(&mut bytes, session);
        put(&mut bytes, u32::from(communicator));
        put(&mut bytes, number);
    }
    match &known.doing {
        Doing::Waits(stuck) => {
            bytes.push(WAITS);
            write_stuck(&mut bytes, stuck);
        }
        Doing::Runs | Doing::Ended => bytes.push(ENDED),
    }
    let mut record = [0; RECORD_BYTES];
    record[..bytes.len()].copy_from_slice(&bytes);
    record
}

fn write_stuck(bytes: &mut Vec<u8>, stuck: &Stuck) {
    bytes.push(u8::from(stuck.sends));
    bytes.push(u8::from(stuck.needs_only_buffering));
    bytes.push(u8::from(stuck.call.is_some()));
    if let Some(call) = stuck.call {
        put(bytes, call.session);
        put(bytes, u32::from(call.communicator));
        put(bytes, call.number);
        put(bytes, call.root.map_or(NO_ROOT, |root| root as u32));
    }
    put(bytes, stuck.line);
    let peers = ranges(&stuck.peers);
    let (shown, left_out) = peers.split_at(peers.len().min(PEERS));
    bytes.push(shown.len() as u8);
    for &(first, last) in shown {
        put(bytes, first as u32);
        put(bytes, last as u32);
    }
    put_text(bytes, &head(&stuck.verb, VERB));
    match left_out {
        [] => put_text(bytes, &head(&stuck.text, TEXT)),
        _ => put_text(bytes, &format!("{}; more ranks are left out", head(&stuck.text, TEXT))),
    }
    put_text(bytes, &tail(&stuck.file, FILE));
}

/// What a record says. One that cannot be read says nothing: a rank that runs.
pub(super) fn read(record: &[u8]) -> Known {
    let unreadable = Known { doing: Doing::Runs, entered: Entered::default() };
    Reader(record).known().unwrap_or(unreadable)
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn known(&mut self) -> Option<Known> {
        let calls = self.byte()?;
        let entered = (0..calls)
            .map(|_| Some((self.number()?, u16::try_from(self.number()?).ok()?, self.number()?)))
            .collect::<Option<Entered>>()?;
        let doing = match self.byte()? {
            WAITS => Doing::Waits(self.stuck()?),
            _ => Doing::Ended,
        };
        Some(Known { doing, entered })
    }

    fn stuck(&mut self) -> Option<Stuck> {
        let sends = self.byte()? != 0;
        let needs_only_buffering = self.byte()? != 0;
        let call = match self.byte()? {
            0 => None,
            _ => Some(self.call()?),
        };
        let line = self.number()?;
        let mut peers = Vec::new();
        for _ in 0..self.byte()? {
            let (first, last) = (self.number()? as usize, self.number()? as usize);
            peers.extend(first..=last);
        }
        let (verb, text, file) = (self.text()?, self.text()?, self.text()?);
        Some(Stuck { verb, text, file, line, peers, sends, needs_only_buffering, call })
    }

    fn call(&mut self) -> Option<Collective> {
        Some(Collective {
            session: self.number()?,
            communicator: u16::try_from(self.number()?).ok()?,
            number: self.number()?,
            root: match self.number()? {
                NO_ROOT => None,
                root => Some(root as usize),
            },
        })
    }

    fn byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*byte)
    }

    fn number(&mut self) -> Option<u32> {
        let (bytes, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_le_bytes(*bytes))
    }

    fn text(&mut self) -> Option<String> {
        let length = self.number()? as usize;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(String::from_utf8_lossy(text).into_owned())
    }
}

fn put(bytes: &mut Vec<u8>, number: u32) {
    bytes.extend(number.to_le_bytes());
}

fn put_text(bytes: &mut Vec<u8>, text: &str) {
    put(bytes, text.len() as u32);
    bytes.extend(text.as_bytes());
}

/// The first and the last of each run of ranks.
fn ranges(peers: &[usize]) -> Vec<(usize, usize)> {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for &peer in peers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == peer => *last = peer,
            _ => ranges.push((peer, peer)),
        }
    }
    ranges
}

/// The beginning of a text, at most so many bytes.
fn head(text: &str, room: usize) -> String {
    if text.len() <= room {
        return text.to_owned();
    }
    let mut end = room - CUT.len();
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{CUT}", &text[..end])
}

/// The end of a text, at most so many bytes.
fn tail(text: &str, room: usize) -> String {
    if text.len() <= room {
        return text.to_owned();
    }
    let mut start = text.len() + CUT.len() - room;
    while !text.is_char_boundary(start) {
        start += 1;
    }
    format!("{CUT}{}", &text[start..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::Operation;
    use crate::transport::message::Origin;
    use crate::transport::waiting::{Half, Waiting, What};

    static SEND: Operation =
        Operation::new("send(1, Block)", "send", "Block", 5, 0, "src/main.rs", 12, 9);
    static RECV: Operation =
        Operation::new("recv(any, Block)", "recv", "Block", 5, 0, "src/main.rs", 13, 9);

    fn entered(calls: u32) -> Entered {
        (0..calls).map(|call| (call, 3, u32::MAX - call)).collect()
    }

    fn returns(what: What, entered: Entered) -> Known {
        let stuck = Stuck::new(&Waiting { operation: &SEND, what });
        let known = Known { doing: Doing::Waits(stuck), entered };
        let read = read(&write(&known));
        assert_eq!(read, known);
        read
    }

    #[test]
    fn every_wait_returns_as_it_was() {
        let (to, from) = (Half::to(&SEND, 3, true), Half::from(&RECV, &Origin::Any(2..900)));
        let root = Collective { session: 7, communicator: 2, number: 9, root: Some(4) };
        for what in [
            What::Message(to.clone()),
            What::Message(from.clone()),
            What::SendReceive { send: to.clone(), receive: from.clone() },
            What::Requests(vec![]),
            What::Requests(vec![to, from.clone(), from.clone(), from.clone(), from]),
            What::Collective(root),
            What::Collective(Collective { root: None, ..root }),
        ] {
            returns(what.clone(), Entered::default());
            returns(what, entered(64));
        }
    }

    #[test]
    fn an_end_returns_as_it_was() {
        let known = Known { doing: Doing::Ended, entered: entered(64) };
        assert_eq!(read(&write(&known)), known);
    }

    #[test]
    fn what_is_too_long_is_cut_and_says_so() {
        let stuck = Stuck {
            verb: "v".repeat(3000),
            text: "ä".repeat(3000),
            file: "ö".repeat(3000) + ".rs",
            line: u32::MAX,
            peers: (0..1000).map(|peer| 2 * peer).collect(),
            sends: true,
            needs_only_buffering: false,
            call: Some(Collective {
                session: u32::MAX,
                communicator: u16::MAX,
                number: u32::MAX,
                root: Some(1),
            }),
        };
        let known = Known { doing: Doing::Waits(stuck.clone()), entered: entered(64) };
        let read = read(&write(&known));
        let Doing::Waits(cut) = read.doing else { panic!("{read:?}") };
        assert_eq!(read.entered, known.entered);
        assert_eq!((cut.line, cut.sends, cut.call), (stuck.line, true, stuck.call));
        assert_eq!(cut.peers, stuck.peers[..PEERS]);
        assert!(cut.verb.len() == VERB && cut.verb.ends_with("v..."), "{}", cut.verb);
        assert!(cut.text.ends_with("ä...; more ranks are left out"), "{}", cut.text);
        assert!(cut.file.starts_with("...ö") && cut.file.ends_with("ö.rs"), "{}", cut.file);
    }

    #[test]
    fn what_cannot_be_read_says_nothing() {
        for broken in [&[][..], &[1, 2], &[255; RECORD_BYTES]] {
            assert_eq!(read(broken).doing, Doing::Runs);
        }
    }
}
