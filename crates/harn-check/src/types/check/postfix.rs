//! What is wrong with members, methods and subscripts.

use harn_syntax::Span;
use harn_syntax::tree::{Name, Postfix, SuffixKind};

use crate::types::checker::Checker;
use crate::types::codes;
use crate::types::ty::Ty;

impl Checker {
    pub(super) fn check_postfix(&mut self, postfix: &Postfix, span: Span) {
        let constructed = self.infer_constructed(postfix);
        let first = usize::from(constructed.is_some());
        let mut ty = match constructed {
            Some(ty) => ty,
            None => {
                self.check(&postfix.base);
                self.check_access(postfix, span);
                self.infer(&postfix.base)
            }
        };
        for (at, suffix) in postfix.suffixes.iter().enumerate() {
            match &suffix.kind {
                SuffixKind::Member { .. } | SuffixKind::Try => {}
                SuffixKind::Method {
                    name, arguments, ..
                } => {
                    if at >= first {
                        self.check_bounded_method(&ty, name);
                    }
                    self.check_arguments(arguments);
                }
                SuffixKind::Index { index, .. } => self.check(index),
                SuffixKind::Slice { start, end } => {
                    start.iter().chain(end).for_each(|bound| self.check(bound));
                }
            }
            if at >= first {
                ty = self.infer_suffix(&ty, &suffix.kind);
            }
        }
    }

    /// A method of a value whose type is a type parameter: its bounds say what it has.
    fn check_bounded_method(&mut self, receiver: &Ty, method: &Name) {
        if !self.known.is_parameter(receiver) {
            return;
        }
        let bounds = self.known.bounds.iter();
        let bounds = bounds.filter(|(parameter, _)| receiver.is(parameter));
        let interfaces = bounds.map(|(_, name)| {
            let declared = self.known.declarations.interfaces.get(name)?;
            let mut methods = declared.methods.iter();
            Some((name, methods.any(|(own, _)| *own == method.text)))
        });
        let Some(interfaces) = interfaces.collect::<Option<Vec<_>>>() else {
            return;
        };
        if interfaces.iter().any(|(_, found)| *found) {
            return;
        }
        if let Some((interface, _)) = interfaces.first() {
            let method_name = &method.text;
            let message = format!(
                "Method '{method_name}' not found in interface '{interface}' \
                 (constraint on '{receiver}')"
            );
            self.warn(codes::UNKNOWN_INTERFACE_METHOD, method.span, message);
        }
    }
}
