//! Skills that a person has in folders.

use std::process::Command;

use crate::language::Programs;
use crate::program::finished;

/// Tells which skills there are.
const LIST: &str = r#"
for card in skills.skills {
  println("${card.name} ${card.source} ${card.short}")
}
"#;

fn skill(short: &str) -> String {
    format!("---\nshort: {short}\n---\nBody of {short}.\n")
}

/// A project below the folder of a user, with a skill in each layer that a person can fill.
fn project() -> Programs {
    let programs = Programs::new(&[
        ("home/work/harn.toml", "[skills]\npaths = [\"library\"]\n"),
        ("home/work/app/main.harn", LIST),
    ]);
    for (folder, layer) in [
        ("given", "cli"),
        ("listed", "env"),
        ("home/work/app/.harn/skills", "project"),
        ("home/work/library", "manifest"),
        ("home/.harn/skills", "user"),
        ("home/work/.harn/packages/tool/skills", "package"),
        ("config/harn/skills", "system"),
    ] {
        programs.add(&format!("{folder}/same/SKILL.md"), skill(layer));
        programs.add(&format!("{folder}/{layer}/SKILL.md"), skill("own"));
    }
    programs
}

fn run(programs: &Programs, arguments: &[&str]) -> Command {
    let mut command = programs.command(arguments);
    command
        .env("HOME", programs.path("home"))
        .env("XDG_CONFIG_HOME", programs.path("config"))
        .env("HARN_SKILLS_PATH", "listed:missing");
    command
}

#[test]
fn every_layer_has_its_place() {
    let programs = project();
    let call = finished(&mut run(
        &programs,
        &["run", "home/work/app/main.harn", "--skill-dir", "given"],
    ));
    let warned = call.stderr.contains("missing");
    assert!(warned, "{call:?}");
    let expected = [
        "cli cli own",
        "same cli cli",
        "env env own",
        "project project own",
        "manifest manifest own",
        "user user own",
        "package package own",
        "system system own",
    ];
    let call = call.exits_with(0);
    assert_eq!(call.stdout.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn a_manifest_may_order_and_disable_layers() {
    let programs = project();
    let manifest = "[skills]\nlookup_order = [\"user\"]\ndisable = [\"env\", \"system\"]\n";
    programs.add("home/work/harn.toml", manifest);
    let call = finished(&mut run(&programs, &["run", "home/work/app/main.harn"])).exits_with(0);
    assert_eq!(
        call.stdout,
        "same user user\nuser user own\nproject project own\npackage package own\n"
    );
}

#[test]
fn a_folder_that_is_given_must_be_there() {
    let programs = project();
    let arguments = ["run", "home/work/app/main.harn", "--skill-dir", "nowhere"];
    let call = finished(&mut run(&programs, &arguments)).exits_with(2);
    assert!(call.stderr.contains("there is no such folder"), "{call:?}");
}

#[test]
fn a_program_that_mentions_no_skills_has_none_discovered() {
    let programs = project();
    programs.add(
        "home/work/app/.harn/skills/broken/SKILL.md",
        "no front matter",
    );
    programs.add("home/work/app/main.harn", "println(1)\n");
    let call = finished(&mut run(&programs, &["run", "home/work/app/main.harn"]));
    call.exits_with(0).says("1\n", "");
    programs.add(
        "home/work/app/main.harn",
        "println(load_skill(\"project\"))\n",
    );
    let call = finished(&mut run(&programs, &["run", "home/work/app/main.harn"])).exits_with(0);
    assert_eq!(call.stdout, "Body of own.\n\n");
    assert!(
        call.stderr.contains("broken/SKILL.md is no skill"),
        "{call:?}"
    );
}

#[test]
fn signatures_may_be_demanded_of_everything() {
    let programs = project();
    let program =
        "try {\n  println(load_skill(\"project\").trim())\n} catch (e) {\n  println(e)\n}\n";
    programs.add("home/work/app/main.harn", program);
    for (value, expected) in [
        ("1", "skill 'project' is missing a valid signature"),
        ("true", "skill 'project' is missing a valid signature"),
        ("yes", "skill 'project' is missing a valid signature"),
        ("0", "Body of own."),
        ("", "Body of own."),
    ] {
        let mut command = run(&programs, &["run", "home/work/app/main.harn"]);
        command.env("HARN_REQUIRE_SIGNED_SKILLS", value);
        finished(&mut command).exits_with(0).prints(expected);
    }
}

/// A body can name variables that were lent to it, and only those that the program may see.
#[test]
fn bodies_know_their_place_and_their_variables() {
    let programs = project();
    let body = "---\nshort: s\n---\n${HARN_SKILL_DIR} ${HARN_TEAM} ${HOME}";
    let lent = "[skills]\nvariables = [\"HARN_TEAM\"]\n";
    programs.add("config/harn/safety.toml", lent);
    programs.add("home/work/app/.harn/skills/vars/SKILL.md", body);
    programs.add("home/work/app/main.harn", "println(load_skill(\"vars\"))\n");
    let arguments = ["run", "home/work/app/main.harn"];
    let mut command = run(&programs, &arguments);
    let call = finished(command.env("HARN_TEAM", "blue")).exits_with(0);
    let folder = "home/work/app/.harn/skills/vars blue ${HOME}\n";
    assert!(call.stdout.ends_with(folder), "{call:?}");
    let mut command = run(&programs, &arguments);
    command.env("HARN_TEAM", "blue").args(["--deny", "env"]);
    let call = finished(&mut command).exits_with(0);
    assert!(
        call.stdout.ends_with("vars ${HARN_TEAM} ${HOME}\n"),
        "{call:?}"
    );
}

/// What is text instead of a file belongs where one is, and uses what is trusted there.
#[test]
fn a_text_finds_the_skills_of_the_folder() {
    let programs = project();
    programs.add(".harn/skills/here/SKILL.md", skill("near"));
    finished(&mut run(&programs, &["trust", "yes"])).exits_with(0);
    let code = "println(skill_find(skills, \"here\").short)";
    let call = finished(&mut run(&programs, &["run", "-e", code]));
    call.exits_with(0).prints("near");
}

/// Front matter of a few lines that stands for millions of values.
#[test]
fn front_matter_that_explodes_is_refused() {
    let programs = project();
    let mut front = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..6 {
        let before = format!("*a{}, ", level - 1).repeat(10);
        front.push_str(&format!("a{level}: &a{level} [{before}]\n"));
    }
    let file = format!("---\nshort: s\n{front}---\n");
    programs.add("home/work/app/.harn/skills/bomb/SKILL.md", file);
    let call = finished(&mut run(&programs, &["run", "home/work/app/main.harn"])).exits_with(0);
    assert!(!call.stdout.contains("bomb"), "{call:?}");
    assert!(call.stderr.contains("too large"), "{call:?}");
}
