//! The token of a listener that has no keys: made when it opens, kept for its person, and gone
//! when it ends.
//!
//! Programs of other users reach a loopback address as well as our own do, so an address is no
//! credential. The token stands in a file that only its owner can read, and in the address that
//! the operator is shown once.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::net::SocketAddr;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use ring::rand::{SecureRandom, SystemRandom};

use crate::secret::{Secret, hex};

/// The name of the part of an address that holds a token.
pub(crate) const TOKEN_PARAMETER: &str = "token";

const TOKEN_BYTES: usize = 32;

/// A new token: 256 bits as hexadecimal digits.
pub(crate) fn new_token() -> Option<Secret> {
    let mut bytes = [0; TOKEN_BYTES];
    SystemRandom::new().fill(&mut bytes).ok()?;
    Some(Secret::new(hex(&bytes)))
}

/// The file that holds the token of a listener. It is removed with the listener: the token is
/// worth nothing then.
#[derive(Debug)]
pub(crate) struct TokenFile(PathBuf);

impl TokenFile {
    /// Writes the token of the listener at an address.
    ///
    /// # Errors
    /// The folder cannot be made or the file not be written.
    pub(crate) fn write(folder: &Path, address: SocketAddr, token: &Secret) -> io::Result<Self> {
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o700).create(folder)?;
        let path = folder.join(format!("{address}.token"));
        // What an earlier listener has left there may belong to others, or be a link to
        // something else: it is replaced, and never written to.
        if let Err(error) = fs::remove_file(&path)
            && error.kind() != io::ErrorKind::NotFound
        {
            return Err(error);
        }
        let mut options = OpenOptions::new();
        let mut file = options
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)?;
        let written = Self(path);
        file.write_all(token.bytes())?;
        file.write_all(b"\n")?;
        Ok(written)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TokenFile {
    fn drop(&mut self) {
        // Somebody may have removed it already.
        let _ = fs::remove_file(&self.0);
    }
}

/// What a query says the token is, and the query without it.
pub(crate) fn split_query(query: &str) -> Option<(&str, String)> {
    let is_token = |part: &str| part.split('=').next() == Some(TOKEN_PARAMETER);
    let token = query.split('&').find(|part| is_token(part))?;
    let rest: Vec<&str> = query.split('&').filter(|part| !is_token(part)).collect();
    let value = token.split_once('=').map_or("", |(_, value)| value);
    Some((value, rest.join("&")))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_token_has_256_bits_and_is_never_the_same() {
        let (one, other) = (new_token().unwrap(), new_token().unwrap());
        assert_eq!(one.len(), 64);
        assert!(!one.is(other.bytes()));
    }

    #[test]
    fn only_its_owner_reads_the_file_and_it_goes_with_the_listener() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("state/listeners");
        let address = "127.0.0.1:7331".parse().unwrap();
        let file = TokenFile::write(&folder, address, &Secret::new("abc")).unwrap();
        let path = folder.join("127.0.0.1:7331.token");
        assert_eq!(file.path(), path);
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&folder), mode(&path)), (0o700, 0o600));
        assert_eq!(fs::read_to_string(&path).unwrap(), "abc\n");
        drop(file);
        assert!(!path.exists());
    }

    #[test]
    fn a_link_that_lies_in_the_way_is_not_followed() {
        let scratch = tempfile::tempdir().unwrap();
        let other = scratch.path().join("other");
        fs::write(&other, "untouched").unwrap();
        let path = scratch.path().join("[::1]:7.token");
        std::os::unix::fs::symlink(&other, &path).unwrap();
        let address = "[::1]:7".parse().unwrap();
        let _file = TokenFile::write(scratch.path(), address, &Secret::new("abc")).unwrap();
        assert_eq!(fs::read_to_string(&other).unwrap(), "untouched");
        assert_eq!(fs::read_to_string(&path).unwrap(), "abc\n");
    }

    #[test]
    fn a_token_is_taken_out_of_a_query() {
        let split = |query| split_query(query).map(|(token, rest)| (token.to_owned(), rest));
        let some = |token: &str, rest: &str| Some((token.to_owned(), rest.to_owned()));
        assert_eq!(split("token=a"), some("a", ""));
        assert_eq!(split("x=1&token=a&y=2"), some("a", "x=1&y=2"));
        assert_eq!(split("token=a&token=b"), some("a", ""));
        assert_eq!(split("token"), some("", ""));
        assert_eq!(split("tokens=a&x=token"), None);
    }
}
