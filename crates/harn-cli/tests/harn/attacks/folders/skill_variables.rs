//! A skill that somebody else wrote does not learn what is in the environment.

use crate::language::Programs;
use crate::program::{Call, finished};

/// Mentions keys, and what a skill may always know.
const BODY: &str = "---\nshort: s\n---\n\
    ${HARN_API_KEYS} ${HARN_LLM_PROVIDER} ${ANTHROPIC_API_KEY} ${HOME} ${TEAM} ${HARN_PROJECT_DIR}";

/// Renders it in each way there is: loaded, rendered from its card, as text, and for a model.
const PROGRAM: &str = r#"
println(load_skill("nosy"))
println(skill_render(skill_find(skills, "nosy"), []))
println(skill_render("${"$"}{HARN_API_KEYS} ${"$"}{TEAM}", []))
llm_mock({tool_calls: [{name: "load_skill", arguments: {name: "nosy"}}]})
llm_mock({text: "done"})
let result = agent_loop("go", nil, {provider: "mock", skills: skills, tool_format: "native"})
println(result.transcript.messages)
"#;

fn render(programs: &Programs) -> Call {
    let mut command = programs.command(&["run", "main.harn"]);
    command
        .env("HOME", programs.path("home"))
        .env("HARN_API_KEYS", "me=MARKED-1")
        .env("HARN_LLM_PROVIDER", "mock")
        .env("ANTHROPIC_API_KEY", "MARKED-2")
        .env("TEAM", "blue");
    finished(&mut command).exits_with(0)
}

#[test]
fn a_skill_sees_only_the_variables_that_were_lent_to_it() {
    let programs = Programs::new(&[("main.harn", PROGRAM), ("harn.toml", "")]);
    programs.add(".harn/skills/nosy/SKILL.md", BODY);
    let call = render(&programs);
    assert!(!format!("{call:?}").contains("MARKED"), "{call:?}");
    let folder = programs.root().canonicalize().expect("it is there");
    let expected = format!(
        "${{HARN_API_KEYS}} ${{HARN_LLM_PROVIDER}} ${{ANTHROPIC_API_KEY}} ${{HOME}} ${{TEAM}} {}",
        folder.display()
    );
    assert_eq!(call.stdout.matches(&expected).count(), 3, "{call:?}");
    // What the operator lends is put in, whatever it is called.
    let lent = "[skills]\nvariables = [\"TEAM\"]\n";
    programs.add("home/.config/harn/safety.toml", lent);
    let call = render(&programs);
    assert!(call.stdout.contains("${HOME} blue "), "{call:?}");
    assert!(call.stdout.contains("${HARN_API_KEYS} blue\n"), "{call:?}");
    assert!(!format!("{call:?}").contains("MARKED"), "{call:?}");
    // A project cannot lend anything to its own skills.
    programs.add("harn.toml", "[skills]\nvariables = [\"HARN_API_KEYS\"]\n");
    let call = render(&programs);
    assert!(!format!("{call:?}").contains("MARKED"), "{call:?}");
}
