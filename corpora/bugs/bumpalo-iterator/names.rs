//! The names of a list, sorted. They are collected in an arena that is gone when they are read: bumpalo 3.4.0 lets that through.

use bumpalo::{collections::Vec as ArenaVec, Bump};

fn sorted_names(text: &str) -> impl Iterator<Item = String> {
    let arena = Bump::new();
    let mut names = ArenaVec::new_in(&arena);
    for name in text.split_whitespace() {
        names.push(name.to_string());
    }
    names.sort();
    names.into_iter()
}

fn main() {
    let names = sorted_names("sirius vega rigel deneb altair spica");
    let greeting = "Good evening! ".repeat(34);
    for name in names {
        println!("{}{}", &greeting[..14], name);
    }
}
