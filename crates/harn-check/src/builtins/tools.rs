//! Tools, skills and plans.

use super::table::builtins;

builtins! {
    "clear_tool_hooks() -> nil" [nil] Pure "Removes all hooks of tool calls.";
    "load_skill(name: string) -> string" [string] Io "Gives the text of a skill that was discovered.";
    "plan_artifact(plan: any) -> dict" [dict] Pure "Makes a plan of what a model wrote.";
    "plan_entries(plan: any) -> list<dict>" [list] Pure "Gives the steps of a plan as hosts show them.";
    "register_tool_hook(hook: dict) -> nil" [nil] Pure "Looks at every tool call that matches a pattern.";
    "render_always_on_catalog(entries: list | dict, budget: int = 2000) -> string" [string] Pure "Writes the catalogue of skills for a model.";
    "skill_count(registry: dict) -> int" [int] Pure "Counts the skills of a registry.";
    "skill_define(registry: dict, name: string, config: dict | nil) -> dict" [dict] Pure "Adds a skill to a registry.";
    "skill_describe(registry: dict) -> string" [string] Pure "Describes the skills of a registry.";
    "skill_find(registry: dict, name: string) -> dict | nil" [] Pure "Finds a skill.";
    "skill_list(registry: dict) -> list<dict>" [list] Pure "Lists the skills of a registry.";
    "skill_registry() -> dict" [dict] Pure "Makes a registry without skills.";
    "skill_remove(registry: dict, name: string) -> dict" [dict] Pure "Gives a registry without a skill.";
    "skill_render(entry: dict | string, arguments: list | nil = nil) -> string" [string] Io "Writes a skill for a model.";
    "skill_select(registry: dict, names: list<string>) -> dict" [dict] Pure "Gives a registry with only some skills.";
    "skills_catalog_entries(registry: dict) -> list<dict>" [list] Pure "Gives the entries of the catalogue of skills.";
    "tool_bind(registry: dict | nil) -> dict | nil" [] Pure "Makes a registry the one of this scope.";
    "tool_count(registry: dict) -> int" [int] Pure "Counts the tools of a registry.";
    "tool_def(name: string) -> dict" [dict] Pure "Gives a tool of this scope, or fails.";
    "tool_define(registry: dict, name: string, description: string, config: dict) -> dict" [dict] Pure "Adds a tool to a registry.";
    "tool_describe(registry: dict) -> string" [string] Pure "Describes the tools of a registry.";
    "tool_find(registry: dict, name: string) -> dict | nil" [] Pure "Finds a tool.";
    "tool_format_result(name: string, result: any) -> string" [string] Pure "Writes the result of a tool call for a model.";
    "tool_list(registry: dict) -> list<dict>" [list] Pure "Lists the tools of a registry.";
    "tool_parse_call(text: string) -> list<dict>" [] Pure "Finds the tool calls in a text.";
    "tool_prompt(registry: dict) -> string" [string] Pure "Explains the tools of a registry to a model.";
    "tool_ref(name: string) -> string" [string] Pure "Gives the name of a tool of this scope, or fails.";
    "tool_registry() -> dict" [dict] Pure "Makes a registry without tools.";
    "tool_remove(registry: dict, name: string) -> dict" [dict] Pure "Gives a registry without a tool.";
    "tool_schema(registry: dict, components: dict | nil = nil) -> dict" [dict] Pure "Gives the schemas of the tools of a registry.";
    "tool_select(registry: dict, names: list<string>) -> dict" [dict] Pure "Gives a registry with only some tools.";
    "tool_surface_validate(surface: any = nil, options: dict | nil = nil) -> dict" [dict] Pure "Checks that tools, prompts and policies fit together.";
    "tool_synth_invoke(spec: dict, arguments: dict = {}) -> any" [] Model "Calls a tool that a model made.";
    "tool_synthesis_cache() -> list<dict>" [list] Pure "Lists the tools that models made.";
    "tool_synthesis_clear() -> nil" [nil] Pure "Forgets the tools that models made.";
    "tool_synthesize(config: dict) -> any" [] Model "Lets a model make a tool.";
}
