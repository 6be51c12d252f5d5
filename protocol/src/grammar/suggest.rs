//! Which known word somebody may have meant.

/// What others call the words of the language.
const SYNONYMS: [(&str, &str); 12] = [
    ("receive", "recv"),
    ("ireceive", "irecv"),
    ("sync_send", "ssend"),
    ("immediate_send", "isend"),
    ("immediate_receive", "irecv"),
    ("send_receive", "sendrecv"),
    ("broadcast", "bcast"),
    ("alltoall", "all_to_all"),
    ("waitsome", "wait_any"),
    ("join", "barrier"),
    ("select", "choose"),
    ("branch", "offer"),
];

/// The candidate nearest to the word, if one is near enough to be a slip of the finger.
pub(super) fn nearest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str> + Clone,
) -> Option<&'a str> {
    let meant = SYNONYMS.iter().find(|(other, _)| other == &word).map(|&(_, ours)| ours);
    if let Some(ours) = candidates.clone().into_iter().find(|&candidate| Some(candidate) == meant) {
        return Some(ours);
    }
    let allowed = match word.chars().count() {
        0..=2 => 1,
        3..=5 => 2,
        _ => 3,
    };
    candidates
        .into_iter()
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|&(distance, candidate)| distance <= allowed && distance < candidate.len())
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

/// How many letters have to be put in, left out, changed or swapped, whatever their case.
fn distance(from: &str, to: &str) -> usize {
    let from: Vec<char> = from.to_lowercase().chars().take(40).collect();
    let to: Vec<char> = to.to_lowercase().chars().take(40).collect();
    let mut rows = vec![(0..=to.len()).collect::<Vec<usize>>()];
    for (i, &left) in from.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, &right) in to.iter().enumerate() {
            let changed = rows[i][j] + usize::from(left != right);
            let mut best = changed.min(row[j] + 1).min(rows[i][j + 1] + 1);
            if i > 0 && j > 0 && left == to[j - 1] && from[i - 1] == right {
                best = best.min(rows[i - 1][j - 1] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[from.len()][to.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_is_recognised_and_a_stranger_is_not() {
        let verbs = ["send", "ssend", "recv", "wait_all", "bcast"];
        assert_eq!(nearest("snd", verbs), Some("send"));
        assert_eq!(nearest("waitall", verbs), Some("wait_all"));
        assert_eq!(nearest("receive", verbs), Some("recv"));
        assert_eq!(nearest("Recv", verbs), Some("recv"));
        assert_eq!(nearest("println", verbs), None);
    }
}
