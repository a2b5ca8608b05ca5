//! The providers that are known and cannot be asked, or not in every way.

use toml::{Table, Value};

use crate::error::Error;
use crate::sources::SourceFile;

/// What is known about providers.
const CATALOGUE: &str = "crates/harn-llm/catalog/providers.toml";

/// How a provider wants to be asked, and what is missing for that.
const SIGNED: (&str, &str) = (
    "aws_sigv4",
    "signing of requests for AWS, so it cannot be asked",
);

/// What a provider takes instead of a key, and what is missing for that.
const FILE: (&str, &str) = (
    "GOOGLE_APPLICATION_CREDENTIALS",
    "signing in with the file of `GOOGLE_APPLICATION_CREDENTIALS`; a token does",
);

/// The providers that lack something, each with what that is.
///
/// # Errors
/// The catalogue cannot be read.
pub(super) fn lacking(files: &[SourceFile]) -> Result<Vec<(String, &'static str)>, Error> {
    let malformed = |why: &dyn std::fmt::Display| Error::malformed(CATALOGUE, why);
    let file = files.iter().find(|file| file.path == CATALOGUE);
    let text = file.map_or("", |file| &file.text);
    let catalogue: Table = toml::from_str(text).map_err(|why| malformed(&why))?;
    let providers = catalogue.get("providers").and_then(Value::as_table);
    let providers = providers.ok_or_else(|| malformed(&"it has no providers"))?;
    let lacking = providers.iter().filter_map(|(name, provider)| {
        let says = |key: &str, word: &str| match provider.get(key) {
            Some(Value::Array(words)) => words.iter().any(|one| one.as_str() == Some(word)),
            one => one.and_then(Value::as_str) == Some(word),
        };
        let lacks = |(word, what): (&str, &'static str), key| says(key, word).then_some(what);
        let what = lacks(SIGNED, "auth_style").or_else(|| lacks(FILE, "auth_env"))?;
        Some((name.clone(), what))
    });
    Ok(lacking.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn providers_that_lack_something_are_found() {
        let catalogue = "[providers.openai]\nauth_style = \"bearer\"\nauth_env = \"KEY\"\n\
                         [providers.bedrock]\nauth_style = \"aws_sigv4\"\n\
                         [providers.vertex]\nauth_style = \"bearer\"\n\
                         auth_env = [\"TOKEN\", \"GOOGLE_APPLICATION_CREDENTIALS\"]\n";
        let lacking = lacking(&[SourceFile::new(CATALOGUE, catalogue)]).unwrap();
        let names: Vec<(&str, &str)> = lacking
            .iter()
            .map(|(name, what)| (&**name, *what))
            .collect();
        assert_eq!(names, [("bedrock", SIGNED.1), ("vertex", FILE.1)]);
    }

    #[test]
    fn a_catalogue_that_is_gone_is_noticed() {
        assert!(lacking(&[]).is_err());
    }
}
