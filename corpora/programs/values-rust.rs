// Dies of SIGSEGV below functions whose arguments and locals are what Rust has and C has not: enums with data in all
// the layouts that rustc chooses, tuples, references, slices, trait objects, closures.
// No crate is needed, so that a bare rustc builds it.
#![allow(dead_code, unused_variables)]

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::num::NonZeroU32;
use std::rc::Rc;
use std::sync::Arc;

#[derive(Clone, Copy)]
enum Plain {
    Red,
    Green = 5,
    Blue,
}

#[derive(Clone, Copy)]
#[repr(i8)]
enum Signed {
    Minus = -3,
    Zero = 0,
    Plus = 3,
}

#[derive(Clone, Copy)]
#[repr(u64)]
enum Wide {
    Small = 1,
    Big = 0xffff_ffff_ffff_fff0,
}

// One variant: no discriminant at all.
enum Single {
    Only(u32),
}

enum Shape {
    Empty,
    Circle { radius: f64 },
    Square(i32),
    Pair(u8, u64),
}

// A discriminant of a type of its own.
#[repr(u16)]
enum Tagged {
    A(u8),
    B { x: i64 },
    C,
}

// The niche of the inner enum's discriminant holds the outer ones.
enum Outer {
    Inside(Shape),
    Nothing,
    Other,
}

// Many variants beside one that has data: their discriminants are a range of the niche.
enum Niche {
    Holds(bool, u32),
    B,
    C,
    D,
    E,
}

// 128-bit discriminants of niches in wide integers are rustc's own; plain ones it refuses.
struct Unit;
struct Tuple(i32, &'static str);
struct Generic<T, const N: usize> {
    items: [T; N],
    len: usize,
}

#[repr(C)]
union Bits {
    int: u32,
    float: f32,
}

trait Area {
    fn area(&self) -> f64;
}
impl Area for Shape {
    #[inline(never)]
    fn area(&self) -> f64 {
        match self {
            Shape::Empty => 0.0,
            Shape::Circle { radius } => radius * radius * 3.0,
            Shape::Square(side) => f64::from(*side),
            Shape::Pair(a, b) => f64::from(*a) + *b as f64,
        }
    }
}

#[inline(never)]
fn crash() {
    unsafe { std::ptr::null_mut::<i32>().wrapping_add(2).write_volatile(1) }
}

fn keep<T>(_: &T) {
    unsafe { std::arch::asm!("", options(nostack, preserves_flags)) }
}

#[inline(never)]
fn enums(plain: Plain, signed: Signed, wide: Wide) {
    let single = Single::Only(77);
    let (empty, circle, square, pair) =
        (Shape::Empty, Shape::Circle { radius: 2.5 }, Shape::Square(-4), Shape::Pair(9, 1 << 40));
    let (tag_a, tag_b, tag_c) = (Tagged::A(1), Tagged::B { x: -2 }, Tagged::C);
    let (inside, nothing, other) = (Outer::Inside(Shape::Square(8)), Outer::Nothing, Outer::Other);
    let (holds, niche_b, niche_e) = (Niche::Holds(true, 3), Niche::B, Niche::E);
    let array = [Niche::C, Niche::Holds(false, 4), Niche::D];
    crash();
    keep(&(&single, &empty, &circle, &square, &pair, &tag_a, &tag_b, &tag_c));
    keep(&(&inside, &nothing, &other, &holds, &niche_b, &niche_e, &array));
}

#[inline(never)]
fn options(none: Option<i32>, some: Option<i32>) {
    let value = 42;
    let reference: Option<&i32> = Some(&value);
    let null: Option<&i32> = None;
    let boxed: Option<Box<i32>> = Some(Box::new(7));
    let unboxed: Option<Box<i32>> = None;
    let nonzero = NonZeroU32::new(5);
    let zero = NonZeroU32::new(0);
    let nested: Option<Option<bool>> = Some(None);
    let deep: Option<Option<Option<bool>>> = Some(Some(Some(true)));
    let good: Result<u8, String> = Ok(3);
    let bad: Result<u8, String> = Err(String::from("broken"));
    let text: Option<&str> = Some("hello");
    let no_text: Option<&str> = None;
    let letter: Option<char> = Some('x');
    let no_letter: Option<char> = None;
    let ordering = std::cmp::Ordering::Less;
    enums(Plain::Blue, Signed::Minus, Wide::Big);
    keep(&(&reference, &null, &boxed, &unboxed, &nonzero, &zero, &nested, &deep));
    keep(&(&good, &bad, &text, &no_text, &letter, &no_letter, &ordering, &none, &some));
}

#[inline(never)]
fn structs(unit: Unit, tuple: Tuple, generic: Generic<u16, 3>) {
    let pair = (1u8, -2i64);
    let nested = ((1, 2), [3.5f32, 4.5]);
    let nothing = ();
    let bits = Bits { int: 0x3f80_0000 };
    let (yes, letter, wide, unsigned) = (true, 'ß', i128::MIN, u128::MAX);
    let (short, long) = (1.5f32, -0.1f64);
    let address: *const i32 = &nested.0 .0;
    let function: fn(Option<i32>, Option<i32>) = options;
    let closure = |x: i64| x + pair.1;
    let sum = closure(3);
    options(None, Some(-7));
    keep(&(&unit, &tuple, &generic, &pair, &nested, &nothing, &bits));
    keep(&(&yes, &letter, &wide, &unsigned, &short, &long, &address, &function, &closure, &sum));
}

#[inline(never)]
fn library(text: &str, slice: &[u16], object: &dyn Area, owned: Box<dyn Area>) {
    let string = String::from("owned text");
    let vector = vec![1u32, 2, 3];
    let empty: Vec<u64> = Vec::new();
    let shared = Rc::new(5u8);
    let weak = Rc::downgrade(&shared);
    let atomic = Arc::new(String::from("arc"));
    let cell = Cell::new(9);
    let guarded = RefCell::new(vec![4u8, 5]);
    let mut map = HashMap::new();
    map.insert("one", 1);
    structs(Unit, Tuple(-1, "tuple"), Generic { items: [1, 2, 3], len: 3 });
    keep(&(&string, &vector, &empty, &shared, &weak, &atomic, &cell, &guarded, &map, &text, &slice, &object, &owned));
}

fn main() {
    let shape = Shape::Circle { radius: 1.0 };
    library("a text", &[7, 8, 9], &shape, Box::new(Shape::Square(6)));
}
