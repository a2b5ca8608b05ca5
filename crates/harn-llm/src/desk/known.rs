//! What is configured about models: read from files, checked, and kept apart from who asks.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::Secret;
use crate::catalog::introspect::{Catalog, is_sensitive};
use crate::catalog::{Capabilities, Config, ProjectTrust, Source};
use crate::tape::Redaction;

/// What is shorter cannot be a key, and would be found in innocent text.
const KEY_BYTES_MIN: usize = 6;

/// What is configured about models. It cannot be printed for debugging: people write keys into
/// headers.
#[derive(Clone)]
pub struct KnownModels {
    /// Providers, aliases and models.
    pub config: Config,
    /// What models can do.
    pub capabilities: Capabilities,
}

impl KnownModels {
    /// Reads the provider file that the environment names, the manifest of a project, and the
    /// safety files, which alone can send keys elsewhere than to their providers. The manifest
    /// of a project that is not trusted cannot say where models are asked.
    ///
    /// # Errors
    /// A file cannot be read or understood; says which, and where the mistake is.
    pub fn read(
        manifest: Option<&Path>,
        trust: ProjectTrust,
        environment: &BTreeMap<String, String>,
    ) -> Result<Self, String> {
        let is_named = environment.contains_key("HARN_PROVIDERS_CONFIG");
        let providers = match Config::provider_file(environment) {
            Some(path) => read(Path::new(&path), is_named)?,
            None => None,
        };
        let manifest = match manifest {
            Some(path) => read(path, true)?,
            None => None,
        };
        let providers = providers.as_ref().map(source);
        let manifest = manifest.as_ref().map(source);
        let models = match (manifest, trust) {
            (Some(manifest), ProjectTrust::Untrusted) => {
                let is_left_out = Config::names_providers(manifest).map_err(String::from)?;
                (!is_left_out).then_some(manifest)
            }
            (manifest, ProjectTrust::Trusted) | (manifest @ None, _) => manifest,
        };
        let mut config = Config::load(providers, models).map_err(String::from)?;
        for path in Config::safety_files(environment) {
            let file = read(Path::new(&path), false)?;
            let read = file.iter().map(source);
            let mut read = read.map(|file| config.audiences.read(file));
            read.try_for_each(|read| read).map_err(String::from)?;
        }
        let capabilities = Capabilities::load(manifest).map_err(String::from)?;
        Ok(Self {
            config,
            capabilities,
        })
    }

    /// What can be told about it.
    pub fn catalog<'a>(&'a self, environment: &'a BTreeMap<String, String>) -> Catalog<'a> {
        Catalog {
            config: &self.config,
            capabilities: &self.capabilities,
            environment,
        }
    }

    /// Takes out every key that the environment or the configuration holds.
    pub fn redaction(&self, environment: &BTreeMap<String, String>) -> Redaction {
        let secrets = self.secrets(environment);
        secrets.fold(Redaction::none(), |redaction, (_, secret)| {
            redaction.with_secret(&Secret::new(secret))
        })
    }

    /// Every key that the environment or the configuration holds, with the name of its variable
    /// or header.
    pub fn secrets<'a>(
        &'a self,
        environment: &'a BTreeMap<String, String>,
    ) -> impl Iterator<Item = (&'a str, &'a str)> {
        let providers = || self.config.providers.values();
        let variables = providers().flat_map(|entry| entry.auth_env.items());
        let keys = variables.filter_map(|name| Some((&**name, &**environment.get(name)?)));
        let headers = providers().flat_map(|entry| &entry.extra_headers);
        let headers = headers.filter(|(name, _)| is_sensitive(name));
        let headers = headers.map(|(name, value)| (&**name, &**value));
        let secrets = keys.chain(headers);
        let secrets = secrets.map(|(name, secret)| (name, secret.trim()));
        secrets.filter(|(_, secret)| secret.len() >= KEY_BYTES_MIN)
    }
}

fn source((path, text): &(String, String)) -> Source<'_> {
    Source { path, text }
}

/// A file's path and text; `None` if it is not there and need not be.
fn read(path: &Path, must_exist: bool) -> Result<Option<(String, String)>, String> {
    let name = path.display().to_string();
    // A pipe would make us wait.
    if fs::metadata(path).is_ok_and(|facts| !facts.is_file()) {
        return Err(format!("{name}: it is not a file"));
    }
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some((name, text))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !must_exist => Ok(None),
        Err(error) => Err(format!("{name}: {error}")),
    }
}
