#!/usr/bin/env bats
# Panics of Rust that an earlier panic led to: poisoned locks, and threads that are joined.
# shellcheck disable=SC2154 # helper.bash and bats set them
# bats file_tags=long
bats_require_minimum_version 1.5.0

setup() {
  load helper
  alone
  command -v rustc >/dev/null || skip "there is no rustc here"
}

# program: each case ends in the unwrap() of main's function of its name.
program() {
  cat >after.rs <<'EOF'
use std::panic;
use std::process;
use std::sync::{Arc, Condvar, Mutex, RwLock};
use std::thread;

#[derive(Debug)]
struct PoisonError {
    reason: String,
}

struct Table {
    rows: Vec<u64>,
    open: Option<String>,
}

struct Shared {
    table: Mutex<Table>,
    names: RwLock<Vec<String>>,
    other: Mutex<u64>,
    more: Condvar,
}

fn shared() -> Arc<Shared> {
    Arc::new(Shared {
        table: Mutex::new(Table { rows: vec![1, 2, 3], open: None }),
        names: RwLock::new(vec![]),
        other: Mutex::new(0),
        more: Condvar::new(),
    })
}

#[inline(never)]
fn fill(s: &Shared, at: usize) {
    let mut table = s.table.lock().unwrap();
    table.open = Some("seventh".to_string());
    table.rows[at] = 5; // first
    table.open = None;
}

#[inline(never)]
fn name(s: &Shared, at: usize) {
    let mut names = s.names.write().unwrap();
    names.push("x".to_string());
    names.remove(at);
}

#[inline(never)]
fn mutex(s: &Shared) -> usize {
    let table = s.table.lock().unwrap(); // dies: mutex, freed
    table.rows.len()
}

#[inline(never)]
fn rwlock(s: &Shared) -> usize {
    s.names.read().expect("names").len()
}

#[inline(never)]
fn waits(s: &Shared) -> u64 {
    let other = s.other.lock().unwrap();
    let other = s.more.wait(other).unwrap();
    *other
}

#[inline(never)]
fn tried(s: &Shared) -> usize {
    s.table.try_lock().unwrap().rows.len()
}

#[inline(never)]
fn busy(s: &Shared) -> usize {
    let held = s.other.lock().unwrap();
    let again = s.other.try_lock().unwrap();
    (*held + *again) as usize
}

#[inline(never)]
fn joined(handle: thread::JoinHandle<()>) {
    handle.join().unwrap()
}

#[inline(never)]
fn own(text: &str) -> usize {
    let failed: Result<usize, PoisonError> = Err(PoisonError { reason: text.to_string() });
    failed.unwrap()
}

#[inline(never)]
fn parsed(text: &str) -> usize {
    text.parse::<usize>().unwrap()
}

fn main() {
    let s = shared();
    let (a, b) = (s.clone(), s.clone());
    let how = std::env::args().nth(1).unwrap();
    let old = format!("index out of bounds: the len is {} but the index is {}", 3, how.len());
    let hook = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        hook(info);
        let thread = thread::current().name().unwrap_or("?").to_string();
        if thread == "main" {
            process::abort();
        }
    }));
    match how.as_str() {
        "mutex" => {
            let left = thread::spawn(move || fill(&a, 17)).join();
            println!("{} {}", mutex(&s), left.is_err());
        }
        "freed" => {
            let _ = thread::spawn(move || fill(&a, 17)).join();
            println!("{}", mutex(&s));
        }
        "tried" => {
            let left = thread::spawn(move || fill(&a, 17)).join();
            println!("{} {}", tried(&s), left.is_err());
        }
        "busy" => println!("{}", busy(&s)),
        "rwlock" => {
            let left = thread::spawn(move || name(&a, 9)).join();
            println!("{} {}", rwlock(&s), left.is_err());
        }
        "waits" => {
            thread::spawn(move || {
                thread::sleep(std::time::Duration::from_millis(100));
                let held = a.other.lock().unwrap();
                a.more.notify_all();
                panic!("a text of the program, {}", *held);
            });
            println!("{}", waits(&b));
        }
        "joined" => joined(thread::spawn(|| panic!("no row {}", std::env::args().count()))),
        "own" => println!("{}", own(&old)),
        _ => println!("{}", parsed(&old)),
    }
    println!("{}", old);
}
EOF
  local flags="-g --edition 2021 -A warnings"
  # shellcheck disable=SC2086 # words
  rustc $flags -C opt-level=0 -o plain after.rs && rustc $flags -C opt-level=2 -o fast after.rs
}

# said BUILD CASE [OPTION]...: cause and evidence of its core, to the file `said`
said() {
  rm -f core
  "$repo/corpora/take-core" --out core -- "./$1" "$2" >/dev/null 2>&1 || skip "no core can be taken here"
  "$XCORE" analyze --format json --no-plugins core "${@:3}" |
    jq -r '.verdict | "\(.class) \(.kind) \(.function)", .cause, .evidence[]' >said
}

earlier='^a text of the heap is likely the message of an earlier panic: "'

@test "a poisoned lock: which one, what it protects, and the panic that came first" {
  program
  for build in plain fast; do
    said $build mutex
    has '^panic unwrap after::mutex$' \
      'called unwrap\(\) on an Err: `s.table.lock\(\)`: the mutex is poisoned: a thread panicked while it held it' \
      '^the mutex `s.table` \(0x[0-9a-f]+\) is marked as poisoned$' \
      '^the data that it protects may be half changed, a after::Table: .*open: Some\("seventh"\)' \
      "${earlier}index out of bounds: the len is 3 but the index is 17\""
    said $build rwlock
    has '`s.names.read\(\)`: the RwLock is poisoned: a thread panicked while it held it'
    said $build tried
    has '`s.table.try_lock\(\)`: the mutex is poisoned' "${earlier}index out of bounds: the len is 3 but the index is 17\""
    said $build waits
    has 'the mutex is poisoned: a thread panicked while it held it' '^the mutex at 0x[0-9a-f]+ is marked as poisoned$'
  done
}

@test "the message of the first panic is left of a freed block" {
  program
  for build in plain fast; do
    said $build freed
    has 'the mutex is poisoned' "${earlier}.*but the index is 17\".*, in a freed block$"
  done
}

@test "redacted: no texts of the program" {
  program
  said plain mutex --redact
  has "^a text of the heap is likely the message of an earlier panic$" '^the data that it protects may be half changed, a after::Table$'
  lacks 'seventh' 'index is 17'
}

@test "a thread that is joined had panicked" {
  program
  for build in plain fast; do
    said $build joined
    has '`handle.join\(\)`: the thread that it joined had panicked, and this panic is a consequence' \
      '^the panic before had the message "no row 2"$'
  done
}

@test "other errors are no consequence, whatever they are called" {
  program
  for build in plain fast; do
    for case in own parsed busy; do
      said $build $case
      has '^panic unwrap after::'
      lacks 'poisoned' 'consequence' 'earlier panic'
    done
  done
}

@test "a panic of a destructor that another panic runs: the first one is the cause" {
  cat >twice.rs <<'EOF'
struct Draft { entries: Vec<u32>, done: bool }
impl Drop for Draft {
    fn drop(&mut self) {
        if !self.done { panic!("entry {} was neither committed nor discarded", self.entries.len()); }
    }
}
#[inline(never)]
fn parse(text: &str) -> u32 { text[..2].parse().unwrap() }
#[inline(never)]
fn import(lines: &[String]) -> u32 {
    let mut draft = Draft { entries: vec![], done: false };
    for line in lines { draft.entries.push(parse(line)); }
    draft.done = true;
    draft.entries.len() as u32
}
fn main() { println!("{}", import(&["17".to_string(), std::env::args().nth(1).unwrap()])); }
EOF
  for level in 0 2; do
    rustc -g -C opt-level=$level -A warnings -o twice$level twice.rs 2>rustc.log || skip "this rustc cannot build it"
    verdict_of core-twice$level ./twice$level 5
    # What std keeps, and how it words this, differs from release to release.
    "$XCORE" bt --full --no-plugins core-twice$level | grep -q '^ *panics ' || continue
    says 'likely it came while another panic of this thread unwound the stack'
    [ "$level" -ne 0 ] || has 'is likely the message of an earlier panic: ".*byte index 2 is out of bounds'
  done
}

@test "a comparison of floats that gives None" {
  cat >nan.rs <<'EOF'
#[inline(never)]
fn top(all: &mut Vec<(u32, f64)>) -> u32 {
    all.sort_by(|a, b| b.1.partial_cmp(&a.1).unwrap());
    all[0].0
}
fn main() {
    let zero = std::env::args().count() as f64 - 1.0;
    let mut all: Vec<(u32, f64)> = (0..40).map(|i| (i, i as f64 * 7.0 % 11.0)).collect();
    all.push((40, zero / zero));
    println!("{}", top(&mut all));
}
EOF
  rustc -g -C panic=abort -A warnings -o nan nan.rs 2>rustc.log || skip "this rustc cannot build it"
  verdict_of core-nan ./nan
  says 'called unwrap() on None' 'partial_cmp(' 'of floats it gives None when one is NaN'
}
