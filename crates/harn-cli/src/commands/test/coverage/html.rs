//! Which lines have run, as a page for a browser. It needs nothing but itself.

use std::fs;
use std::io;
use std::path::Path;

use super::super::markup::escaped;
use super::{Covered, CoveredFile, percent};

const HEAD: &str = "\
<!doctype html>
<html lang=\"en\">
<head>
<meta charset=\"utf-8\">
<meta name=\"viewport\" content=\"width=device-width\">
<title>Coverage by line</title>
<style>
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; }
table { border-collapse: collapse; }
td, th { padding: .2rem 1rem .2rem 0; text-align: left; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
pre { border: 1px solid #8884; border-radius: .4rem; overflow-x: auto; padding: .5rem 0; }
pre span { display: block; padding: 0 .8rem; }
pre span::before { content: attr(data-line); display: inline-block; width: 3.5rem; opacity: .5; }
.run { background: #2da44e22; }
.missing { background: #cf222e33; }
.missing::after { content: \" \\2190 not run\"; opacity: .6; }
</style>
</head>
<body>
<h1>Coverage by line</h1>
";

/// Writes the page.
///
/// # Errors
/// It cannot be written.
pub(in super::super) fn write(path: &Path, covered: &Covered) -> io::Result<()> {
    fs::write(path, page(covered))
}

fn page(covered: &Covered) -> String {
    let mut page = String::from(HEAD);
    page += "<table>\n<tr><th>File</th><th>Covered</th><th>Lines</th></tr>\n";
    for (at, file) in covered.files.iter().enumerate() {
        let name = escaped(&file.name);
        page += &row(
            &format!("<a href=\"#file-{at}\">{name}</a>"),
            file.covered(),
            file.lines.len(),
        );
    }
    let (run, lines) = covered.totals();
    page += &row("total", run, lines);
    page += "</table>\n";
    for (at, file) in covered.files.iter().enumerate() {
        section(&mut page, at, file);
    }
    page += "</body>\n</html>\n";
    page
}

fn row(name: &str, covered: usize, lines: usize) -> String {
    let percent = percent(covered, lines);
    format!(
        "<tr><td>{name}</td><td class=\"number\">{percent} %</td>\
         <td class=\"number\">{covered} of {lines}</td></tr>\n"
    )
}

fn section(page: &mut String, at: usize, file: &CoveredFile) {
    *page += &format!("<h2 id=\"file-{at}\">{}</h2>\n<pre>", escaped(&file.name));
    for (line, text) in (1..).zip(file.text.lines()) {
        let text = escaped(text);
        let class = match file.lines.get(&line) {
            None => String::new(),
            Some(0) => " class=\"missing\"".to_owned(),
            Some(count) => format!(" class=\"run\" title=\"run {count} times\""),
        };
        *page += &format!("<span data-line=\"{line}\"{class}>{text}\n</span>");
    }
    *page += "</pre>\n";
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn a_page_shows_what_has_run() {
        let file = CoveredFile {
            name: "a<b>.harn".to_owned(),
            text: "let a = 1\n\nif a < 1 {\n".to_owned(),
            lines: BTreeMap::from([(1, 2), (3, 0)]),
        };
        let page = page(&Covered { files: vec![file] });
        for part in [
            "<a href=\"#file-0\">a&lt;b&gt;.harn</a></td><td class=\"number\">50 %</td>",
            "<h2 id=\"file-0\">a&lt;b&gt;.harn</h2>\n<pre><span data-line=\"1\" class=\"run\" \
             title=\"run 2 times\">let a = 1\n</span><span data-line=\"2\">\n</span>\
             <span data-line=\"3\" class=\"missing\">if a &lt; 1 {\n</span></pre>\n",
        ] {
            assert!(page.contains(part), "{page}");
        }
        assert!(page.starts_with("<!doctype html>\n") && page.ends_with("</html>\n"));
    }
}
