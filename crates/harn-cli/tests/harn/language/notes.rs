//! Notes about folders, for programs that do not run in the root of a project (builtins 21.3 and
//! 29.3).

use super::Programs;
use crate::program::finished;

const CLASSIFIED: &str = r#"
metadata_set("data", "classification", {kind: "numbers"})
let missing = metadata_status()
println([missing.missing_structure_hash, missing.missing_content_hash])
metadata_refresh_hashes()
println(metadata_status().missing_structure_hash)
println(metadata_stale())
write_file("data/two.txt", "2")
println(metadata_stale())
println(metadata_status().stale == metadata_stale())
metadata_refresh_hashes()
metadata_set("data", "classification", {contentHash: compute_content_hash("data")})
println(metadata_stale())
metadata_set("data", "classification", {contentHash: "0"})
println(metadata_stale())
println(scan_directory("data").map({ entry -> entry.path }))
println(scan_directory("own").map({ entry -> entry.path }))
"#;

#[test]
fn notes_are_about_the_folders_that_files_are_written_to() {
    let programs = Programs::new(&[
        ("sub/a.harn", CLASSIFIED),
        ("sub/own/three.txt", "3"),
        ("data/one.txt", "1"),
    ]);
    let expected = "\
[[data], [data]]
[]
{any_stale: false, tier1: [], tier2: []}
{any_stale: true, tier1: [data], tier2: []}
true
{any_stale: false, tier1: [], tier2: []}
{any_stale: true, tier1: [], tier2: [data]}
[data/one.txt, data/two.txt]
[sub/own/three.txt]
";
    let call = programs.harn(&["run", "sub/a.harn"]).exits_with(0);
    call.says(expected, "");
}

const SCANNED: &str = r#"
import "std/project"

project_deep_scan(".", {namespace: "deep"})
println(metadata_entries("deep").map({ entry -> entry.dir }))
println(project_deep_scan_status("deep").scope)
println(metadata_local_namespace("./inner/docs/", "deep")._deep_scan.dir)
println(metadata_local_namespace("inner/src/../docs", "deep")._deep_scan.dir)
println(project_root_package())
"#;

#[test]
fn a_scan_of_a_folder_notes_it_by_its_place_in_the_project() {
    let programs = Programs::new(&[
        ("harn.toml", ""),
        ("package.json", "{\"name\": \"whole\"}"),
        ("inner/package.json", "{\"name\": \"part\"}"),
        ("inner/docs/one.md", "# One\n"),
        ("inner/a.harn", SCANNED),
    ]);
    let mut command = programs.command(&["run", "a.harn"]);
    let call = finished(command.current_dir(programs.path("inner"))).exits_with(0);
    call.says("[inner, inner/docs]\ninner\ndocs\ndocs\nwhole\n", "");
    assert!(programs.path(".harn/metadata/deep/entries.json").is_file());
}
