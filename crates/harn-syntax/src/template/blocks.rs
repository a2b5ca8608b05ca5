//! From directives to a tree.
//!
//! Blocks that are open wait on a stack of our own, so that no template can exhaust that of
//! the program.

use super::NESTING_MAX;
use super::directive::Directive;
use super::error::{TemplateError, TemplateErrorKind as Kind};
use super::scan::{Mark, Piece, PieceKind, Scanner};
use super::tree::{Branch, Filtered, For, If, LoopVariables, Node, NodeKind, Template};
use crate::position::Span;

/// Reads a template.
pub(super) fn parse(text: &str) -> Result<Template, TemplateError> {
    let mut scanner = Scanner::new(text);
    let mut builder = Builder::default();
    while let Some(piece) = scanner.next()? {
        builder.add(piece).map_err(|kind| kind.at(piece.mark))?;
    }
    builder.finish()
}

#[derive(Default)]
struct Builder {
    /// What stands outside all blocks.
    nodes: Vec<Node>,
    /// The blocks that are open, the innermost last.
    open: Vec<Open>,
}

/// A block without its `{{ end }}` yet.
struct Open {
    block: Block,
    start: Mark,
    /// Its `{{ else }}`, once that was met.
    otherwise: Option<Mark>,
}

enum Block {
    If(If),
    For(For),
}

impl Builder {
    fn add(&mut self, piece: Piece<'_>) -> Result<(), Kind> {
        let kind = match piece.kind {
            PieceKind::Text(text) => NodeKind::Text(text.into()),
            PieceKind::Raw(text) => NodeKind::Raw(text.into()),
            PieceKind::Directive(content) => match Directive::read(content)? {
                Directive::Name(name) => NodeKind::Name(name),
                Directive::Value(value) => NodeKind::Value(value),
                Directive::Include(include) => NodeKind::Include(include),
                Directive::If(condition) => return self.open_if(condition, piece.mark),
                Directive::Elif(condition) => return self.elif(condition, piece.mark),
                Directive::Else => return self.otherwise(piece.mark),
                Directive::For(variables, items) => {
                    return self.open_for(variables, items, piece.mark);
                }
                Directive::End => return self.end(piece.span),
                Directive::EndRaw => return Err(Kind::UnexpectedDirective("endraw")),
            },
        };
        self.push(kind, piece.span, piece.mark);
        Ok(())
    }

    /// The tree, unless a block is open.
    fn finish(mut self) -> Result<Template, TemplateError> {
        let Some(open) = self.open.pop() else {
            return Ok(Template { nodes: self.nodes });
        };
        Err(match (open.otherwise, open.block) {
            (Some(mark), _) => Kind::MissingEnd("else").at(mark),
            (None, Block::If(_)) => Kind::MissingEnd("if").at(open.start),
            (None, Block::For(_)) => Kind::MissingEnd("for").at(open.start),
        })
    }

    /// Adds a node to the part of the innermost block that is being filled.
    fn push(&mut self, kind: NodeKind, span: Span, mark: Mark) {
        let node = Node {
            kind,
            span,
            position: mark.position,
        };
        let nodes = match self.open.last_mut() {
            None => &mut self.nodes,
            Some(open) => open.nodes(),
        };
        nodes.push(node);
    }

    fn open_if(&mut self, condition: Filtered, start: Mark) -> Result<(), Kind> {
        let block = Block::If(If {
            branches: vec![branch(condition, start)],
            otherwise: Vec::new(),
        });
        self.open(block, start)
    }

    fn open_for(
        &mut self,
        variables: LoopVariables,
        items: Filtered,
        start: Mark,
    ) -> Result<(), Kind> {
        let block = Block::For(For {
            variables,
            items,
            body: Vec::new(),
            otherwise: Vec::new(),
        });
        self.open(block, start)
    }

    fn open(&mut self, block: Block, start: Mark) -> Result<(), Kind> {
        if self.open.len() == NESTING_MAX {
            return Err(Kind::BlocksTooDeep);
        }
        self.open.push(Open {
            block,
            start,
            otherwise: None,
        });
        Ok(())
    }

    fn elif(&mut self, condition: Filtered, mark: Mark) -> Result<(), Kind> {
        match self.open.last_mut() {
            Some(Open {
                block: Block::If(block),
                otherwise: None,
                ..
            }) => {
                block.branches.push(branch(condition, mark));
                Ok(())
            }
            _ => Err(Kind::UnexpectedDirective("elif")),
        }
    }

    fn otherwise(&mut self, mark: Mark) -> Result<(), Kind> {
        match self.open.last_mut() {
            Some(open) if open.otherwise.is_none() => {
                open.otherwise = Some(mark);
                Ok(())
            }
            _ => Err(Kind::UnexpectedDirective("else")),
        }
    }

    fn end(&mut self, end: Span) -> Result<(), Kind> {
        let open = self.open.pop().ok_or(Kind::UnexpectedDirective("end"))?;
        let kind = match open.block {
            Block::If(block) => NodeKind::If(block),
            Block::For(block) => NodeKind::For(block),
        };
        let start = open.start.offset;
        self.push(
            kind,
            Span {
                start,
                end: end.end,
            },
            open.start,
        );
        Ok(())
    }
}

impl Open {
    /// The part that is being filled.
    fn nodes(&mut self) -> &mut Vec<Node> {
        match (&mut self.block, self.otherwise) {
            (Block::If(block), Some(_)) => &mut block.otherwise,
            (Block::For(block), Some(_)) => &mut block.otherwise,
            (Block::For(block), None) => &mut block.body,
            (Block::If(block), None) => {
                let last = block.branches.last_mut();
                &mut last.expect("an `if` is its own first branch").body
            }
        }
    }
}

fn branch(condition: Filtered, mark: Mark) -> Branch {
    Branch {
        condition,
        body: Vec::new(),
        position: mark.position,
    }
}
