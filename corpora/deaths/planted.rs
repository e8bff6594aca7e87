// Dies with secrets of its environment in what it panics with; see planted.c.
#[inline(never)] fn black_box<T>(value: T) -> T { let seen = unsafe { std::ptr::read_volatile(&value) }; std::mem::forget(value); seen } // std has one since 1.66

#[inline(never)]
fn log_in(password: &str) -> usize {
    if !password.is_empty() {
        panic!("no such password: {}", password); // dies: panic
    }
    password.len()
}

#[inline(never)]
fn parse(text: String) -> u32 {
    let answer: Result<u32, String> = Err(text);
    answer.unwrap() // dies: unwrap
}

#[inline(never)]
fn compare(got: &str) -> usize {
    assert_eq!(got, "open sesame"); // dies: equal
    got.len()
}

fn main() {
    let planted = black_box(std::env::var("PLANTED_TEXT").unwrap_or_default());
    let answer = match std::env::args().nth(1).unwrap_or_default().as_str() {
        "panic" => log_in(&planted),
        "unwrap" => parse(planted) as usize,
        "equal" => compare(&planted),
        _ => 0,
    };
    println!("{}", answer);
    std::process::exit(2);
}
