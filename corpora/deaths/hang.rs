// Hangs in the locks of Rust, which record no owner, until somebody who watches sends a signal.
#[inline(never)] fn black_box<T>(value: T) -> T { let seen = unsafe { std::ptr::read_volatile(&value) }; std::mem::forget(value); seen } // std has one since 1.66
use std::sync::{mpsc, Arc, Barrier, Condvar, Mutex, Once, RwLock};
use std::thread;
use std::time::Duration;

struct Account {
    balance: Mutex<i64>,
    history: RwLock<Vec<i64>>,
    changed: Condvar,
}

static BANK: Account = Account {
    balance: Mutex::new(1),
    history: RwLock::new(Vec::new()),
    changed: Condvar::new(),
};
static START: Once = Once::new();

fn tell() {
    thread::sleep(Duration::from_millis(100));
    println!("ready");
}

fn tell_later() {
    thread::spawn(tell);
}

#[inline(never)]
fn transfer(from: &Account, to: &Account, both: &Barrier) {
    let mut given = from.balance.lock().unwrap();
    both.wait();
    let mut taken = to.balance.lock().unwrap(); // dies: two
    *taken += *given;
    *given = 0;
}

fn account() -> Arc<Account> {
    Arc::new(Account {
        balance: Mutex::new(1),
        history: RwLock::new(Vec::new()),
        changed: Condvar::new(),
    })
}

fn two() {
    let (first, second, both) = (account(), account(), Arc::new(Barrier::new(2)));
    let (one, other, meet) = (first.clone(), second.clone(), both.clone());
    let forth = thread::spawn(move || transfer(&one, &other, &meet));
    thread::spawn(move || transfer(&second, &first, &both));
    tell();
    forth.join().unwrap();
}

#[inline(never)]
fn save_again(account: &Account) -> i64 {
    *account.balance.lock().unwrap() // dies: same
}

#[inline(never)]
fn save(account: &Account) -> i64 {
    let mine = account.balance.lock().unwrap();
    *mine + save_again(account)
}

fn same() {
    tell_later();
    black_box(save(&account()));
}

#[inline(never)]
fn upgrade() {
    let read = BANK.history.read().unwrap();
    BANK.history.write().unwrap().push(read.len() as i64); // dies: rwlock
}

fn rwlock() {
    tell_later();
    upgrade();
}

#[inline(never)]
fn wait_for_change(account: &Account) {
    let mut balance = account.balance.lock().unwrap();
    while *balance == 1 {
        balance = account.changed.wait(balance).unwrap(); // dies: condvar
    }
}

fn condvar() {
    tell_later();
    wait_for_change(&BANK);
}

#[inline(never)]
fn begin() {
    START.call_once(|| begin()); // dies: once
}

fn once() {
    tell_later();
    begin();
}

#[inline(never)]
fn next_order(orders: &mpsc::Receiver<i64>) -> i64 {
    orders.recv().unwrap() // dies: channel
}

fn channel() {
    let (sender, orders) = mpsc::channel();
    tell_later();
    black_box(next_order(&orders));
    black_box(sender).send(1).unwrap();
}

#[inline(never)]
fn close_all(account: &Arc<Account>) {
    let balance = account.balance.lock().unwrap();
    let other = account.clone();
    let worker = thread::spawn(move || *other.balance.lock().unwrap());
    tell_later();
    black_box(worker.join().unwrap() + *balance); // dies: join
}

fn join() {
    close_all(&account());
}

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("two") => two(),
        Some("same") => same(),
        Some("rwlock") => rwlock(),
        Some("condvar") => condvar(),
        Some("once") => once(),
        Some("channel") => channel(),
        Some("join") => join(),
        _ => std::process::exit(2),
    }
}
