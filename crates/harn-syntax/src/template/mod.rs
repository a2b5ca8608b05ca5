//! Prompt templates: text with directives in double braces.
//!
//! ```text
//! text ──► scan ──► pieces, trimmed ──► directive ──► what each says ──► blocks ──► tree
//! ```
//!
//! `scan` finds where directives begin and end, removes comments, takes raw text out and
//! trims. `directive` reads the content of one pair of braces, with `expression` for what
//! has a value. `blocks` puts what stands between `{{ if }}` or `{{ for }}` and
//! `{{ end }}` inside.
//!
//! Values are not known here: whoever renders folds over the tree, in order, and nothing
//! about the syntax is left to decide then. Filters are checked here too, so that a typing
//! error in a branch that is seldom taken is found the first time the template is used.
//!
//! ```
//! use harn_syntax::parse_template;
//!
//! let template = parse_template("Hello {{ name }}!").expect("it is well formed");
//! assert_eq!(template.nodes.len(), 3);
//!
//! let error = parse_template("Hello {{ name | shout }}!").unwrap_err();
//! assert_eq!(error.to_string(), "at 1:7: unknown filter `shout`");
//! ```

mod blocks;
mod directive;
mod error;
mod expression;
mod filter;
mod scan;
mod tree;

pub use error::{TemplateError, TemplateErrorKind};
pub use filter::Filter;
pub use tree::{
    Binding, Branch, Comparison, Expression, FilterCall, Filtered, For, If, Include, LoopVariables,
    Node, NodeKind, Path, Step, Template,
};

/// How deeply blocks may be nested, and parentheses in an expression, so that walks over the
/// tree may use recursion.
pub const NESTING_MAX: usize = 200;

/// Reads a template.
///
/// # Errors
/// The first thing in the text that is not as a template should be.
pub fn parse_template(text: &str) -> Result<Template, TemplateError> {
    blocks::parse(text)
}

#[cfg(test)]
mod tests;
