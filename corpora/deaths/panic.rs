// Dies of SIGABRT because it panics (panic=abort), or of what unsafe code and the system bring about.
use std::cell::RefCell;
use std::collections::HashMap;
#[inline(never)] fn black_box<T>(value: T) -> T { let seen = unsafe { std::ptr::read_volatile(&value) }; std::mem::forget(value); seen } // std has one since 1.66

struct Queue {
    head: usize,
    items: Vec<u32>,
    next: Option<Box<Queue>>,
}

#[inline(never)]
fn next_head(queue: &Queue) -> usize {
    queue.next.as_ref().unwrap().head + 1 // dies: unwrap
}

#[inline(never)]
fn expect_head(queue: &Queue) -> usize {
    queue.next.as_ref().expect("a queue has a successor").head + 1 // dies: expect
}

#[inline(never)]
fn item(queue: &Queue, i: usize) -> u32 {
    queue.items[i] + 1 // dies: index
}

#[inline(never)]
fn part(queue: &Queue, from: usize) -> &[u32] {
    &queue.items[from..2] // dies: slice
}

#[inline(never)]
fn ratio(sum: u32, count: u32) -> u32 {
    sum / count // dies: divide
}

#[inline(never)]
fn add(a: u32, b: u32) -> u32 {
    a + b // dies: overflow
}

#[inline(never)]
fn parse(text: &str) -> u32 {
    text.parse::<u32>().unwrap() // dies: result
}

#[inline(never)]
fn give_up(state: u32) -> u32 {
    panic!("state {} cannot be", state) // dies: explicit
}

#[inline(never)]
fn never(state: u32) -> u32 {
    match state {
        1 => 2,
        _ => unreachable!("no such state"), // dies: unreachable
    }
}

#[inline(never)]
fn check(queue: &Queue) -> usize {
    assert!(queue.head < queue.items.len(), "the head is past the end"); // dies: assert
    queue.head
}

#[inline(never)]
fn check_equal(queue: &Queue) -> usize {
    assert_eq!(queue.head, 3); // dies: assert-eq
    queue.head
}

#[inline(never)]
fn borrow_twice(cell: &RefCell<u32>) -> u32 {
    let first = cell.borrow_mut();
    let second = cell.borrow_mut(); // dies: borrow
    *first + *second
}

#[inline(never)]
fn look_up(map: &HashMap<String, u32>, key: &str) -> u32 {
    map[key] + 1 // dies: map
}

#[inline(never)]
fn abort_now(code: u32) -> u32 {
    if black_box(code) > 0 {
        std::process::abort(); // dies: abort
    }
    code
}

#[inline(never)]
fn reserve(count: usize) -> Vec<u8> {
    let mut bytes: Vec<u8> = Vec::new();
    bytes.reserve_exact(count); // dies: oom
    bytes.push(1);
    bytes
}

#[inline(never)]
fn descend(depth: u64) -> u64 {
    let room = black_box([depth; 8]);
    if depth == 0 {
        return 1;
    }
    descend(depth + 1) + black_box(room)[3]
}

struct Link {
    text: String,
    next: Option<Box<Link>>,
}

fn long_list(length: usize) -> Option<Box<Link>> {
    let mut list = None;
    for i in 0..length {
        list = Some(Box::new(Link { text: i.to_string(), next: list }));
    }
    list
}

// A list is dropped link by link, each within the one before.
#[inline(never)]
fn forget(list: Option<Box<Link>>) -> usize {
    let length = list.as_ref().map_or(0, |link| link.text.len());
    drop(list);
    length
}

#[inline(never)]
fn store(at: *mut u32) {
    unsafe {
        at.write_volatile(5); // dies: wild
    }
}

fn main() {
    let how = std::env::args().nth(1).unwrap_or_default();
    let queue = black_box(Queue { head: 7, items: vec![1, 2, 3], next: None });
    let answer = match how.as_str() {
        "unwrap" => next_head(&queue) as u32,
        "expect" => expect_head(&queue) as u32,
        "index" => item(&queue, black_box(9)),
        "slice" => part(&queue, black_box(3)).len() as u32,
        "divide" => ratio(5, black_box(0)),
        "overflow" => add(black_box(u32::MAX), 2),
        "result" => parse(black_box("twelve")),
        "explicit" => give_up(black_box(4)),
        "unreachable" => never(black_box(4)),
        "assert" => check(&queue) as u32,
        "assert-eq" => check_equal(&queue) as u32,
        "borrow" => borrow_twice(&black_box(RefCell::new(1))),
        "map" => look_up(&black_box(HashMap::new()), "key"),
        "abort" => abort_now(3),
        "oom" => reserve(black_box(1usize << 50)).len() as u32,
        "overflow-list" => {
            let small = std::thread::Builder::new().stack_size(256 * 1024);
            small.spawn(|| forget(long_list(black_box(20_000)))).unwrap().join().unwrap() as u32
        }
        "overflow-stack" => {
            let small = std::thread::Builder::new().stack_size(256 * 1024);
            small.spawn(|| descend(black_box(1))).unwrap().join().unwrap() as u32
        }
        "wild" => {
            store(black_box(0x1234_5678_9000 as *mut u32));
            1
        }
        "thread" => {
            let worker = std::thread::spawn(|| give_up(black_box(8)));
            worker.join().unwrap()
        }
        _ => 0,
    };
    println!("{}", answer);
    std::process::exit(2);
}
