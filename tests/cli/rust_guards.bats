#!/usr/bin/env bats
# Hangs at mutexes of Rust whose guard has no name, as of a value that is matched: who likely holds them.
# shellcheck disable=SC2154 # helper.bash and bats set them
# bats file_tags=long
bats_require_minimum_version 1.5.0

setup() {
  load helper
  alone
  command -v rustc >/dev/null || skip "there is no rustc here"
}

program() {
  cat >guards.rs <<'END'
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

type Table = Mutex<HashMap<u64, u64>>;

fn forever() -> u64 {
    loop {
        thread::sleep(Duration::from_secs(1000));
    }
}

// The guard is a temporary of what is matched: it lives to the end of the match.
#[inline(never)]
fn matched(table: &Table) -> u64 {
    match table.lock().unwrap().get(&1) {
        Some(n) => *n + forever(),
        None => 0,
    }
}

#[inline(never)]
fn chosen(table: &Table) -> u64 {
    if let Some(n) = table.lock().unwrap().get_mut(&1) {
        *n += 1;
        return *n + forever();
    }
    0
}

#[inline(never)]
fn waits(table: &Table) -> u64 {
    table.lock().unwrap().len() as u64
}

#[inline(never)]
fn black_box<T: Copy>(value: T) -> T {
    unsafe { std::ptr::read_volatile(&value) }
}

// Has the address of the mutex, and a small number beside it.
#[inline(never)]
fn looks(table: &Table) -> u64 {
    let pair = black_box((table as *const Table as usize, 1usize << 20));
    pair.1 as u64 + forever()
}

// Held it before.
#[inline(never)]
fn released(table: &Table) -> u64 {
    let n = match table.lock().unwrap().get(&1) {
        Some(n) => *n,
        None => 0,
    };
    n + forever()
}

fn main() {
    let table: Arc<Table> = Arc::new(Mutex::new(HashMap::from([(1, 1)])));
    let go = |run: fn(&Table) -> u64| {
        let mine = table.clone();
        let thread = thread::spawn(move || run(&mine));
        thread::sleep(Duration::from_millis(50));
        thread
    };
    let what = std::env::args().nth(1).unwrap();
    if what == "looks" || what == "released" {
        go(if what == "looks" { looks } else { released });
        std::mem::forget(table.lock().unwrap());
    } else {
        go(looks);
        go(if what == "matched" { matched } else { chosen });
    }
    let waiter = go(waits);
    go(waits);
    println!("ready");
    waiter.join().unwrap();
}
END
  rustc -g -C opt-level=0 -o plain guards.rs
  rustc -g -C opt-level=3 -o fast guards.rs
}

# report BUILD CASE: of a core of the program that hangs, as text
report() {
  rm -f core
  "$repo/corpora/take-core" --kill ABRT --out core -- "./$1" "$2" >/dev/null 2>&1
  "$XCORE" analyze core
}

# holder TEXT: the functions on the stack of the thread that likely holds the mutex
holder() {
  local tid
  tid=$(grep -oE 'which thread [0-9]+( "[a-z]+")? +likely +holds' <<<"$1" | grep -oE '[0-9]+' | head -n 1)
  "$XCORE" bt core --thread "${tid:-none}" --format json | jq -r '.threads[].frames[].function'
}

@test "a guard that is a temporary of a match or an if let shows who holds the mutex" {
  program
  for build in plain fast; do
    for case in matched chosen; do
      got=$(report $build $case | tr -s ' \n' ' ')
      grep -qE 'likely holds \(an apparent guard of it is in (its stack|a register), without a name\)' <<<"$got"
      holder "$got" | grep -qx "guards::$case"
    done
  done
}

@test "who only has the address of the mutex, or waits for it, is not its holder, and who released it never certainly" {
  program
  for build in plain fast; do
    for case in looks released; do
      got=$(report $build $case | tr -s ' \n' ' ')
      grep -qE '2 × thread [0-9]+,.* waiting for mutex' <<<"$got"
      run ! grep -E 'thread [0-9]+( "[a-z]+")? holds' <<<"$got"
      run holder "$got"
      [ "$case" = released ] || [[ $output != *guards::looks* ]]
      [[ $output != *guards::waits* ]]
    done
  done
}

crossing() {
  cat >crossing.rs <<'EOF'
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

struct Account {
    cents: i64,
    history: Vec<i64>,
}

struct Accounts {
    all: Vec<Arc<Mutex<Account>>>,
    done: AtomicU64,
}

#[inline(never)]
fn note(account: &mut Account, cents: i64) {
    account.cents += cents;
    account.history.push(cents);
    if account.history.len() > 10 {
        account.history.clear();
    }
}

#[inline(never)]
fn transfer(accounts: &Accounts, from: usize, to: usize) {
    let mut source = accounts.all[from].lock().unwrap();
    thread::sleep(Duration::from_millis(100));
    let mut target = accounts.all[to].lock().unwrap();
    note(&mut source, -5);
    note(&mut target, 5);
    accounts.done.fetch_add(1, Ordering::Relaxed);
}

// Has given the first back before it asks for the second, and takes the first again later.
#[inline(never)]
fn in_turn(accounts: &Accounts, from: usize, to: usize) {
    note(&mut accounts.all[from].lock().unwrap(), -5);
    thread::sleep(Duration::from_millis(200));
    note(&mut accounts.all[to].lock().unwrap(), 5);
    note(&mut accounts.all[from].lock().unwrap(), 1);
}

fn main() {
    let accounts = Arc::new(Accounts {
        all: (0..4).map(|cents| Arc::new(Mutex::new(Account { cents, history: vec![] }))).collect(),
        done: AtomicU64::new(0),
    });
    let crossed = std::env::args().nth(1).unwrap() == "crossed";
    let go = |from, to| {
        let mine = accounts.clone();
        thread::spawn(move || if crossed { transfer(&mine, from, to) } else { in_turn(&mine, from, to) })
    };
    let (one, other) = (go(1, 2), go(2, 1));
    if !crossed {
        thread::sleep(Duration::from_millis(100));
        std::mem::forget(accounts.all[1].lock().unwrap());
        std::mem::forget(accounts.all[2].lock().unwrap());
    }
    thread::sleep(Duration::from_millis(300));
    println!("ready");
    one.join().unwrap();
    other.join().unwrap();
}
EOF
  rustc -g -C opt-level=0 -o plain crossing.rs
  rustc -g -C opt-level=2 -C panic=abort -o fast crossing.rs
}

@test "a guard that the optimiser has left no word shows in the code that drops it: each thread holds what the other waits for" {
  crossing
  for build in plain fast; do
    got=$(report $build crossed | tr -s ' \n' ' ')
    [[ $got == *"deadlock: 2 threads wait for each other"* ]]
    [[ $got == *"deadlock (cycle): thread "*"crossing::transfer"* ]]
    [[ $got != *"no other thread's stack has its address"* ]]
  done
}

@test "who takes a mutex only later, or waits for it, is not its holder" {
  crossing
  for build in plain fast; do
    got=$(report $build given | tr -s ' \n' ' ')
    [[ $got == *"crossing::in_turn"* ]]
    [[ $got != *"wait for each other"* ]]
    [[ $got != *"in the code that comes next"* ]]
  done
}

# Each case is a function that sleeps: with the guard, or after it was dropped, and the lock was left locked elsewhere.
over() {
  cat >over.rs <<'EOF'
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, RwLock};
use std::thread;
use std::time::Duration;

static STOP: AtomicBool = AtomicBool::new(false);

struct Shared {
    table: Mutex<HashMap<u64, u64>>,
    list: RwLock<Vec<u64>>,
}

#[inline(never)]
fn rests() -> u64 {
    let mut n = 0;
    while !STOP.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_secs(1000));
        n += 1;
    }
    n
}

#[inline(never)]
fn dropped(s: &Shared) -> u64 {
    let guard = s.table.lock().unwrap();
    let n = guard.len() as u64;
    drop(guard);
    n + rests()
}

#[inline(never)]
fn looped(s: &Shared) -> u64 {
    let mut n = 0;
    for i in 0..5 {
        let guard = s.table.lock().unwrap();
        n += guard.len() as u64 + i;
        drop(guard);
        n += rests();
    }
    n
}

#[inline(never)]
fn endless(s: &Shared) -> u64 {
    let guard = s.table.lock().unwrap();
    println!("{}", guard.len());
    loop {
        rests();
    }
}

#[inline(never)]
fn consume(guard: MutexGuard<HashMap<u64, u64>>) -> u64 {
    rests() + guard.len() as u64
}

#[inline(never)]
fn moved(s: &Shared) -> u64 {
    consume(s.table.lock().unwrap()) + s.list.read().unwrap().len() as u64
}

#[inline(never)]
fn reads(s: &Shared) -> u64 {
    match s.list.read().unwrap().first() {
        Some(n) => *n + rests(),
        None => 0,
    }
}

#[inline(never)]
fn writes(s: &Shared) -> u64 {
    if let Some(n) = s.list.write().unwrap().first_mut() {
        *n += rests();
        return *n;
    }
    0
}

#[inline(never)]
fn wants(s: &Shared) -> u64 {
    s.table.lock().unwrap().len() as u64
}

#[inline(never)]
fn wants_list(s: &Shared) -> u64 {
    s.list.write().unwrap().len() as u64
}

fn main() {
    let how = std::env::args().nth(1).unwrap();
    STOP.store(how.len() > 40, Ordering::Relaxed);
    let shared = Arc::new(Shared { table: Mutex::new(HashMap::from([(1, 2)])), list: RwLock::new(vec![1]) });
    let go = |run: fn(&Shared) -> u64| {
        let mine = shared.clone();
        let thread = thread::spawn(move || run(&mine));
        thread::sleep(Duration::from_millis(100));
        thread
    };
    go(match how.as_str() {
        "dropped" => dropped,
        "looped" => looped,
        "endless" => endless,
        "moved" => moved,
        "reads" => reads,
        _ => writes,
    });
    if how == "dropped" || how == "looped" {
        let mine = shared.clone();
        thread::spawn(move || std::mem::forget(mine.table.lock().unwrap())).join().unwrap();
    }
    let waiter = go(if how == "reads" || how == "writes" { wants_list } else { wants });
    println!("ready");
    println!("{:?}", waiter.join());
}
EOF
  "${1:-rustc}" -g -C opt-level=0 -o plain over.rs
  "${1:-rustc}" -g -C opt-level=3 -o fast over.rs
  "${1:-rustc}" -g -C opt-level=2 -C panic=abort -o short over.rs
}

is_over() {
  for build in plain fast short; do
    for case in dropped looped; do
      got=$(report $build $case | tr -s ' \n' ' ')
      [[ $got == *"in over::wants (over.rs:"*"; its holder is not recorded"* ]]
      [[ $got != *"likely holds"* ]]
    done
    for case in endless moved reads writes; do
      [ "$build" != short ] || [ "$case" = reads ] || continue # it may have no code that gives it back
      got=$(report $build $case | tr -s ' \n' ' ')
      grep -qE ' waits for (mutex|reader-writer lock) .* in over::wants(_list)? .*, which thread [0-9]+ likely holds' <<<"$got"
      [[ $'\n'$(holder "$got")$'\n' == *$'\n'"over::$case"$'\n'* ]]
    done
  done
}

@test "a guard that was dropped, or is still held: by its code" {
  over
  is_over
}

@test "likewise of an older compiler" {
  old=$(type -ap rustc | tail -n 1)
  [ "$old" != "$(command -v rustc)" ] || skip "there is only one rustc"
  over "$old"
  is_over
}
