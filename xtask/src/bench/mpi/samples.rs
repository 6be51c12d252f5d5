//! What the programs have printed, and what follows from it.

use std::collections::BTreeMap;

/// The times of one contender, by run and round.
type Times = BTreeMap<(usize, usize), f64>;

/// All times, in nanoseconds.
#[derive(Default)]
pub(super) struct Samples(BTreeMap<(String, u64), BTreeMap<String, Times>>);

impl Samples {
    /// Adds the lines of one run: subject, bytes, contender, round, nanoseconds.
    pub(super) fn add(&mut self, run: usize, text: &str) {
        for line in text.lines() {
            let mut parts = line.split('\t');
            let mut add = || {
                let (subject, bytes) = (parts.next()?.to_owned(), parts.next()?.parse().ok()?);
                let contender = parts.next()?.to_owned();
                let (round, time) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
                let times = self.0.entry((subject, bytes)).or_default();
                times.entry(contender).or_default().insert((run, round), time)
            };
            add();
        }
    }

    /// The contenders of a subject.
    pub(super) fn contenders(&self, subject: &str, bytes: u64) -> Vec<&str> {
        let all = self.0.get(&(subject.to_owned(), bytes));
        all.into_iter().flat_map(|all| all.keys().map(String::as_str)).collect()
    }

    fn times(&self, subject: &str, bytes: u64, contender: &str) -> Option<&Times> {
        self.0.get(&(subject.to_owned(), bytes))?.get(contender)
    }

    /// The median of a contender's times.
    pub(super) fn median(&self, subject: &str, bytes: u64, contender: &str) -> Option<f64> {
        median(self.times(subject, bytes, contender)?.values().copied())
    }

    /// The median of the ratios of two contenders' times, each of two that were measured one right
    /// after the other.
    pub(super) fn ratio(&self, subject: &str, bytes: u64, ours: &str, base: &str) -> Option<f64> {
        let [ours, base] = [ours, base].map(|name| self.times(subject, bytes, name));
        let (ours, base) = (ours?, base?);
        median(ours.iter().filter_map(|(when, time)| Some(time / base.get(when)?)))
    }
}

fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_of_times_that_belong_together() {
        let mut samples = Samples::default();
        samples
            .add(0, "latency\t8\tp2p\t0\t30.0\nlatency\t8\trsmpi\t0\t20.0\nof another program\n");
        samples.add(1, "latency\t8\tp2p\t0\t300.0\nlatency\t8\trsmpi\t0\t100.0\n");
        samples.add(1, "latency\t8\tp2p\t1\t10.0\n");
        assert_eq!(samples.contenders("latency", 8), ["p2p", "rsmpi"]);
        assert_eq!(samples.median("latency", 8, "p2p"), Some(30.0));
        assert_eq!(samples.ratio("latency", 8, "p2p", "rsmpi"), Some(3.0));
        assert_eq!(samples.ratio("latency", 8, "p2p", "C"), None);
    }
}
