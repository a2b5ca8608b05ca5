//! Conversations and transcripts.

use super::table::builtins;

builtins! {
    "add_assistant(conversation: list | dict, content: any) -> list | dict" [] Pure "Adds a message of the assistant.";
    "add_message(conversation: list | dict, role: string, content: any) -> list | dict" [] Pure "Adds a message.";
    "add_system(conversation: list | dict, content: any) -> list | dict" [] Pure "Adds a message of the system.";
    "add_tool_result(conversation: list | dict, tool_use_id: string, content: any) -> list | dict" [] Pure "Adds the result of a tool call.";
    "add_user(conversation: list | dict, content: any) -> list | dict" [] Pure "Adds a message of the user.";
    "conversation() -> list" [list] Pure "Gives a list without messages.";
    "estimate_tokens(messages: list) -> int" [int] Pure "Estimates the tokens of messages.";
    "microcompact(text: string, max_chars: int = 20000) -> string" [string] Pure "Shortens the output of a tool.";
    "transcript(metadata: dict | nil = nil) -> dict" [dict] Random "Makes a transcript without messages.";
    "transcript_abandon(transcript: dict) -> dict" [dict] Pure "Marks a transcript as abandoned.";
    "transcript_add_asset(transcript: dict, asset: any) -> dict" [dict] Random "Adds an asset to a transcript.";
    "transcript_archive(transcript: dict) -> dict" [dict] Pure "Marks a transcript as archived.";
    "transcript_assets(transcript: dict) -> list<dict>" [list] Pure "Gives the assets of a transcript.";
    "transcript_auto_compact(messages: list, options: dict | nil = nil) -> list" [] Model "Shortens messages if they have become too many.";
    "transcript_compact(transcript: dict, options: dict | nil = nil) -> dict" [dict] Model "Shortens a transcript.";
    "transcript_events(transcript: dict) -> list<dict>" [list] Pure "Gives the events of a transcript.";
    "transcript_events_by_kind(transcript: dict, kind: string) -> list<dict>" [list] Pure "Gives the events of a kind.";
    "transcript_export(transcript: dict) -> string" [string] Pure "Writes a transcript as JSON.";
    "transcript_fork(transcript: dict, options: dict | nil = nil) -> dict" [] Pure "Copies a transcript.";
    "transcript_from_messages(messages: list | dict) -> dict" [dict] Random "Makes a transcript of messages.";
    "transcript_id(transcript: dict) -> string" [string] Pure "Gives the id of a transcript.";
    "transcript_import(text: string) -> dict" [] Pure "Reads a transcript.";
    "transcript_messages(transcript: dict) -> list<dict>" [list] Pure "Gives the messages of a transcript.";
    "transcript_render_full(transcript: dict) -> string" [string] Pure "Shows a transcript as text.";
    "transcript_render_visible(transcript: dict) -> string" [string] Pure "Shows what people may see of a transcript as text.";
    "transcript_reset(options: dict | nil = nil) -> dict" [dict] Random "Makes a transcript that starts anew.";
    "transcript_resume(transcript: dict) -> dict" [dict] Pure "Marks a transcript as active.";
    "transcript_stats(transcript: any) -> dict" [dict] Pure "Counts what is in a transcript.";
    "transcript_summarize(transcript: dict, options: dict | nil = nil) -> dict" [dict] Model "Lets a model sum a transcript up.";
    "transcript_summary(transcript: dict) -> string | nil" [string nil] Pure "Gives the summary of a transcript.";
}
