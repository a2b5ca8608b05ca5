//! What a signature says about a builtin, read while compiling.

/// The name a signature begins with.
pub(super) const fn name(signature: &'static str) -> &'static str {
    signature.split_at(name_length(signature)).0
}

/// How many type parameters a signature declares.
pub(super) const fn type_parameters(signature: &str) -> usize {
    let bytes = signature.as_bytes();
    let mut at = name_length(signature);
    if bytes[at] != b'<' {
        return 0;
    }
    let mut count = 1;
    while bytes[at] != b'>' {
        if bytes[at] == b',' {
            count += 1;
        }
        at += 1;
    }
    count
}

const fn name_length(signature: &str) -> usize {
    let bytes = signature.as_bytes();
    let mut at = 0;
    while !matches!(bytes[at], b'(' | b'<' | b':') {
        at += 1;
    }
    at
}
