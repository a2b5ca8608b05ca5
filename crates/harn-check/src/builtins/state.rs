//! What outlives a run: databases, the store, checkpoints, metadata of directories, templates.

use super::table::builtins;

builtins! {
    "checkpoint(key: string, value: any) -> nil" [] Io "Keeps a value for the next run of the pipeline.";
    "checkpoint_clear() -> nil" [] Io "Forgets all values that were kept.";
    "checkpoint_delete(key: string) -> nil" [] Io "Forgets a value that was kept.";
    "checkpoint_exists(key: string) -> bool" [] Io "Tells whether a value was kept.";
    "checkpoint_get(key: string) -> any" [] Io "Gives a value that was kept.";
    "checkpoint_list() -> list<string>" [] Io "Lists the keys values were kept under.";
    "compute_content_hash(directory: string) -> string" [string] Io "Gives a hash of what is in a directory.";
    "invalidate_facts(...arguments: any) -> nil" [nil] Io "Does nothing yet.";
    "metadata_entries(namespace: string | nil = nil) -> list<dict>" [list] Io "Lists the directories something is noted about.";
    "metadata_get(directory: string, namespace: string | nil = nil) -> dict | nil" [dict] Io "Gives the fields noted about a directory and those above it.";
    "metadata_refresh_hashes() -> nil" [nil] Io "Notes how directories look now.";
    "metadata_resolve(directory: string, namespace: string | nil = nil) -> dict | nil" [dict] Io "Gives the fields noted about a directory and those above it, by namespace.";
    "metadata_save() -> nil" [nil] Io "Writes the notes to their files.";
    "metadata_set(directory: string, namespace: string, fields: dict) -> nil" [nil] Io "Notes fields about a directory.";
    "metadata_stale() -> dict" [] Io "Lists the directories that changed since they were noted.";
    "metadata_status(namespace: string | nil = nil) -> dict" [dict] Io "Tells how complete and how fresh the notes are.";
    "pg_close(pool: dict) -> bool" [bool] Io "Closes connections to a database.";
    "pg_connect(source: string | dict, options: dict | nil = nil) -> dict" [dict] Io "Opens one connection to a Postgres database.";
    "pg_execute(handle: dict, sql: string, params: list = []) -> dict" [dict] Io "Executes a statement.";
    "pg_mock_calls(mock: dict) -> list<dict>" [list] Io "Lists what a mocked database was asked.";
    "pg_mock_pool(fixtures: list<dict>) -> dict" [dict] Io "Makes answers stand for those of a database.";
    "pg_pool(source: string | dict, options: dict | nil = nil) -> dict" [dict] Io "Opens connections to a Postgres database.";
    "pg_query(handle: dict, sql: string, params: list = []) -> list<dict>" [list] Io "Gives the rows of a query.";
    "pg_query_one(handle: dict, sql: string, params: list = []) -> dict | nil" [] Io "Gives the first row of a query.";
    "pg_transaction(pool: dict, body: closure, options: dict | nil = nil) -> any" [] Io "Does what a function does, all or nothing.";
    "prompt_mark_rendered(prompt_id: string) -> int" [int] Io "Counts that a prompt was used.";
    "render(path: string, bindings: dict = {}) -> string" [string] Io "Renders a template file.";
    "render_prompt(path: string, bindings: dict = {}) -> string" [string] Io "Renders a template file.";
    "render_string(template: string, bindings: dict = {}) -> string" [string] Io "Renders a template.";
    "render_with_provenance(path: string, bindings: dict = {}) -> dict" [dict] Io "Renders a template file and tells where every piece comes from.";
    "scan_directory(directory: string, pattern: string | dict | nil = nil, options: dict | nil = nil) -> list<dict>" [] Io "Lists the files below a directory that match a pattern.";
    "store_clear() -> nil" [] Io "Removes everything stored.";
    "store_delete(key: string) -> nil" [] Io "Removes what is stored under a key.";
    "store_get(key: string) -> any" [] Io "Gives what is stored under a key.";
    "store_list() -> list<string>" [] Io "Lists the keys something is stored under.";
    "store_save() -> nil" [] Io "Writes the store to its file.";
    "store_set(key: string, value: any) -> nil" [] Io "Stores a value under a key.";
}
