//! What one can do with models: who answers for them, what is known about them, and that no
//! key gets anywhere.

mod answers;
mod doctor;
mod known;
mod secrets;
mod server;
mod tapes;

use crate::language::Programs;

/// A program that asks one question.
const ASKS: &str = "println(llm_call(\"What should I buy?\").text)\n";

/// A folder with that program and more files.
fn shop(files: &[(&str, &str)]) -> Programs {
    let programs = Programs::new(&[("main.harn", ASKS)]);
    for (name, text) in files {
        programs.add(name, text);
    }
    programs
}

/// A project whose models are asked at that address, with the key in `FAKE_API_KEY`.
fn project_of(url: &str) -> String {
    format!(
        "[llm]\ndefault_provider = \"fake\"\n\n[llm.providers.fake]\nbase_url = \"{url}\"\n\
         auth_style = \"bearer\"\nauth_env = \"FAKE_API_KEY\"\n\
         chat_endpoint = \"/chat/completions\"\n\
         healthcheck = {{ method = \"GET\", path = \"/models\" }}\n"
    )
}

/// The operator's own provider file that says the same: only what the operator says sends a key
/// to another host than that of its provider.
fn provider_file(url: &str) -> String {
    let project = project_of(url).replace("[llm]\n", "");
    project.replace("[llm.", "[")
}
