//! Compression.
//!
//! A few octets can stand for very many, so what is undone has a bound: that of
//! [`OUTPUT_BYTES_MAX`], and before that the memory that the program may have.

use std::io::{Cursor, Read};

use brotli::enc::BrotliEncoderParams;
use flate2::Compression;
use flate2::bufread::{GzEncoder, MultiGzDecoder};
use harn_machine::value::Bytes;
use harn_machine::{Context, Failure, Fault, Registry, Value};

use super::arguments::{bytes, data};

/// How much may come out of what is compressed. Whoever sends more either means harm or should
/// not be read into memory.
pub(super) const OUTPUT_BYTES_MAX: usize = 256 << 20;

/// How much is undone before the bound is looked at again.
const CHUNK: usize = 64 << 10;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("brotli_decode", brotli_decode),
        ("brotli_encode", brotli_encode),
        ("gzip_decode", gzip_decode),
        ("gzip_encode", gzip_encode),
        ("zstd_decode", zstd_decode),
        ("zstd_encode", zstd_encode),
    ]);
}

fn gzip_encode(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let data = data("gzip_encode", arguments, 1)?;
    let level = level("gzip_encode", arguments, "level", 6, 0, 9)?;
    let mut out = Vec::new();
    let mut encoder = GzEncoder::new(&*data, Compression::new(level.unsigned_abs()));
    finished("gzip_encode", encoder.read_to_end(&mut out), out)
}

fn gzip_decode(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let data = bytes("gzip_decode", arguments, 1)?;
    undone(context, "gzip_decode", MultiGzDecoder::new(&*data))
}

fn zstd_encode(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let data = data("zstd_encode", arguments, 1)?;
    let levels = zstd::compression_level_range();
    let (first, last) = (*levels.start(), *levels.end());
    let level = level("zstd_encode", arguments, "level", 3, first, last)?;
    let mut out = Vec::new();
    let done = zstd::stream::copy_encode(&*data, &mut out, level);
    finished("zstd_encode", done, out)
}

fn zstd_decode(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let data = bytes("zstd_decode", arguments, 1)?;
    match zstd::stream::read::Decoder::with_buffer(&*data) {
        Ok(decoder) => undone(context, "zstd_decode", decoder),
        Err(error) => Err(Fault::runtime(format!("zstd_decode: {error}"))),
    }
}

fn brotli_encode(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let data = data("brotli_encode", arguments, 1)?;
    let params = BrotliEncoderParams {
        quality: level("brotli_encode", arguments, "quality", 11, 0, 11)?,
        size_hint: data.len(),
        ..BrotliEncoderParams::default()
    };
    let mut out = Vec::new();
    let done = brotli::BrotliCompress(&mut Cursor::new(&*data), &mut out, &params);
    finished("brotli_encode", done, out)
}

fn brotli_decode(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let data = bytes("brotli_decode", arguments, 1)?;
    let decoder = brotli::Decompressor::new(&*data, CHUNK);
    undone(context, "brotli_decode", decoder)
}

/// How hard to try, which is the second argument.
fn level(
    function: &str,
    arguments: &[Value],
    name: &str,
    usual: i32,
    first: i32,
    last: i32,
) -> Result<i32, Failure> {
    let problem = match arguments.get(1) {
        None | Some(Value::Nil) => return Ok(usual),
        Some(Value::Int(level)) => match i32::try_from(*level) {
            Ok(level) if (first..=last).contains(&level) => return Ok(level),
            _ => format!("{name} must be between {first} and {last}"),
        },
        Some(other) => format!("{name} must be an int, got {}", other.type_name()),
    };
    Err(Fault::runtime(format!("{function}: {problem}")))
}

fn finished<T>(function: &str, done: std::io::Result<T>, out: Vec<u8>) -> Result<Value, Failure> {
    match done {
        Ok(_) => Ok(Value::Bytes(Bytes::from(out))),
        Err(error) => Err(Fault::runtime(format!("{function}: {error}"))),
    }
}

fn undone(
    context: &mut Context<'_>,
    function: &str,
    mut reader: impl Read,
) -> Result<Value, Failure> {
    let out = read_bounded(context, &mut reader, OUTPUT_BYTES_MAX)?;
    match out {
        Ok(out) => Ok(Value::Bytes(Bytes::from(out))),
        Err(reason) => Err(Fault::runtime(format!("{function}: {reason}"))),
    }
}

/// All that a reader gives, or why it does not.
pub(super) fn read_bounded(
    context: &mut Context<'_>,
    reader: &mut impl Read,
    max: usize,
) -> Result<Result<Vec<u8>, String>, Failure> {
    collect(reader, max, |bytes| context.reserve(bytes))
}

/// The same; memory is asked for before it is taken.
fn collect(
    reader: &mut impl Read,
    max: usize,
    mut reserve: impl FnMut(usize) -> Result<(), Failure>,
) -> Result<Result<Vec<u8>, String>, Failure> {
    let mut out: Vec<u8> = Vec::new();
    loop {
        if out.capacity() - out.len() < CHUNK {
            let doubled = out.capacity().saturating_mul(2).min(max);
            let room = doubled.max(out.len()) + CHUNK;
            reserve(room)?;
            if out.try_reserve_exact(room - out.len()).is_err() {
                return Ok(Err(format!("no memory for {room} bytes")));
            }
        }
        match reader.by_ref().take(CHUNK as u64).read_to_end(&mut out) {
            Ok(0) => {
                out.shrink_to_fit();
                return Ok(Ok(out));
            }
            Ok(_) if out.len() > max => {
                let limit = OUTPUT_BYTES_MAX;
                return Ok(Err(format!("output is larger than {limit} bytes")));
            }
            Ok(_) => {}
            Err(error) => return Ok(Err(error.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_out_has_a_bound() {
        let max = 5 * CHUNK;
        let mut asked = 0;
        let endless = collect(&mut std::io::repeat(0), max, |bytes| {
            asked = asked.max(bytes);
            Ok(())
        });
        let reason = endless
            .expect("memory is granted")
            .expect_err("it never ends");
        assert_eq!(reason, "output is larger than 268435456 bytes");
        assert!(asked <= max + CHUNK, "{asked}");
    }

    #[test]
    fn as_much_as_is_allowed_comes_out_whole() {
        for length in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 5 * CHUNK] {
            let mut reader = std::io::repeat(7).take(length as u64);
            let out = collect(&mut reader, 5 * CHUNK, |_| Ok(()));
            let out = out.expect("memory is granted").expect("it fits");
            assert_eq!((out.len(), out.capacity()), (length, length));
        }
    }

    #[test]
    fn memory_that_is_refused_is_not_taken() {
        let refused = collect(&mut std::io::repeat(0), 1 << 40, |bytes| match bytes {
            0..1_000_000 => Ok(()),
            _ => Err(Fault::stopped("Memory limit exceeded")),
        });
        assert!(!refused.expect_err("it is refused").is_catchable());
    }
}
