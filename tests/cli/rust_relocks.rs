// A mutex that a thread takes while it holds it, has given it back, or only tried to take it; others wait for it, too.
// Argument: the way.
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

#[derive(Clone, Copy)]
enum Phase {
    Active,
    Suspended(u64),
}

struct Session {
    phase: Phase,
    hits: u64,
}

struct Store {
    live: Mutex<HashMap<u64, Session>>,
}

fn forever() -> u64 {
    loop {
        thread::sleep(Duration::from_secs(1000));
    }
}

impl Store {
    // The guard of what is matched lives to the end of the match.
    fn attach(&self, id: u64) -> u64 {
        match self.live.lock().unwrap().get_mut(&id) {
            Some(s) => match s.phase {
                Phase::Active => {
                    s.hits += 1;
                    s.hits
                }
                Phase::Suspended(age) => self.resume(id, age),
            },
            None => 0,
        }
    }

    fn resume(&self, id: u64, age: u64) -> u64 {
        let mut live = self.live.lock().unwrap();
        let s = live.get_mut(&id).unwrap();
        s.phase = Phase::Active;
        s.hits += age;
        s.hits
    }

    fn apart(&self, id: u64) -> u64 {
        let age = match self.live.lock().unwrap().get(&id) {
            Some(Session { phase: Phase::Suspended(age), .. }) => *age,
            _ => 0,
        };
        thread::sleep(Duration::from_millis(300));
        self.resume(id, age)
    }

    fn tried(&self, id: u64) -> u64 {
        if let Ok(mut live) = self.live.try_lock() {
            return live.remove(&id).map_or(0, |s| s.hits);
        }
        self.resume(id, 1)
    }

    fn keep(&self) -> u64 {
        let live = self.live.lock().unwrap();
        live.len() as u64 + forever()
    }

    fn sweep(&self) -> u64 {
        self.live.lock().unwrap().values().map(|s| s.hits).sum()
    }
}

fn main() {
    let way = std::env::args().nth(1).unwrap();
    let store = Arc::new(Store { live: Mutex::new(HashMap::new()) });
    for id in 0..8 {
        store.live.lock().unwrap().insert(id, Session { phase: Phase::Suspended(id), hits: id });
    }
    let start = |after: u64, work: fn(&Store) -> u64| {
        let store = store.clone();
        thread::spawn(move || {
            thread::sleep(Duration::from_millis(after));
            work(&store)
        })
    };
    let first = match way.as_str() {
        "nested" => start(0, |s| s.attach(3)),
        "apart" => start(0, |s| s.apart(3)),
        _ => start(100, |s| s.tried(3)),
    };
    if way != "nested" {
        start(if way == "apart" { 100 } else { 0 }, |s| s.keep());
    }
    start(600, |s| s.sweep());
    start(600, |s| s.sweep());
    thread::sleep(Duration::from_millis(1000));
    println!("ready");
    println!("{}", first.join().unwrap());
}
