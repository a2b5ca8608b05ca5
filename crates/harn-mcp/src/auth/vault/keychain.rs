//! The keychain of the system, through the programs that come with it.
//!
//! Both take the secret on their standard input, so that no list of processes shows it.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use harn_agent::BoxFuture;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

/// How our entries are called.
const SERVICE: &str = "harn-mcp";

/// A keychain that asks somebody for a password must not hold up a run.
const TIME_MAX: Duration = Duration::from_secs(10);

/// `security` says with this status that there is no such entry.
const NOT_FOUND: i32 = 44;

/// Keeps texts where the system keeps passwords.
pub trait Keychain: Send + Sync {
    /// The text of an account, if there is one.
    ///
    /// # Errors
    /// Why it cannot be asked.
    fn load<'a>(&'a self, account: &'a str) -> BoxFuture<'a, Result<Option<String>, String>>;

    /// Replaces the text of an account.
    ///
    /// # Errors
    /// Why it cannot be kept.
    fn save<'a>(&'a self, account: &'a str, text: &'a str) -> BoxFuture<'a, Result<(), String>>;

    /// Forgets the text of an account.
    ///
    /// # Errors
    /// Why it cannot be asked. That there is none is no error.
    fn remove<'a>(&'a self, account: &'a str) -> BoxFuture<'a, Result<(), String>>;
}

/// A keychain behind a program.
#[derive(Clone, Debug)]
pub struct CommandKeychain {
    program: PathBuf,
    dialect: Dialect,
}

#[derive(Clone, Copy, Debug)]
enum Dialect {
    /// `secret-tool`, which talks to the secret service of Linux desktops.
    SecretTool,
    /// `security`, which comes with macOS.
    Security,
}

/// What a program said.
struct Said {
    status: Option<i32>,
    output: String,
    complaint: String,
}

impl CommandKeychain {
    /// The secret service of Linux desktops, through `secret-tool`.
    pub fn secret_tool(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            dialect: Dialect::SecretTool,
        }
    }

    /// The keychain of macOS, through `security`.
    pub fn security(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            dialect: Dialect::Security,
        }
    }

    async fn ask(&self, arguments: &[&str], input: &str) -> Result<Said, String> {
        let name = self.program.display();
        let asking = async {
            let mut child = Command::new(&self.program)
                .args(arguments)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .kill_on_drop(true)
                .spawn()?;
            if let Some(mut stdin) = child.stdin.take() {
                // One that does not read has another reason to fail, which it tells.
                let _it_may_have_ended = stdin.write_all(input.as_bytes()).await;
            }
            child.wait_with_output().await
        };
        let asked = tokio::time::timeout(TIME_MAX, asking).await;
        let asked = asked.map_err(|_| format!("{name} does not answer"))?;
        let output = asked.map_err(|error| format!("{name}: {error}"))?;
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ok(Said {
            status: output.status.code(),
            output: text(output.stdout),
            complaint: text(output.stderr),
        })
    }

    fn complain(&self, said: &Said) -> String {
        let complaint = said.complaint.trim();
        let complaint = complaint.lines().next().unwrap_or("it failed");
        format!("{}: {complaint}", self.program.display())
    }
}

impl Keychain for CommandKeychain {
    fn load<'a>(&'a self, account: &'a str) -> BoxFuture<'a, Result<Option<String>, String>> {
        Box::pin(async move {
            let arguments = match self.dialect {
                Dialect::SecretTool => vec!["lookup", "service", SERVICE, "account", account],
                Dialect::Security => {
                    vec!["find-generic-password", "-s", SERVICE, "-a", account, "-w"]
                }
            };
            let said = self.ask(&arguments, "").await?;
            match said.status {
                Some(0) => {
                    let text = said.output.trim_end_matches('\n');
                    Ok((!text.is_empty()).then(|| text.to_owned()))
                }
                Some(NOT_FOUND) => Ok(None),
                // `secret-tool` has one status for everything, but is silent about nothing
                // found.
                Some(1) if said.complaint.trim().is_empty() => Ok(None),
                _ => Err(self.complain(&said)),
            }
        })
    }

    fn save<'a>(&'a self, account: &'a str, text: &'a str) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async move {
            let label = format!("Harn: login to {account}");
            let hexadecimal = || -> String {
                let bytes = text.as_bytes().iter();
                bytes.map(|byte| format!("{byte:02x}")).collect()
            };
            let said = match self.dialect {
                Dialect::SecretTool => {
                    let arguments = [
                        "store", "--label", &label, "service", SERVICE, "account", account,
                    ];
                    self.ask(&arguments, text).await?
                }
                // A URL has neither quotes nor backslashes.
                Dialect::Security => {
                    let command = format!(
                        "add-generic-password -U -s {SERVICE} -a \"{account}\" -l \"{label}\" -X {}\n",
                        hexadecimal()
                    );
                    self.ask(&["-i"], &command).await?
                }
            };
            match said.status {
                Some(0) => Ok(()),
                _ => Err(self.complain(&said)),
            }
        })
    }

    fn remove<'a>(&'a self, account: &'a str) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async move {
            let arguments = match self.dialect {
                Dialect::SecretTool => vec!["clear", "service", SERVICE, "account", account],
                Dialect::Security => {
                    vec!["delete-generic-password", "-s", SERVICE, "-a", account]
                }
            };
            let said = self.ask(&arguments, "").await?;
            match said.status {
                Some(0 | NOT_FOUND) => Ok(()),
                Some(1) if said.complaint.trim().is_empty() => Ok(()),
                _ => Err(self.complain(&said)),
            }
        })
    }
}
