// Dies of SIGABRT by panics that must not unwind: of functions that cannot, during another one, and of the checks that
// rustc adds to unsafe code without optimisation.
// flags: -C panic=unwind
// needs rustc 1.86
#[inline(never)] fn black_box<T>(value: T) -> T { let seen = unsafe { std::ptr::read_volatile(&value) }; std::mem::forget(value); seen }

struct Guard {
    expected: usize,
}

impl Drop for Guard {
    fn drop(&mut self) {
        assert!(self.expected == 0, "some are missing");
    }
}

#[inline(never)]
fn item(items: &[u32], i: usize) -> u32 {
    items[i] + 1
}

#[inline(never)]
fn sum(items: &[u32], from: usize) -> u32 {
    let guard = Guard { expected: black_box(2) };
    let sum = item(items, from) + item(items, from + 1);
    std::mem::forget(guard);
    sum
}

#[inline(never)]
extern "C" fn on_event(i: usize) -> u32 {
    item(&[1, 2, 3], i)
}

#[inline(never)]
fn weigh(at: *const u64) -> u64 {
    unsafe { *at + 1 } // dies: misaligned null
}

#[inline(never)]
fn pick(items: &[u32], i: usize) -> u32 {
    unsafe { *items.get_unchecked(i) + 1 } // dies: precondition
}

#[inline(never)]
fn copy(to: *mut u32, from: *const u32, count: usize) {
    unsafe { std::ptr::copy_nonoverlapping(from, to, count) } // dies: overlap
}

fn main() {
    let how = std::env::args().nth(1).unwrap_or_default();
    let mut items = black_box(vec![1u32, 2, 3, 4]);
    let answer = match how.as_str() {
        "cleanup" => sum(&items, black_box(3)),
        "callback" => on_event(black_box(9)),
        "misaligned" => weigh(black_box(0x1234_5678_9005 as *const u64)) as u32,
        "null" => weigh(black_box(std::ptr::null())) as u32,
        "precondition" => pick(&items, black_box(7)),
        "overlap" => {
            let at = items.as_mut_ptr();
            copy(at, at, black_box(2));
            items[0]
        }
        _ => 0,
    };
    println!("{}", answer);
    std::process::exit(2);
}
