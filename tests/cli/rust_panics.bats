#!/usr/bin/env bats
# Panics of Rust: whose line it is, who else borrows a RefCell, and what a library's function panicked for.
# shellcheck disable=SC2154 # helper.bash and bats set them
# bats file_tags=long
bats_require_minimum_version 1.5.0

setup() {
  load helper
  alone
  command -v rustc >/dev/null || skip "there is no rustc here"
}

# program: each case dies at the line with its mark.
program() {
  cat >panics.rs <<'END'
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

trait Watcher {
    fn changed(&mut self, all: &Rc<RefCell<dyn Watcher>>);
}

struct Log {
    lines: Vec<u64>,
}

impl Watcher for Log {
    fn changed(&mut self, all: &Rc<RefCell<dyn Watcher>>) {
        self.lines.push(1);
        again(all);
    }
}

#[inline(never)]
fn notify(watcher: &Rc<RefCell<dyn Watcher>>) {
    let (watcher, all) = (watcher, watcher.clone());
    watcher.borrow_mut().changed(&all);
}

#[inline(never)]
fn again(all: &Rc<RefCell<dyn Watcher>>) {
    all.borrow_mut().changed(all); // dies: object
}

struct Tree {
    items: RefCell<Vec<u64>>,
    other: RefCell<Vec<u64>>,
}

#[inline(never)]
fn add(tree: &Tree, value: u64) {
    tree.items.borrow_mut().push(value); // dies: reader, each
}

#[inline(never)]
fn visit(tree: &Tree) -> u64 {
    let items = tree.items.borrow();
    let sum: u64 = items.iter().sum();
    add(tree, sum);
    sum + items.len() as u64
}

#[inline(never)]
fn each(tree: &Tree) {
    for value in tree.items.borrow().iter() {
        other(tree, *value);
    }
}

#[inline(never)]
fn other(tree: &Tree, value: u64) {
    tree.other.borrow_mut().push(value);
    add(tree, value);
}

#[inline(never)]
fn count(tree: &Tree) -> usize {
    tree.items.borrow().len() // dies: writer
}

#[inline(never)]
fn grow(tree: &Tree) {
    let more = tree.other.borrow_mut();
    let mut items = tree.items.borrow_mut();
    items.push(count(tree) as u64 + more.len() as u64);
}

#[track_caller]
fn need<T>(value: Option<T>) -> T {
    match value {
        Some(v) => v,
        None => panic!("it is needed"),
    }
}

#[inline(never)]
fn needs(rows: &[u64]) -> u64 {
    need(rows.get(9).copied()) // dies: caller
}

#[inline(never)]
fn copy(to: &mut [u64], from: &[u64]) {
    to.copy_from_slice(from) // dies: library
}

#[inline(never)]
fn look(names: &HashMap<u64, u64>) -> u64 {
    names[&7] // dies: within
}

#[inline(never)]
fn sum(a: u8, b: u8) -> u8 {
    a + b // dies: overflow
}

fn main() {
    let tree = Tree { items: RefCell::new(vec![1]), other: RefCell::new(vec![]) };
    match std::env::args().nth(1).as_deref().unwrap() {
        "reader" => drop(visit(&tree)),
        "each" => each(&tree),
        "writer" => grow(&tree),
        "object" => notify(&(Rc::new(RefCell::new(Log { lines: vec![] })) as Rc<RefCell<dyn Watcher>>)),
        "caller" => drop(needs(&[1])),
        "library" => copy(&mut [1], &[1, 2]),
        "within" => drop(look(&HashMap::new())),
        _ => println!("{}", sum(250, std::env::args().count() as u8 + 10)),
    }
}
END
  local flags="-g -C panic=abort -C debug-assertions=on"
  # shellcheck disable=SC2086 # words
  rustc $flags -C opt-level=0 -o plain panics.rs && rustc $flags -C opt-level=2 -o fast panics.rs
}

line_of() {
  grep -nF -m 1 -- "$1" panics.rs | cut -d: -f1
}

# said BUILD CASE KIND FUNCTION TEXT...
said() {
  local got text line
  line=$(grep -nE "// dies: (.*, )?$2(,|$)" panics.rs | cut -d: -f1)
  rm -f core
  "$repo/corpora/take-core" --out core -- "./$1" "$2" >/dev/null 2>&1
  got=$("$XCORE" analyze --format json core |
    jq -r '.verdict | "\(.class) \(.kind) \(.function) \(.line)", .message, .cause, .evidence[]')
  [ "$(head -n 1 <<<"$got")" = "panic $3 panics::$4 $line" ]
  for text in "${@:5}"; do
    grep -qE -- "$text" <<<"$got"
  done
  # of two RefCells only the one of the panic
  [ -z "$(grep -E '`more` of' <<<"$got" | grep -v '^perhaps ')" ]
}

@test "who borrows the RefCell" {
  program
  local visits grows
  visits=$(line_of 'add(tree, sum);') grows=$(line_of 'items.push(count(tree)')
  said plain reader borrow add "^likely \`items\` of panics::visit, panics.rs:$visits, a Ref, borrows it$"
  said plain writer borrow count "^likely \`items\` of panics::grow, panics.rs:$grows, a RefMut, borrows it mutably$"
  said fast reader borrow add "^(likely|perhaps) \`items\` of panics::visit, panics.rs:$visits, a Ref, borrows it$"
  said fast writer borrow count
}

@test "a guard that is in no variable borrows the RefCell" {
  program
  said plain each borrow add "^likely panics::each, panics.rs:$(line_of 'other(tree, *value);'), further out, borrows it: a Ref or RefMut without"
  said plain object borrow again "^likely panics::notify, panics.rs:$(line_of 'changed(&all);'), further out, borrows it mutably: a RefMut without"
}

@test "a guard of a RefCell of another type does not borrow the one of the panic" {
  cat >cells.rs <<'END'
use std::cell::RefCell;
use std::collections::BTreeMap;

struct Service {
    users: RefCell<BTreeMap<u64, String>>,
    rooms: RefCell<Vec<u64>>,
}

impl Service {
    #[inline(never)]
    fn user_of(&self, id: u64) -> String {
        let users = self.users.borrow();
        users.get(&id).cloned().unwrap_or_default()
    }

    #[inline(never)]
    fn leave(&self, id: u64) -> usize {
        let mut rooms = self.rooms.borrow_mut();
        rooms.retain(|room| *room != id);
        self.user_of(id).len() + rooms.len()
    }

    #[inline(never)]
    fn sweep(&self) -> usize {
        let mut reg = self.users.borrow_mut();
        let old: Vec<u64> = reg.keys().cloned().collect();
        let mut sum = 0;
        for id in old {
            sum += self.leave(id);
            reg.remove(&id);
        }
        sum
    }
}

fn main() {
    let service = Service { users: RefCell::new(BTreeMap::new()), rooms: RefCell::new(vec![1, 2]) };
    service.users.borrow_mut().insert(1, "ann".to_string());
    println!("{}", service.sweep());
}
END
  for level in 0 2; do
    rustc -g -C panic=abort -C opt-level=$level -o cells cells.rs
    rm -f core
    "$repo/corpora/take-core" --out core -- ./cells >/dev/null 2>&1
    got=$("$XCORE" analyze --format json core | jq -r '.verdict.kind, .verdict.evidence[]')
    [ "$(head -n 1 <<<"$got")" = borrow ]
    grep -qE '^(likely|perhaps) `reg` of cells::Service::sweep, .*, a RefMut, borrows it mutably$' <<<"$got"
    [[ $got != *'`rooms`'* ]]
  done
}

@test "the caller of a function that has its caller blamed" {
  rustc_from 1.67 || skip "this rustc passes on no place that a core shows"
  program
  for build in plain fast; do
    said $build caller explicit needs 'it is needed' 'the panic says that it happened at panics.rs:'"$(line_of 'need(rows.get')":
  done
}

@test "a library's function that panics is not the program's panic" {
  program
  for build in plain fast; do
    said $build library library copy 'panics::copy called core::slice::.*copy_from_slice.*\(\), which panicked$'
    said $build within expect look 'panics::look called .*HashMap.*::index\(\), which called expect\(\) on None$'
    said $build overflow overflow sum '^attempt to add with overflow$' 'panics::sum computed a number'
  done
}

@test "the expression of a failed unwrap() is told, without literal texts, also over lines" {
  cat >asked.rs <<'END'
use std::collections::HashMap;
#[inline(never)]
fn port(values: &HashMap<String, String>) -> u16 {
    values.get("listen-port").unwrap().len() as u16
}
#[inline(never)]
fn limit(values: &HashMap<String, String>) -> usize {
    values
        .get("limit")
        .map(|text| text.len())
        .expect("there is a limit")
}
fn main() {
    let values = HashMap::new();
    let early = std::env::args().count() > 1;
    println!("{}", if early { port(&values) as usize } else { limit(&values) });
}
END
  for level in 0 2; do
    rustc -g -C opt-level=$level -C panic=abort -o asked asked.rs
    "$repo/corpora/take-core" --out core -- ./asked early >/dev/null 2>&1 || skip "no core can be taken here"
    "$XCORE" analyze --format json --no-plugins core | jq -r .verdict.cause >said
    grep -qxF 'asked::port called unwrap() on None: `values.get(…)`' said || { cat said && return 1; }
    "$repo/corpora/take-core" --out core -- ./asked >/dev/null 2>&1
    "$XCORE" analyze --format json --no-plugins core | jq -r .verdict.cause >said
    grep -qF 'asked::limit called expect() on None: `values.get(…).map(|text| text.len())`' said || { cat said && return 1; }
  done
}

@test "a lock that a panic poisoned" {
  cat >poison.rs <<'END'
use std::sync::{Arc, Mutex};
use std::thread;

struct Ledger {
    posted: u64,
}

#[inline(never)]
fn report(ledger: &Mutex<Ledger>, sound: &Mutex<u64>) -> u64 {
    match ledger.lock() {
        Ok(l) => l.posted + *sound.lock().unwrap(),
        Err(_) => std::process::abort(),
    }
}

fn main() {
    let (ledger, sound) = (Arc::new(Mutex::new(Ledger { posted: 0 })), Mutex::new(3));
    let other = Arc::clone(&ledger);
    let worker = thread::spawn(move || {
        let mut l = other.lock().unwrap();
        l.posted += 1;
        assert!(l.posted > 1, "an account is missing");
    });
    drop(worker.join());
    println!("{}", report(&ledger, &sound));
}
END
  rustc -g -o poison poison.rs
  "$repo/corpora/take-core" --out core -- ./poison >/dev/null 2>&1
  "$XCORE" analyze --format json core | jq -r '.verdict.evidence[]' >said
  grep -qx '`ledger` is likely poisoned: a thread panicked while it had locked it' said
  [ "$(grep -c poisoned said)" = 1 ]
}
