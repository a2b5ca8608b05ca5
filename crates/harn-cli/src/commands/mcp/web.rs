//! How servers over HTTP are reached, as the environment says.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use harn_mcp::auth::{Browser, CommandBrowser, CommandKeychain, Keychain, Vault};
use harn_mcp::fetcher::{FetchLimits, Fetcher, NamedOrigins, SystemResolver};
use harn_mcp::{Proxies, Web};
use harn_vm::agent::BoxFuture;
use url::Url;

type Variables = BTreeMap<String, String>;

/// Whether somebody may be asked to log in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Logins {
    /// As `HARN_MCP_LOGIN` says: if a person sits at a terminal, always, or never.
    AsConfigured,
    /// Somebody has asked for it.
    Wanted,
    /// Not now.
    Unwanted,
}

/// How servers over HTTP are reached.
///
/// # Errors
/// A variable that is not understood.
pub(in super::super) fn web(variables: &Variables, logins: Logins) -> Result<Web, String> {
    let get = |name: &str| {
        variables
            .get(name)
            .map(String::as_str)
            .filter(|text| !text.is_empty())
    };
    let named = NamedOrigins::parse(get("HARN_FETCH_ALLOW").unwrap_or_default());
    let named = named.map_err(|error| format!("HARN_FETCH_ALLOW: {error}"))?;
    let fetcher = Fetcher::new(Arc::new(SystemResolver), named, FetchLimits::default());
    let vault = Vault::new(keychain(variables)?, folder(variables));
    let mut web = Web::new(fetcher, vault);
    web.browser = person(variables, logins)?;
    web.client_document = get("HARN_MCP_CLIENT_METADATA_URL").map(str::to_owned);
    let either = |upper: &str, lower: &str| get(upper).or(get(lower)).map(str::to_owned);
    web.proxies = Proxies {
        http: either("HTTP_PROXY", "http_proxy"),
        https: either("HTTPS_PROXY", "https_proxy"),
        except: either("NO_PROXY", "no_proxy"),
    };
    Ok(web)
}

/// Where logins are kept that are in no keychain.
fn folder(variables: &Variables) -> Option<PathBuf> {
    let given = variables.get("XDG_CONFIG_HOME").map(PathBuf::from);
    let given = given.filter(|path| path.is_absolute());
    let home = || Some(Path::new(variables.get("HOME")?).join(".config"));
    given
        .or_else(home)
        .map(|config| config.join("harn/mcp-logins"))
}

/// The keychain of the system, unless `HARN_MCP_CREDENTIALS` is `file`.
fn keychain(variables: &Variables) -> Result<Option<Arc<dyn Keychain>>, String> {
    let wanted = variables.get("HARN_MCP_CREDENTIALS").map(String::as_str);
    let found = match wanted {
        None | Some("" | "keychain") => system_keychain(variables),
        Some("file") => return Ok(None),
        Some(other) => {
            return Err(format!(
                "HARN_MCP_CREDENTIALS is keychain or file, not `{other}`"
            ));
        }
    };
    match (found, wanted) {
        (None, Some("keychain")) => Err("HARN_MCP_CREDENTIALS: this system has no keychain \
             that can be reached with `secret-tool` or `security`"
            .to_owned()),
        (found, _) => Ok(found),
    }
}

fn system_keychain(variables: &Variables) -> Option<Arc<dyn Keychain>> {
    if cfg!(target_os = "macos") {
        return Some(Arc::new(CommandKeychain::security("/usr/bin/security")));
    }
    // Without a desktop there is nobody behind the program.
    variables.get("DBUS_SESSION_BUS_ADDRESS")?;
    let program = find(variables, "secret-tool")?;
    Some(Arc::new(CommandKeychain::secret_tool(program)))
}

/// A program of the path.
fn find(variables: &Variables, name: &str) -> Option<PathBuf> {
    let folders = variables.get("PATH")?.split(':');
    let mut places = folders
        .filter(|one| one.starts_with('/'))
        .map(|one| Path::new(one).join(name));
    places.find(|place| place.is_file())
}

fn person(variables: &Variables, logins: Logins) -> Result<Option<Arc<dyn Browser>>, String> {
    let configured = variables.get("HARN_MCP_LOGIN").map(String::as_str);
    let is_there = match (logins, configured) {
        (Logins::Unwanted, _) => false,
        (Logins::Wanted, _) | (_, Some("browser")) => true,
        (_, Some("never")) => false,
        (_, None | Some("" | "auto")) => io::stdin().is_terminal() && io::stderr().is_terminal(),
        (_, Some(other)) => {
            return Err(format!(
                "HARN_MCP_LOGIN is auto, browser or never, not `{other}`"
            ));
        }
    };
    let person = || -> Arc<dyn Browser> {
        Arc::new(Person {
            browser: browser(variables),
        })
    };
    Ok(is_there.then(person))
}

/// What shows pages here: the program of the variable, or else that of the system.
fn browser(variables: &Variables) -> Option<CommandBrowser> {
    if let Some(given) = variables
        .get("BROWSER")
        .and_then(|text| CommandBrowser::parse(text))
    {
        return Some(given);
    }
    if cfg!(target_os = "macos") {
        return CommandBrowser::parse("/usr/bin/open");
    }
    let has_screen = ["DISPLAY", "WAYLAND_DISPLAY"]
        .iter()
        .any(|name| variables.contains_key(*name));
    let program = find(variables, "xdg-open").filter(|_| has_screen)?;
    CommandBrowser::parse(program.to_str()?)
}

/// A person who is told where to go, and taken there if there is a browser.
struct Person {
    browser: Option<CommandBrowser>,
}

impl Browser for Person {
    fn open<'a>(&'a self, page: &'a Url) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async move {
            // A URL has no character that could control a terminal.
            eprintln!("To log in, open this page in a browser of this machine:\n{page}");
            let Some(browser) = &self.browser else {
                return Ok(());
            };
            if let Err(why) = browser.open(page).await {
                eprintln!("warning: no browser was opened: {why}");
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(given: &[(&str, &str)]) -> Variables {
        let given = given.iter();
        given
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[track_caller]
    fn refused(name: &str, value: &str, expected: &str) {
        let Err(why) = web(&variables(&[(name, value)]), Logins::AsConfigured) else {
            panic!("{name}={value} was accepted");
        };
        assert_eq!(why, expected);
    }

    #[test]
    fn variables_that_are_not_understood_are_told() {
        refused(
            "HARN_FETCH_ALLOW",
            "localhost",
            "HARN_FETCH_ALLOW: `localhost` is not an origin such as https://auth.example.com or \
             http://localhost:*",
        );
        refused(
            "HARN_MCP_LOGIN",
            "yes",
            "HARN_MCP_LOGIN is auto, browser or never, not `yes`",
        );
        refused(
            "HARN_MCP_CREDENTIALS",
            "env",
            "HARN_MCP_CREDENTIALS is keychain or file, not `env`",
        );
        refused(
            "HARN_MCP_CREDENTIALS",
            "keychain",
            "HARN_MCP_CREDENTIALS: this system has no keychain that can be reached with \
             `secret-tool` or `security`",
        );
    }

    #[test]
    fn logins_are_kept_with_the_configuration() {
        let home = variables(&[("HOME", "/h")]);
        assert_eq!(
            folder(&home).unwrap(),
            Path::new("/h/.config/harn/mcp-logins")
        );
        let config = variables(&[("HOME", "/h"), ("XDG_CONFIG_HOME", "/c")]);
        assert_eq!(folder(&config).unwrap(), Path::new("/c/harn/mcp-logins"));
        assert_eq!(folder(&variables(&[])), None);
    }

    #[test]
    fn nobody_is_asked_who_is_not_there() {
        let is_asked = |given: &[(&str, &str)], logins| {
            let web = web(&variables(given), logins).unwrap();
            web.browser.is_some()
        };
        assert!(is_asked(&[], Logins::Wanted));
        assert!(is_asked(
            &[("HARN_MCP_LOGIN", "browser")],
            Logins::AsConfigured
        ));
        assert!(!is_asked(
            &[("HARN_MCP_LOGIN", "never")],
            Logins::AsConfigured
        ));
        assert!(!is_asked(
            &[("HARN_MCP_LOGIN", "browser")],
            Logins::Unwanted
        ));
    }
}
