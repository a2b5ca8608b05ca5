//! Which files a program is made of.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use super::database::Database;
use super::memo::FileId;
use super::queries::ResolutionsQuery;

/// A file and every module it imports, directly or not: each after those it imports, except
/// where that goes in a circle. Imports that lead nowhere are left out.
pub(super) fn reachable(database: &mut Database, entry: FileId) -> Vec<Arc<Path>> {
    let mut seen = HashSet::from([entry]);
    let mut order = Vec::new();
    // Each file waits with the number of its next import until the one above it is done.
    let mut waiting = vec![(entry, 0)];
    while let Some((file, next)) = waiting.pop() {
        let imports = database.get::<ResolutionsQuery>(file);
        let Some(resolved) = imports.get(next) else {
            order.push(Arc::clone(database.path(file)));
            continue;
        };
        waiting.push((file, next + 1));
        if let Ok(target) = &resolved.target {
            let target = database.file(target);
            if seen.insert(target) {
                waiting.push((target, 0));
            }
        }
    }
    order
}
