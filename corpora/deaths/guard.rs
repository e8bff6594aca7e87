// Hangs in a lock that the thread itself has: its guard has no name.
// needs rustc 1.70
#[inline(never)] fn black_box<T>(value: T) -> T { let seen = unsafe { std::ptr::read_volatile(&value) }; std::mem::forget(value); seen } // as in hang.rs
use std::sync::{Arc, Mutex, RwLock};
use std::thread;
use std::time::Duration;

struct Account {
    balance: i64,
    history: RwLock<Vec<i64>>,
}

fn tell_later() {
    thread::spawn(|| {
        thread::sleep(Duration::from_millis(100));
        println!("ready");
    });
}

fn account() -> Arc<Account> {
    Arc::new(Account {
        balance: black_box(1),
        history: RwLock::new(Vec::new()),
    })
}

#[inline(never)]
fn refresh(account: &Account, by: i64) -> i64 {
    let mut history = account.history.write().unwrap(); // dies: matched looked-up
    history.push(by);
    by
}

// The guard of what is matched has no name, and lives as long as the match.
#[inline(never)]
fn last(account: &Account) -> i64 {
    match account.history.read().unwrap().last() {
        Some(&last) if last > 9 => last,
        Some(&last) => refresh(account, last + 1),
        None => refresh(account, 1),
    }
}

fn matched() {
    tell_later();
    black_box(last(&account()));
}

#[inline(never)]
fn first(account: &Account) -> i64 {
    if let Some(&first) = account.history.read().unwrap().first() {
        return refresh(account, first);
    }
    0
}

fn looked_up() {
    let known = account();
    known.history.write().unwrap().push(4);
    tell_later();
    black_box(first(&known));
}

// So does that of `while let`, through the body.
#[inline(never)]
fn drain(orders: &Mutex<Vec<i64>>) -> i64 {
    let mut sum = 0;
    while let Some(order) = orders.lock().unwrap().pop() {
        sum += order;
        orders.lock().unwrap().push(order / 2); // dies: drained
    }
    sum
}

fn drained() {
    tell_later();
    black_box(drain(&Mutex::new(vec![black_box(4)])));
}

#[inline(never)]
fn place(orders: &Mutex<Vec<i64>>, order: i64) {
    orders.lock().unwrap().push(order); // dies: argument
}

// That of an argument, through the call.
#[inline(never)]
fn place_next(orders: &Mutex<Vec<i64>>) {
    place(orders, orders.lock().unwrap().len() as i64);
}

fn argument() {
    let orders = Mutex::new(vec![black_box(4)]);
    tell_later();
    place_next(&orders);
    black_box(orders);
}

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("matched") => matched(),
        Some("looked-up") => looked_up(),
        Some("drained") => drained(),
        Some("argument") => argument(),
        _ => std::process::exit(account().balance as i32),
    }
}
