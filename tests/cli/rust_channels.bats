#!/usr/bin/env bats
# Hangs at channels of Rust: who holds the lock around a receiver, and who has the other end of the channel.
# shellcheck disable=SC2154 # helper.bash and bats set them
# bats file_tags=long
bats_require_minimum_version 1.5.0

setup() {
  load helper
  alone
  command -v rustc >/dev/null || skip "there is no rustc here"
}

# program [RUSTC]: the workers of a pool share a receiver; its owner keeps the sender, and waits for their end.
program() {
  cat >channels.rs <<'END'
use std::sync::mpsc::{channel, sync_channel, Receiver, Sender, SyncSender};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

struct Pool {
    jobs: Option<Sender<u64>>,
    workers: Vec<JoinHandle<u64>>,
}

#[inline(never)]
fn next(jobs: &Mutex<Receiver<u64>>) -> Option<u64> {
    jobs.lock().ok()?.recv().ok()
}

#[inline(never)]
fn finish(pool: &mut Pool) -> u64 {
    pool.workers.drain(..).map(|w| w.join().unwrap()).sum()
}

#[inline(never)]
fn pool(copies: usize) -> u64 {
    let (jobs, orders) = channel();
    let orders = Arc::new(Mutex::new(orders));
    let mut workers = Vec::new();
    for _ in 0..3 {
        let orders = orders.clone();
        workers.push(thread::spawn(move || {
            let mut sum = 0;
            while let Some(n) = next(&orders) {
                sum += n;
            }
            sum
        }));
    }
    let more: Vec<Sender<u64>> = (0..copies).map(|_| jobs.clone()).collect();
    let mut pool = Pool { jobs: Some(jobs), workers };
    pool.jobs.as_ref().unwrap().send(7).unwrap();
    let sum = finish(&mut pool);
    sum + more.len() as u64
}

#[inline(never)]
fn produce(out: &SyncSender<u64>) {
    for n in 0.. {
        out.send(n).unwrap();
    }
}

// The only one that could receive waits for the end of who sends.
#[inline(never)]
fn full() -> u64 {
    let (out, results) = sync_channel(2);
    let producer = thread::spawn(move || produce(&out));
    producer.join().unwrap();
    results.iter().sum()
}

fn main() {
    let tell = || thread::spawn(|| {
        thread::sleep(Duration::from_millis(100));
        println!("ready");
    });
    tell();
    let sum = match std::env::args().nth(1).as_deref() {
        Some("pool") => pool(0),
        Some("copies") => pool(2),
        _ => full(),
    };
    println!("{sum}");
}
END
  "${1:-rustc}" -g -C opt-level=0 -o plain channels.rs
  "${1:-rustc}" -g -C opt-level=3 -o fast channels.rs
}

# verdict BUILD CASE: of a core of the program that hangs
verdict() {
  rm -f core
  "$repo/corpora/take-core" --kill ABRT --out core -- "./$1" "$2" >/dev/null 2>&1
  "$XCORE" analyze --format json core >report.json
  jq -r '.verdict | .class, .kind, .function, .cause, .evidence[]' report.json
}

@test "workers at a receiver whose sender is kept by who waits for them" {
  program
  for build in plain fast; do
    got=$(verdict $build pool)
    [ "$(sed -n 1,3p <<<"$got" | xargs)" = "deadlock all wait channels::next" ]
    grep -qE '2 more|and 1 more, waiting for mutex .* likely held by thread [0-9]+' <<<"$got"
    grep -qE '^the channel that thread [0-9]+ waits at is not closed: it has 1 sender left$' <<<"$got"
    grep -qE '^likely thread [0-9]+ has it: as `pool\.jobs`( or `jobs`)?; it is waiting for thread [0-9]+ to end in channels::finish' <<<"$got"
    # who holds the lock is who receives, the thread to look at
    holder=$(grep -oE 'likely held by thread [0-9]+' <<<"$got" | grep -oE '[0-9]+')
    [ "$(jq .verdict.tid report.json)" = "$holder" ]
    grep -q 'is a reference to what it protects' report.json
  done
}

@test "copies of a sender are counted" {
  program
  got=$(verdict plain copies)
  grep -qE 'it has 3 senders left$' <<<"$got"
  grep -qE '^likely thread [0-9]+ has one of them: as `pool\.jobs`( or `jobs`)?;' <<<"$got"
}

# old_rustc: a compiler whose channels are packets in an Arc, before 1.67
old_rustc() {
  local found
  for found in $(type -ap rustc); do
    case $("$found" --version 2>/dev/null) in
      "rustc 1."[1-5][0-9].* | "rustc 1.6"[0-6].*) echo "$found" && return ;;
    esac
  done
  return 1
}

@test "the channels of older compilers, with one sender and with copies" {
  old=$(old_rustc) || skip "there is no rustc before 1.67 here"
  program "$old"
  for build in plain fast; do
    got=$(verdict $build pool)
    grep -qE '^the channel that thread [0-9]+ waits at is not closed: it has 1 sender left$' <<<"$got"
    grep -qE '^likely thread [0-9]+ has it: as `pool\.jobs`( or `jobs`)?; it is waiting for thread [0-9]+ to end in channels::finish' <<<"$got"
  done
  got=$(verdict plain copies)
  grep -qE 'it has 3 senders left$' <<<"$got"
  grep -qE '^likely thread [0-9]+ has one of them: as `pool\.jobs`( or `jobs`)?;' <<<"$got"
}

@test "a full channel whose receiver waits for the sender" {
  rustc_from 1.67 || skip "the channels of this rustc do not count their receivers"
  program
  got=$(verdict plain full)
  grep -qE '^the channel that thread [0-9]+ waits at is not closed: it has 1 receiver left$' <<<"$got"
  grep -qE '^likely thread [0-9]+ has it: as `results`; it is waiting for thread [0-9]+ to end in channels::full' <<<"$got"
}

@test "a sender that the objects of who waits for the receiver's end lead to" {
  cat >kept.rs <<'END'
use std::sync::mpsc::{channel, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::thread;

struct Reporter {
    lines: u64,
    out: Sender<u64>,
}

struct Crawler {
    name: String,
    reporter: Arc<Mutex<Reporter>>,
    sums: Option<thread::JoinHandle<u64>>,
}

fn sum(all: Receiver<u64>) -> u64 {
    all.iter().sum()
}

impl Crawler {
    fn new() -> Crawler {
        let (out, all) = channel();
        let copy = out.clone();
        thread::spawn(move || copy.send(7).unwrap()).join().unwrap();
        Crawler { name: "c".into(), reporter: Arc::new(Mutex::new(Reporter { lines: 0, out })), sums: Some(thread::spawn(move || sum(all))) }
    }
    fn finish(&mut self) -> u64 {
        self.sums.take().unwrap().join().unwrap()
    }
}

fn main() {
    let mut crawler = Box::new(Crawler::new());
    println!("ready");
    let n = crawler.finish();
    println!("{} {} {}", crawler.name, n, crawler.reporter.lock().unwrap().lines);
}
END
  rustc -g -o kept kept.rs
  "$repo/corpora/take-core" --kill ABRT --out kept.core -- ./kept >/dev/null 2>&1
  got=$("$XCORE" analyze --format json kept.core | jq -r '.verdict.evidence[]')
  echo "$got"
  grep -qE '^the channel that thread [0-9]+ waits at is not closed: it has 1 sender left$' <<<"$got"
  grep -qE '^likely thread [0-9]+ has it: as `self.reporter.out` or `crawler.reporter.out`; it is waiting for thread [0-9]+ to end' <<<"$got"
}
