//! Asking models.

use super::table::builtins;

builtins! {
    "llm_available_providers() -> list<string>" [list] Model "Lists the providers that can be asked.";
    "llm_budget(dollars: int | float) -> nil" [nil] Model "Limits what the run may cost.";
    "llm_budget_remaining() -> float | nil" [] Model "Gives what the run may still cost.";
    "llm_call<T>(prompt: string, system: string | nil = nil, options: dict | nil = nil) -> dict" [dict] Model "Asks a model.";
    "llm_call_safe(prompt: string, system: string | nil = nil, options: dict | nil = nil) -> dict" [dict] Model "Asks a model and gives an error instead of throwing it.";
    "llm_call_structured<T>(prompt: string, schema: Schema<T>, options: dict | nil = nil) -> T" [] Model "Asks a model for data of a schema.";
    "llm_call_structured_result<T>(prompt: string, schema: Schema<T>, options: dict | nil = nil) -> dict" [] Model "Asks a model for data of a schema and tells all about the answer.";
    "llm_call_structured_safe(prompt: string, schema: dict, options: dict | nil = nil) -> dict" [dict] Model "Asks a model for data of a schema and gives an error instead of throwing it.";
    "llm_completion<T>(prefix: string, suffix: string | nil = nil, system: string | nil = nil, options: dict | nil = nil) -> dict" [dict] Model "Lets a model complete a text.";
    "llm_config(provider: string | nil = nil) -> dict | nil" [] Model "Tells how a provider is configured.";
    "llm_cost(model: string, input_tokens: int, output_tokens: int) -> float" [float] Model "Gives the price of tokens.";
    "llm_healthcheck(provider: string | dict, options: dict | nil = nil) -> dict" [dict] Model "Tells whether a provider answers.";
    "llm_infer_provider(model: string) -> string" [string] Model "Names the provider of a model.";
    "llm_info() -> dict" [dict] Model "Tells which model is asked by default.";
    "llm_known_models() -> list<string>" [list] Model "Lists the names of models.";
    "llm_mock(response: dict) -> nil" [nil] Model "Makes an answer stand for one of a model.";
    "llm_mock_calls() -> list<dict>" [list] Model "Lists what the mocked model was asked.";
    "llm_mock_clear() -> nil" [nil] Model "Forgets all mocked answers of models.";
    "llm_mock_pop_scope() -> nil" [nil] Model "Takes the mocked answers of models up again.";
    "llm_mock_push_scope() -> nil" [nil] Model "Sets the mocked answers of models aside.";
    "llm_model_info(selector: string) -> dict" [dict] Model "Tells what is known about a model.";
    "llm_model_tier(model: string) -> string" [string] Model "Names the tier of a model.";
    "llm_pick_model(target: string, options: dict | nil = nil) -> dict" [dict] Model "Picks a model of a tier.";
    "llm_provider_catalog() -> dict" [dict] Model "Tells everything known about providers and models.";
    "llm_providers() -> list<string>" [list] Model "Lists the providers.";
    "llm_qc_default_model(provider: string) -> string | nil" [string nil] Model "Names the model a provider checks quality with.";
    "llm_rate_limit(provider: string, options: dict | nil = nil) -> bool | int | nil" [] Model "Sets or gives the rate limit of a provider.";
    "llm_resolve_model(selector: string) -> dict" [dict] Model "Tells which model a name means.";
    "llm_session_cost() -> dict" [dict] Model "Gives what the run has cost.";
    "llm_stream(prompt: string, system: string | nil = nil, options: dict | nil = nil) -> channel" [] Model "Asks a model and gives its answer piece by piece.";
    "llm_usage() -> dict" [dict] Model "Counts the tokens and calls of the run.";
    "provider_capabilities(provider: string, model: string) -> dict" [dict] Model "Tells what a model can do.";
    "provider_capabilities_clear() -> bool" [bool] Model "Forgets what was added about what models can do.";
    "provider_capabilities_install(toml: string) -> bool" [bool] Model "Adds to what is known about what models can do.";
    "provider_register(name: string) -> bool" [bool] Model "Adds a provider that speaks as OpenAI does.";
    "with_rate_limit(provider: string, body: closure, options: dict | nil = nil) -> any" [] Model "Calls a function within the rate limit of a provider, again if it must.";
}
