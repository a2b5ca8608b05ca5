//! Chance.
//!
//! A generator with a seed always gives the same numbers. Without one, a seed is asked of the
//! world for every call, so that a tape of the answers repeats the run.

use std::cell::RefCell;
use std::rc::Rc;

use harn_machine::value::Foreign;
use harn_machine::{Answer, Context, Failure, Fault, Registry, Request, Value, argument, take};

pub(crate) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("random", random),
        ("random_choice", random_choice),
        ("random_int", random_int),
        ("random_shuffle", random_shuffle),
        ("rng_seed", rng_seed),
    ]);
}

fn rng_seed(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let Value::Int(seed) = argument(arguments, 0) else {
        return Err(Fault::type_error("rng_seed(seed): seed must be an integer"));
    };
    let generator = RefCell::new(Random::seeded(seed.cast_unsigned()));
    let rng = Foreign::new("rng", "<rng>".to_owned(), Box::new(generator));
    Ok(Value::Foreign(Rc::new(rng)))
}

fn random(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let (number, _) = draw(context, arguments, Random::unit);
    Ok(Value::Float(number))
}

fn random_int(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let first = usize::from(given(arguments).is_some());
    let bound = |at: usize, name: &str| match argument(arguments, at) {
        Value::Int(number) => Ok(*number),
        _ => Err(Fault::type_error(format!(
            "random_int: {name} must be an integer"
        ))),
    };
    let (min, max) = (bound(first, "min")?, bound(first + 1, "max")?);
    if min > max {
        return Ok(Value::Nil);
    }
    let (number, _) = draw(context, arguments, |random| random.between(min, max));
    Ok(Value::Int(number))
}

fn random_choice(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let first = usize::from(given(arguments).is_some());
    let count = match argument(arguments, first) {
        Value::List(items) if !items.is_empty() => items.len(),
        _ => return Ok(Value::Nil),
    };
    let (at, first) = draw(context, arguments, |random| random.below(count));
    match argument(arguments, first) {
        Value::List(items) => Ok(items[at].clone()),
        _ => Ok(Value::Nil),
    }
}

fn random_shuffle(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let first = usize::from(given(arguments).is_some());
    let Value::List(mut items) = take(arguments, first) else {
        return Ok(Value::Nil);
    };
    draw(context, arguments, |random| {
        random.shuffle(items.items_mut())
    });
    Ok(Value::List(items))
}

/// The generator that was passed as the first argument.
fn given(arguments: &[Value]) -> Option<&RefCell<Random>> {
    match argument(arguments, 0) {
        Value::Foreign(foreign) => foreign.content.downcast_ref(),
        _ => None,
    }
}

/// Draws from the generator that was passed, or else from a fresh one. Also gives how many
/// arguments the generator takes.
fn draw<T>(
    context: &mut Context<'_>,
    arguments: &[Value],
    drawn: impl FnOnce(&mut Random) -> T,
) -> (T, usize) {
    match given(arguments) {
        Some(generator) => (drawn(&mut generator.borrow_mut()), 1),
        None => (drawn(&mut Random::fresh(context)), 0),
    }
}

/// So many random octets.
pub(crate) fn octets<const COUNT: usize>(context: &mut Context<'_>) -> [u8; COUNT] {
    let mut octets = [0; COUNT];
    if let Answer::Octets(given) = context.perform(&Request::Random(COUNT)) {
        let count = given.len().min(COUNT);
        octets[..count].copy_from_slice(&given[..count]);
    }
    octets
}

/// A generator of random numbers: xoshiro256++ by Blackman and Vigna.
#[derive(Debug)]
pub(crate) struct Random([u64; 4]);

impl Random {
    /// The generator of a seed.
    fn seeded(seed: u64) -> Self {
        // SplitMix64, as the authors advise: it never gives four zeros in a row.
        let mut state = seed;
        Self(std::array::from_fn(|_| {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut mixed = state;
            mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            mixed ^ (mixed >> 31)
        }))
    }

    /// A generator that nobody can foresee.
    pub(crate) fn fresh(context: &mut Context<'_>) -> Self {
        Self::seeded(u64::from_le_bytes(octets(context)))
    }

    fn next(&mut self) -> u64 {
        let Self(state) = self;
        let drawn = state[0].wrapping_add(state[3]).rotate_left(23);
        let drawn = drawn.wrapping_add(state[0]);
        let shifted = state[1] << 17;
        state[2] ^= state[0];
        state[3] ^= state[1];
        state[1] ^= state[2];
        state[0] ^= state[3];
        state[2] ^= shifted;
        state[3] = state[3].rotate_left(45);
        drawn
    }

    /// A float from 0 up to but without 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// An int from `min` to `max`, both included; `min` is not larger.
    fn between(&mut self, min: i64, max: i64) -> i64 {
        let span = max.wrapping_sub(min).cast_unsigned();
        let offset = match span.checked_add(1) {
            Some(count) => self.below_u64(count),
            None => self.next(),
        };
        min.wrapping_add(offset.cast_signed())
    }

    /// A position below a count that is not 0.
    fn below(&mut self, count: usize) -> usize {
        self.below_u64(count as u64) as usize
    }

    /// A number below another, each equally likely: what does not divide evenly is drawn again.
    fn below_u64(&mut self, count: u64) -> u64 {
        let uneven = u64::MAX - u64::MAX % count;
        loop {
            let drawn = self.next();
            if drawn < uneven {
                return drawn % count;
            }
        }
    }

    fn shuffle(&mut self, items: &mut [Value]) {
        for at in (1..items.len()).rev() {
            items.swap(at, self.below(at + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let draw = |seed| {
            let mut random = Random::seeded(seed);
            [(); 4].map(|()| random.next())
        };
        assert_eq!(draw(42), draw(42));
        assert_ne!(draw(42), draw(43));
    }

    #[test]
    fn numbers_stay_within_their_bounds_and_reach_them() {
        let mut random = Random::seeded(1);
        let mut seen = [false; 5];
        for _ in 0..1000 {
            let number = random.between(-2, 2);
            seen[usize::try_from(number + 2).expect("it is at least -2")] = true;
            assert!((0.0..1.0).contains(&random.unit()));
            assert_eq!(random.between(i64::MAX, i64::MAX), i64::MAX);
            random.between(i64::MIN, i64::MAX);
        }
        assert_eq!(seen, [true; 5]);
    }

    #[test]
    fn a_shuffle_keeps_every_item() {
        let mut items: Vec<Value> = (0..50).map(Value::Int).collect();
        Random::seeded(7).shuffle(&mut items);
        let mut numbers: Vec<i64> = Vec::new();
        for item in &items {
            if let Value::Int(number) = item {
                numbers.push(*number);
            }
        }
        assert!(!numbers.is_sorted());
        numbers.sort_unstable();
        assert!(numbers.into_iter().eq(0..50));
    }
}
