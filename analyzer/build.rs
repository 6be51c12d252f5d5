//! Links the programs to a fixed address where that is possible: nothing has to be relocated then when
//! they start, which takes a tenth of the time of a small file's check. All of it is safe Rust but for
//! the parser of C.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let is = |variable, value| std::env::var(variable).is_ok_and(|it| it == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
}
