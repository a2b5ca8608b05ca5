//! Numbers and chance.

use super::table::builtins;

builtins! {
    "abs(number: int | float) -> int | float | nil" [] Pure "Gives a number without its sign.";
    "acos(number: int | float) -> float" [float] Pure "Gives the arc cosine.";
    "asin(number: int | float) -> float" [float] Pure "Gives the arc sine.";
    "atan(number: int | float) -> float" [float] Pure "Gives the arc tangent.";
    "atan2(y: int | float, x: int | float) -> float" [float] Pure "Gives the angle of a point.";
    "ceil(number: int | float) -> int | nil" [] Pure "Rounds up.";
    "cos(number: int | float) -> float" [float] Pure "Gives the cosine.";
    "e: float" [float] Pure "The base of natural logarithms.";
    "exp(number: int | float) -> float" [float] Pure "Raises `e` to a power.";
    "floor(number: int | float) -> int | nil" [] Pure "Rounds down.";
    "is_infinite(value: any) -> bool" [bool] Pure "Tells whether a value is an infinite float.";
    "is_nan(value: any) -> bool" [bool] Pure "Tells whether a value is the float that is no number.";
    "ln(number: int | float) -> float" [float] Pure "Gives the natural logarithm.";
    "log10(number: int | float) -> float" [float] Pure "Gives the logarithm to the base 10.";
    "log2(number: int | float) -> float" [float] Pure "Gives the logarithm to the base 2.";
    "max(a: int | float, b: int | float) -> int | float | nil" [] Pure "Gives the larger of two numbers.";
    "mean(items: list) -> float" [float] Pure "Gives the average of numbers.";
    "median(items: list) -> float" [float] Pure "Gives the middle of numbers.";
    "min(a: int | float, b: int | float) -> int | float | nil" [] Pure "Gives the smaller of two numbers.";
    "percentile(items: list, percent: int | float) -> float" [float] Pure "Gives the number below which a share of numbers lies.";
    "pi: float" [float] Pure "The ratio of a circle's circumference to its diameter.";
    "pow(base: int | float, exponent: int | float) -> int | float | nil" [] Pure "Raises a number to a power.";
    "random(generator: rng | nil = nil) -> float" [float] Random "Gives a random float from 0 up to but without 1.";
    "random_choice(first: rng | list, second: list | nil = nil) -> any" [] Random "Picks an item of a list, perhaps by a given generator.";
    "random_int(first: rng | int, second: int, third: int | nil = nil) -> int | nil" [] Random "Gives a random int between two bounds, which may be drawn from a given generator.";
    "random_shuffle(first: rng | list, second: list | nil = nil) -> list" [list] Random "Shuffles a list, perhaps by a given generator.";
    "range(first: int, second: int | nil = nil) -> range" [list] Pure "Counts from 0, or from the first int, up to but without the last.";
    "rng_seed(seed: int) -> rng" [] Random "Makes a generator of random numbers that always gives the same ones.";
    "round(number: int | float) -> int | nil" [] Pure "Rounds to the nearest int, halves away from zero.";
    "sign(number: int | float) -> int" [int] Pure "Gives -1, 0 or 1.";
    "sin(number: int | float) -> float" [float] Pure "Gives the sine.";
    "sqrt(number: int | float) -> float | nil" [] Pure "Gives the square root.";
    "stddev(items: list, sample: bool = false) -> float" [float] Pure "Gives the standard deviation of numbers.";
    "tan(number: int | float) -> float" [float] Pure "Gives the tangent.";
    "variance(items: list, sample: bool = false) -> float" [float] Pure "Gives the variance of numbers.";
}
