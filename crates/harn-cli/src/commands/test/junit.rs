//! What came of tests in the form of JUnit, which build servers read.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use super::discovery::{Suite, Test};
use super::isolated::Ran;
use super::markup::escaped;
use super::report::Results;

/// Writes the report to a file.
///
/// # Errors
/// It cannot be written.
pub(super) fn write(path: &Path, suite: &Suite, results: &Results) -> io::Result<()> {
    fs::write(path, document(suite, results))
}

fn document(suite: &Suite, results: &Results) -> String {
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let (tests, failures) = (results.ran.len(), results.failed());
    let time = seconds(results.took);
    xml += &format!("<testsuites tests=\"{tests}\" failures=\"{failures}\" time=\"{time}\">\n");
    for at in 0..suite.files.len() {
        let cases = suite.tests.iter().zip(&results.ran);
        let cases: Vec<_> = cases.filter(|(test, _)| test.file == at).collect();
        file(&mut xml, &suite.files[at].display().to_string(), &cases);
    }
    xml += "</testsuites>\n";
    xml
}

fn file(xml: &mut String, name: &str, cases: &[(&Test, &Ran)]) {
    let failures = cases.iter().filter(|(_, ran)| ran.error.is_some()).count();
    let time = seconds(cases.iter().map(|(_, ran)| ran.took).sum());
    let (name, tests) = (escaped(name), cases.len());
    *xml += &format!(
        "  <testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\" time=\"{time}\">\n"
    );
    for (test, ran) in cases {
        case(xml, &name, test.name(), ran);
    }
    *xml += "  </testsuite>\n";
}

fn case(xml: &mut String, file: &str, name: &str, ran: &Ran) {
    let (name, time) = (escaped(name), seconds(ran.took));
    *xml += &format!("    <testcase name=\"{name}\" classname=\"{file}\" time=\"{time}\"");
    if ran.error.is_none() && ran.output.is_empty() {
        *xml += "/>\n";
        return;
    }
    *xml += ">\n";
    if let Some(error) = &ran.error {
        let message = escaped(error.lines().next().unwrap_or(""));
        let error = escaped(error);
        *xml += &format!("      <failure message=\"{message}\">{error}</failure>\n");
    }
    if !ran.output.is_empty() {
        *xml += &format!("      <system-out>{}</system-out>\n", escaped(&ran.output));
    }
    *xml += "    </testcase>\n";
}

fn seconds(time: Duration) -> String {
    format!("{:.3}", time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::super::discovery::What;
    use super::*;

    #[test]
    fn every_file_is_a_suite() {
        let test = |name: &str| Test {
            file: 0,
            what: What::Pipeline(name.to_owned()),
        };
        let suite = Suite {
            files: vec!["a.harn".into()],
            tests: vec![test("test_a"), test("test_b")],
        };
        let ran = |error: Option<&str>, output: &str| Ran {
            error: error.map(str::to_owned),
            output: output.to_owned(),
            took: Duration::from_millis(3),
            counted: Vec::new(),
        };
        let results = Results {
            ran: vec![
                ran(None, ""),
                ran(Some("error: 1 < 2 & \"so\"\nthere"), "\u{1b}x\n"),
            ],
            took: Duration::from_millis(1250),
            covered: None,
        };
        let expected = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="2" failures="1" time="1.250">
  <testsuite name="a.harn" tests="2" failures="1" time="0.006">
    <testcase name="test_a" classname="a.harn" time="0.003"/>
    <testcase name="test_b" classname="a.harn" time="0.003">
      <failure message="error: 1 &lt; 2 &amp; &quot;so&quot;">error: 1 &lt; 2 &amp; &quot;so&quot;
there</failure>
      <system-out>\u{1b}x
</system-out>
    </testcase>
  </testsuite>
</testsuites>
"#;
        assert_eq!(document(&suite, &results), expected);
    }
}
