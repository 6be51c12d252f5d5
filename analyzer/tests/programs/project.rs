//! A folder of its own for each test, and the programs run in it.

use std::path::PathBuf;
use std::process::Command;

/// A protocol with nothing wrong.
pub(crate) const PAIR: &str = "\
use p2p::p2p_protocol;

#[p2p_protocol(ranks = 2)]
mod pair {
    type Ping = u32;
    type Pong = u32;

    #[rank(0)]
    fn asker() {
        send(1, Ping);
        recv(1, Pong);
    }

    #[rank(1)]
    fn answerer() {
        recv(0, Ping);
        send(0, Pong);
    }
}
";

/// A protocol whose send, on line 12, has a tag that nobody waits for.
pub(crate) const WRONG_TAG: &str = "\
use p2p::p2p_protocol;

#[p2p_protocol(ranks = 2)]
mod pair {
    type Ping = u32;
    type Pong = u32;

    #[rank(0)]
    fn asker() {
        // Asks what the other
        // does not wait for.
        bsend(1, Ping);
    }

    #[rank(1)]
    fn answerer() {
        recv(0, Pong);
    }
}
";

/// A folder with some files.
pub(crate) struct Project {
    folder: PathBuf,
}

/// How a program ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// Its exit status.
    pub(crate) status: i32,
    /// What it printed.
    pub(crate) output: String,
    /// What it complained of.
    pub(crate) errors: String,
}

impl Run {
    /// The lines that it printed.
    pub(crate) fn lines(&self) -> Vec<&str> {
        self.output.lines().collect()
    }
}

impl Project {
    /// An empty folder of this name.
    pub(crate) fn new(name: &str) -> Project {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        if folder.exists() {
            std::fs::remove_dir_all(&folder).expect("the old folder can go");
        }
        std::fs::create_dir_all(&folder).expect("a new folder");
        Project { folder }
    }

    /// Where a file of it is.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Writes a file, and the folders it is in.
    pub(crate) fn write(&self, name: &str, text: &str) {
        self.write_bytes(name, text.as_bytes());
    }

    /// The same for what is not text.
    pub(crate) fn write_bytes(&self, name: &str, bytes: &[u8]) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a new folder");
        std::fs::write(path, bytes).expect("a new file");
    }

    /// A file's text.
    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("a file")
    }

    /// Runs `p2p-check` in it.
    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        self.run_as(env!("CARGO_BIN_EXE_p2p-check"), arguments)
    }

    /// Runs a program in it.
    pub(crate) fn run_as(&self, program: &str, arguments: &[&str]) -> Run {
        let output = Command::new(program)
            .args(arguments)
            .current_dir(&self.folder)
            .env_remove("NO_COLOR")
            .output()
            .expect("the program starts");
        let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
        Run {
            status: output.status.code().expect("the program ends by itself"),
            output: text(output.stdout),
            errors: text(output.stderr),
        }
    }
}
