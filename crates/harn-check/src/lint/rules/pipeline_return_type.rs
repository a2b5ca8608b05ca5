//! A public pipeline says what it gives to the host that runs it.

use harn_syntax::tree::{Item, ItemKind};

use super::Findings;
use crate::lint::file;
use crate::lint::rule::Rule;
use crate::lint::walk::Place;

pub(crate) const RULE: Rule = Rule {
    name: "pipeline-return-type",
    summary: "A public pipeline should declare what it returns.",
    fixable: false,
    on_by_default: true,
};

pub(super) fn check(place: Place, item: &Item, out: &mut Findings) {
    let ItemKind::Pipeline(pipeline) = &item.kind else {
        return;
    };
    let is_open = item.public.is_some() && pipeline.result.is_none();
    if is_open && !place.in_item && !file::is_test(item) {
        let name = &pipeline.name;
        let message = format!(
            "the public pipeline `{}` does not say what it returns",
            name.text
        );
        out.push(
            RULE.warning(name.span, message)
                .with_help("add `-> TYPE` after its parameters; `-> nil` if it returns nothing"),
        );
    }
}
