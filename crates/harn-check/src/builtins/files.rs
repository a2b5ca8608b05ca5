//! Files and paths.

use super::table::builtins;

builtins! {
    "append_file(path: string, content: any) -> nil" [nil] Io "Writes at the end of a file.";
    "copy_file(source: string, target: string) -> nil" [nil] Io "Copies a file.";
    "delete_file(path: string) -> nil" [nil] Io "Deletes a file, or a directory with what is in it.";
    "file_exists(path: string) -> bool" [bool] Io "Tells whether there is a file or a directory.";
    r#"glob(pattern: string, base: string | dict = ".", options: dict | nil = nil) -> list<string>"# [list] Io "Lists the files that match a pattern.";
    r#"list_dir(path: string = ".") -> list<string>"# [list] Io "Names what is in a directory.";
    "mkdir(path: string) -> nil" [nil] Io "Makes a directory and those above it.";
    "move_file(source: string, target: string) -> nil" [nil] Io "Moves a file.";
    "path_basename(path: string) -> string" [string] Pure "Gives the last part of a path.";
    "path_extension(path: string) -> string" [string] Pure "Gives the extension of a path with its dot.";
    "path_is_absolute(path: string) -> bool" [bool] Pure "Tells whether a path starts at a root.";
    "path_is_relative(path: string) -> bool" [bool] Pure "Tells whether a path starts at no root.";
    "path_join(...parts: string) -> string" [string] Pure "Joins the parts of a path.";
    "path_normalize(path: string) -> string" [string] Pure "Resolves the dots of a path.";
    "path_parent(path: string) -> string" [string] Pure "Gives the directory of a path.";
    "path_parts(path: string) -> dict" [dict] Pure "Takes a path apart.";
    "path_relative_to(path: string, base: string) -> string | nil" [] Pure "Gives the way from one path to another.";
    "path_segments(path: string) -> list<string>" [list] Pure "Gives the parts of a path.";
    "path_stem(path: string) -> string" [string] Pure "Gives the last part of a path without its extension.";
    "path_to_native(path: string) -> string" [string] Pure "Writes a path with slashes.";
    "path_to_posix(path: string) -> string" [string] Pure "Writes a path with slashes.";
    "path_with_extension(path: string, extension: string) -> string" [string] Pure "Gives a path with another extension.";
    "path_with_stem(path: string, stem: string) -> string" [string] Pure "Gives a path with another name before its extension.";
    "path_workspace_info(path: string, root: string | nil = nil) -> dict" [dict] Io "Tells where in the workspace a path lies.";
    "path_workspace_normalize(path: string, root: string | nil = nil) -> string | nil" [string nil] Io "Gives a path relative to the workspace.";
    "read_file(path: string) -> string" [string] Io "Reads a file as text.";
    "read_file_bytes(path: string) -> bytes" [bytes] Io "Reads a file.";
    "read_file_result(path: string) -> Result<string, string>" [] Io "Reads a file as text, or tells why not.";
    "read_lines(path: string) -> list<string>" [list] Io "Reads the lines of a file.";
    "stat(path: string) -> dict" [dict] Io "Tells size, kind and age of a file.";
    "temp_dir() -> string" [string] Io "Names the directory for temporary files.";
    "walk_dir(root: string, options: dict | nil = nil) -> list" [list] Io "Lists everything below a directory.";
    "write_file(path: string, content: any) -> nil" [nil] Io "Writes a file.";
    "write_file_bytes(path: string, content: bytes) -> nil" [nil] Io "Writes bytes into a file.";
}
