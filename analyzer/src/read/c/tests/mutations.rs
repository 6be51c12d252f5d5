//! Texts that are nearly C: whatever they are, reading them ends, and without a panic.

use crate::read::c::of_language;
use crate::source::Language;

const SAMPLE: &str = r#"
typedef double real; typedef struct node { struct node *next; int v[2]; } node;
struct point { int x, y; union { int a; float b; } u; struct { int in; }; };
enum { WORK = 1, STOP }; static int m[2][3] = {{1, 2, 3}, {4}}; const int N = 4; int arr[N];
static int add(int a, int b) { static int n; return a + b + n++; }
int f(int n, real *a, node *l, int (*op)(int, int)) {
    MPI_Status status; real x = (real)*a, y = (real)-n * 2; struct point p = {.y = 2, .in = 1};
    for (int i = 0; i < n; i++) { if (i % 2) continue; a[i++] += sizeof(real) * 2; }
retry:
    switch (status.MPI_TAG) { case WORK: n = 1; case STOP: break; default: goto fail; }
    do { n = op(n, 1) ? add(n--, 2) : (p.x = 3, 4); } while (n > 0 && l->next);
    if (MPI_Recv(&m[1][0], 3, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status)) goto retry;
    char text[8] = "a" "b\n"; int *list = (int[]){1, [3] = 2}; x = ({ int t = n; t; });
fail:
    free(list);
    return x > y ? *list : text[0];
}
int main(int argc, char **argv) { MPI_Init(&argc, &argv); return f(1, 0, 0, &add); }
"#;

const WORDS: [&str; 40] = [
    "{",
    "}",
    "(",
    ")",
    ";",
    "*",
    "&",
    "goto retry;",
    "x:",
    "case 1:",
    "default:",
    "break;",
    "continue;",
    "for(;;)",
    "while(1)",
    "int",
    "struct node {",
    "typedef int b;",
    "sizeof",
    "= {",
    "[",
    "]",
    ",",
    "?",
    ":",
    "return",
    "->x",
    "++",
    "\"",
    "'a'",
    "static",
    "switch(x){",
    "do",
    "else",
    "if(x)",
    "({",
    "})",
    "(int)",
    "[1]={2}",
    ".a.b[2]=",
];

/// Numbers that look thrown, the same ones each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end.max(1) as u64) as usize
    }
}

#[test]
fn nothing_panics() {
    let mut numbers = Numbers(1);
    for round in 0..100 {
        let mut text = SAMPLE.to_owned();
        for _ in 0..round % 5 + 1 {
            let at = numbers.below(text.len());
            match numbers.below(3) {
                0 => text.replace_range(at..(at + numbers.below(60)).min(text.len()), ""),
                1 => text.insert_str(at, &WORDS[numbers.below(40)].repeat(numbers.below(9))),
                _ => {
                    let part = text[at..(at + numbers.below(90)).min(text.len())].to_owned();
                    text.insert_str(numbers.below(text.len()), &part);
                }
            }
        }
        for language in [Language::C, Language::Cpp] {
            // Whether it is C, nobody knows.
            _ = of_language(&text, language);
        }
    }
}

#[test]
fn what_is_deep_is_turned_away_or_not_followed() {
    let within = |inner: &str| format!("int main(void) {{ int n = 1; {inner} }}");
    let negations = within(&format!("n = {}n;", "!".repeat(5_000)));
    let sum = within(&format!("n = 1{};", " + n".repeat(5_000)));
    let branches = within(&"if (n) n = 2; else ".repeat(5_000)) + ";";
    let stack = 64 << 20;
    let read = move || {
        for text in [negations, sum, branches] {
            _ = of_language(&text, Language::C);
        }
    };
    std::thread::Builder::new().stack_size(stack).spawn(read).unwrap().join().unwrap();
    assert!(of_language(&"{".repeat(500), Language::C).is_err());
}
