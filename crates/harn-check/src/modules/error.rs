//! What can go wrong with an import.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use smol_str::SmolStr;

/// Why an import fails. Shown, it is the text after `Runtime error: `.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImportError {
    /// There is no built-in module of that name, which is given without `std/`.
    UnknownStandard(SmolStr),
    /// A file is missing or cannot be read.
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: Unreadable,
    },
    /// A module is no program: it cannot be split into tokens.
    Lexical(ModuleFault),
    /// A module is no program: its tokens make no sense.
    Syntax(ModuleFault),
    /// A module cannot be compiled.
    Compile {
        /// What the compiler says.
        message: String,
        /// Whether that was about its top-level variables.
        initialisation: bool,
    },
    /// A name is imported that the module does not have.
    NotDefined {
        /// The name.
        name: SmolStr,
        /// The module.
        module: PathBuf,
    },
    /// A function is imported whose name is taken.
    Collision {
        /// The name.
        name: SmolStr,
        /// The module that brings it again.
        module: PathBuf,
    },
    /// A name is passed on that the module does not export.
    NotExported {
        /// The name.
        name: SmolStr,
        /// The module as the import calls it.
        import: SmolStr,
    },
    /// Something is passed on from a module that is itself waiting for this one.
    NotLoaded {
        /// The module as the import calls it.
        import: SmolStr,
    },
    /// A function is passed on whose name a function of this module has.
    ReexportCollision {
        /// The name.
        name: SmolStr,
        /// The module as the import calls it.
        import: SmolStr,
    },
}

/// What is wrong inside a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleFault {
    /// The path of a built-in module. Others go without.
    pub standard: Option<PathBuf>,
    /// What is wrong.
    pub message: String,
}

/// Why a file cannot be read.
///
/// It remembers the cause, so it can be copied and compared, which an [`io::Error`] cannot.
#[derive(Clone, Debug)]
pub struct Unreadable(Arc<io::Error>);

impl Unreadable {
    /// What the operating system, or whoever else was asked, says about it.
    pub fn cause(&self) -> &io::Error {
        &self.0
    }
}

impl From<io::Error> for Unreadable {
    fn from(error: io::Error) -> Self {
        Self(Arc::new(error))
    }
}

impl PartialEq for Unreadable {
    fn eq(&self, other: &Self) -> bool {
        self.0.kind() == other.0.kind() && self.to_string() == other.to_string()
    }
}

impl Eq for Unreadable {}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Unreadable {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.0)
    }
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownStandard(name) => write!(f, "Unknown stdlib module: std/{name}"),
            Self::Unreadable { path, reason } => {
                write!(
                    f,
                    "Import error: cannot read '{}': {reason}",
                    path.display()
                )
            }
            Self::Lexical(fault) => write!(f, "Import lex error{fault}"),
            Self::Syntax(fault) => write!(f, "Import parse error{fault}"),
            Self::Compile {
                message,
                initialisation,
            } => {
                let what = if *initialisation {
                    "init compile"
                } else {
                    "compile"
                };
                write!(f, "Import {what} error: {message}")
            }
            Self::NotDefined { name, module } => {
                let module = module.display();
                write!(f, "Import error: '{name}' is not defined in {module}")
            }
            Self::Collision { name, module } => write!(
                f,
                "Import collision: '{name}' is already defined when importing {}. \
                 Use selective imports to disambiguate: import {{ {name} }} from \"...\"",
                module.display()
            ),
            Self::NotExported { name, import } => {
                write!(f, "Re-export error: '{name}' is not exported by '{import}'")
            }
            Self::NotLoaded { import } => {
                write!(
                    f,
                    "Re-export error: imported module '{import}' was not loaded"
                )
            }
            Self::ReexportCollision { name, import } => write!(
                f,
                "Re-export collision: '{name}' is defined here and also re-exported from '{import}'"
            ),
        }
    }
}

impl fmt::Display for ModuleFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.standard {
            write!(f, " in {}", path.display())?;
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for ImportError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Unreadable { reason, .. } => Some(reason),
            Self::UnknownStandard(_)
            | Self::Lexical(_)
            | Self::Syntax(_)
            | Self::Compile { .. }
            | Self::NotDefined { .. }
            | Self::Collision { .. }
            | Self::NotExported { .. }
            | Self::NotLoaded { .. }
            | Self::ReexportCollision { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(error: ImportError, expected: &str) {
        assert_eq!(error.to_string(), expected);
    }

    /// 11.6, the table.
    #[test]
    fn errors_are_worded_as_the_specification_says() {
        let name = SmolStr::new("f");
        let import = SmolStr::new("lib/x");
        let module = PathBuf::from("/p/lib/x.harn");
        let fault = |standard: Option<&str>| ModuleFault {
            standard: standard.map(PathBuf::from),
            message: "E".to_owned(),
        };
        check(
            ImportError::UnknownStandard("nope".into()),
            "Unknown stdlib module: std/nope",
        );
        check(
            ImportError::Unreadable {
                path: module.clone(),
                reason: io::Error::from_raw_os_error(2).into(),
            },
            "Import error: cannot read '/p/lib/x.harn': No such file or directory (os error 2)",
        );
        check(ImportError::Lexical(fault(None)), "Import lex error: E");
        check(ImportError::Syntax(fault(None)), "Import parse error: E");
        check(
            ImportError::Lexical(fault(Some("<stdlib>/x.harn"))),
            "Import lex error in <stdlib>/x.harn: E",
        );
        check(
            ImportError::Syntax(fault(Some("<stdlib>/x.harn"))),
            "Import parse error in <stdlib>/x.harn: E",
        );
        for (initialisation, expected) in [
            (false, "Import compile error: E"),
            (true, "Import init compile error: E"),
        ] {
            let message = "E".to_owned();
            check(
                ImportError::Compile {
                    message,
                    initialisation,
                },
                expected,
            );
        }
        check(
            ImportError::NotDefined {
                name: name.clone(),
                module: module.clone(),
            },
            "Import error: 'f' is not defined in /p/lib/x.harn",
        );
        check(
            ImportError::Collision {
                name: name.clone(),
                module,
            },
            "Import collision: 'f' is already defined when importing /p/lib/x.harn. \
             Use selective imports to disambiguate: import { f } from \"...\"",
        );
        check(
            ImportError::NotExported {
                name: name.clone(),
                import: import.clone(),
            },
            "Re-export error: 'f' is not exported by 'lib/x'",
        );
        check(
            ImportError::NotLoaded {
                import: import.clone(),
            },
            "Re-export error: imported module 'lib/x' was not loaded",
        );
        check(
            ImportError::ReexportCollision { name, import },
            "Re-export collision: 'f' is defined here and also re-exported from 'lib/x'",
        );
    }
}
