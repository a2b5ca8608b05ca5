//! What runs, but could be better: the lint rules.
//!
//! ```text
//! text + tree ─► Source (tokens, lines, comments) ┐
//!             └► Names  (bindings and their uses) ┴─► walk ─► rules ─► findings, sorted
//! ```
//!
//! Two things are worked out once, before any rule looks: where everything stands in the text
//! ([`source`]) and what every name means ([`names`]). Then one walk over the tree hands each
//! node to the rules that care about its kind ([`walk`]), and the rules about a whole file look
//! at what was worked out. Each rule is a file below `rules/` that begins with its [`Rule`].
//!
//! A rule would rather say nothing than something wrong: where it cannot know, it is silent.
//! A program that cannot run as written is an error (`break-outside-loop`,
//! `undefined-function`, `invalid-binary-op-literal`); everything else is a warning. Nothing
//! here affects a run.
//!
//! A comment `// lint: allow(rule, other-rule)` on the line of a finding, or alone on the line
//! above it, silences it.

mod allow;
mod catalogue;
mod facts;
mod file;
mod gates;
mod names;
mod rule;
mod rules;
mod source;
mod taint;
mod walk;

use harn_syntax::Diagnostic;
use harn_syntax::tree::Module;

pub use catalogue::all as rules;
pub use rule::Rule;

use crate::imported::Imported;
use file::FileFacts;
use names::Names;
use source::Source;

/// What a project wants of its lint, the table `[lint]` of `harn.toml`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LintOptions {
    /// The names of the rules that are not wanted.
    pub disabled: Vec<String>,
    /// How many paths a function may have before `cyclomatic-complexity` speaks up.
    pub complexity_max: usize,
    /// Whether `require-file-header` is wanted.
    pub require_file_header: bool,
}

impl Default for LintOptions {
    fn default() -> Self {
        Self {
            disabled: Vec::new(),
            complexity_max: 25,
            require_file_header: false,
        }
    }
}

/// Everything a rule may look at.
struct Context<'a> {
    source: Source<'a>,
    names: Names,
    file: FileFacts,
    module: &'a Module,
    imported: &'a Imported,
    options: &'a LintOptions,
}

/// What the rules have to say about a file, in the order of the text.
///
/// `text` is what `module` was read from, and `imported` is what its imports bring in.
pub fn lint(
    text: &str,
    module: &Module,
    imported: &Imported,
    options: &LintOptions,
) -> Vec<Diagnostic> {
    let ctx = Context {
        source: Source::new(text, module),
        names: Names::of(module),
        file: FileFacts::of(module),
        module,
        imported,
        options,
    };
    let mut findings = walk::findings(&ctx);
    let disabled = |finding: &Diagnostic| options.disabled.iter().any(|one| one == finding.code.0);
    findings.retain(|finding| !disabled(finding));
    allow::retain(&ctx.source, &mut findings);
    findings.sort_by_key(|finding| (finding.span.start, finding.span.end, finding.code));
    findings
}
