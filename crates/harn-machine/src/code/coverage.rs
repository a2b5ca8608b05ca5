//! Which lines of a file have run.
//!
//! A file whose lines are counted is compiled with an instruction in front of every statement
//! that says so. Others have none, so that counting costs nothing where nobody asks for it.

use std::cell::RefCell;
use std::collections::BTreeMap;

/// How often the statements of a file have run.
#[derive(Debug, Default)]
pub struct Coverage {
    points: RefCell<Vec<Point>>,
}

/// A statement.
#[derive(Clone, Copy, Debug)]
struct Point {
    line: u32,
    count: u64,
}

impl Coverage {
    /// A new point in a line.
    pub(crate) fn add(&self, line: u32) -> u32 {
        let mut points = self.points.borrow_mut();
        points.push(Point { line, count: 0 });
        // A file has fewer statements than bytes, and those fit.
        (points.len() - 1) as u32
    }

    /// A statement runs.
    pub(crate) fn hit(&self, point: u32) {
        if let Some(point) = self.points.borrow_mut().get_mut(point as usize) {
            point.count += 1;
        }
    }

    /// How often the statements of each line have run; of several in a line, the one that has
    /// run most.
    pub fn lines(&self) -> BTreeMap<u32, u64> {
        let mut lines = BTreeMap::new();
        for point in self.points.borrow().iter() {
            let count: &mut u64 = lines.entry(point.line).or_default();
            *count = point.count.max(*count);
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busiest_statement_of_a_line_counts() {
        let coverage = Coverage::default();
        let points = [3, 1, 3].map(|line| coverage.add(line));
        coverage.hit(points[0]);
        coverage.hit(points[2]);
        coverage.hit(points[2]);
        coverage.hit(99);
        assert_eq!(coverage.lines(), BTreeMap::from([(1, 0), (3, 2)]));
    }
}
