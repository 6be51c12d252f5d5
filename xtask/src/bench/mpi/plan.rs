//! What is measured, and how often.

/// Bytes of a kibibyte and a mebibyte.
pub(super) const KIB: u64 = 1 << 10;
pub(super) const MIB: u64 = 1 << 20;

/// Lengths from the shortest to the longest message, for everything that depends on it.
pub(super) const SWEEP: [u64; 13] = [
    8,
    64,
    512,
    4 * KIB,
    16 * KIB,
    64 * KIB,
    256 * KIB,
    MIB,
    4 * MIB,
    16 * MIB,
    64 * MIB,
    128 * MIB,
    256 * MIB,
];

/// Lengths that tables show.
pub(super) const LARGE: [u64; 3] = [MIB, 64 * MIB, 256 * MIB];

/// Rims of the halo.
pub(super) const RIMS: [u64; 2] = [64 * KIB, MIB];

/// Messages of planned operations.
pub(super) const SHORT: [u64; 2] = [8, 4 * KIB];

/// Lengths of collective operations and windows.
pub(super) const TOGETHER: [u64; 4] = [16, 4 * KIB, 256 * KIB, 16 * MIB];

/// Collective operations with data.
pub(super) const COLLECTIVES: [&str; 4] = ["bcast", "all-reduce", "all-gather", "all-to-all"];

/// The plan as the programs take it: subject, bytes, trips, rounds.
pub(super) fn arguments(ranks: u32) -> Vec<String> {
    let mut plan = Vec::new();
    let mut add = |subject: &str, bytes: u64, trips: u64, rounds: u64| {
        plan.push(format!("{subject}:{bytes}:{trips}:{rounds}"));
    };
    if ranks > 2 {
        // There may be fewer cores than ranks, and a message may cost a turn of the scheduler.
        add("latency", 8, 50, 9);
        add("rate", 8, 5, 9);
        for bytes in [MIB, 64 * MIB] {
            add("one-way", bytes, trips(bytes), 5);
        }
        RIMS.iter().for_each(|&rim| add("halo", rim, 5, 9));
        RIMS.iter().for_each(|&rim| add("halo-overlap", rim, 5, 9));
        return plan;
    }
    add("latency", 8, 2000, 31);
    add("rate", 8, 100, 31);
    for bytes in SWEEP {
        add("one-way", bytes, trips(bytes), rounds(bytes));
    }
    for bytes in LARGE {
        add("both-ways", bytes, trips(bytes), rounds(bytes));
        add("fresh", bytes, trips(bytes), rounds(bytes));
    }
    for rim in RIMS {
        add("halo", rim, 10, 9);
        add("halo-overlap", rim, 10, 9);
    }
    add("barrier", 8, 2000, 15);
    for bytes in SHORT {
        add("planned", bytes, 1000, 15);
    }
    for bytes in TOGETHER {
        for subject in COLLECTIVES.iter().chain(&["put"]) {
            add(subject, bytes, trips(bytes) / 4 + 1, rounds(bytes));
        }
    }
    for bytes in SWEEP {
        add("strategies", bytes, trips(bytes), rounds(bytes));
    }
    plan
}

/// So many that a round takes some milliseconds.
fn trips(bytes: u64) -> u64 {
    (16 * MIB / bytes).clamp(1, 2000)
}

fn rounds(bytes: u64) -> u64 {
    match bytes {
        _ if bytes <= MIB => 9,
        _ if bytes <= 64 * MIB => 5,
        _ => 3,
    }
}
