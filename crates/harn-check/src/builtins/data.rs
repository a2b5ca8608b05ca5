//! Data formats and schemas.

use super::table::builtins;

builtins! {
    "csv_parse(text: string, options: dict | nil = nil) -> list" [list] Pure "Reads the rows of a CSV text.";
    "csv_stringify(rows: list, options: dict | nil = nil) -> string" [string] Pure "Writes rows as CSV.";
    "is_type(value: any, schema: dict) -> bool" [bool] Pure "Tells whether a value fits a schema.";
    "jq(document: any, query: string) -> list" [list] Pure "Gives everything a query finds in a document.";
    "jq_first(document: any, query: string) -> any" [] Pure "Gives the first thing a query finds in a document.";
    "json_extract(text: string, key: string | nil = nil) -> any" [] Pure "Finds and reads JSON inside prose.";
    "json_parse(text: string) -> any" [] Pure "Reads JSON.";
    "json_pointer(document: any, pointer: string) -> any" [] Pure "Gives what a JSON pointer points at.";
    "json_pointer_delete(document: any, pointer: string) -> any" [] Pure "Gives a document without what a pointer points at.";
    "json_pointer_set(document: any, pointer: string, value: any) -> any" [] Pure "Gives a document with a value at a pointer.";
    "json_stringify(value: any) -> string" [string] Pure "Writes JSON.";
    "json_validate(value: any, schema: dict) -> bool" [bool] Pure "Throws unless a value fits a schema.";
    "multipart_field_bytes(field: dict) -> bytes" [bytes] Pure "Gives what a field of a form holds.";
    "multipart_field_text(field: dict) -> string" [string] Pure "Gives what a field of a form holds, as text.";
    "multipart_form_data(fields: list<dict>, options: dict | nil = nil) -> dict" [dict] Pure "Writes fields as a form to be sent.";
    "multipart_parse(body: string | bytes, content_type: string, options: dict | nil = nil) -> dict" [dict] Pure "Reads the fields of a form that was sent.";
    "parse_junit_xml(text: string | bytes | nil) -> list<dict>" [list] Pure "Reads the test cases of a JUnit report.";
    "schema_check<T>(value: any, schema: Schema<T>) -> Result<T, dict>" [] Pure "Checks a value against a schema.";
    "schema_expect<T>(value: any, schema: Schema<T>, apply_defaults: bool = false) -> T" [] Pure "Gives a value that fits a schema, or throws.";
    "schema_extend(base: dict, overrides: dict) -> dict" [dict] Pure "Gives a schema with some keys replaced.";
    "schema_from_json_schema(schema: dict) -> dict" [dict] Pure "Reads a JSON Schema.";
    "schema_from_openapi_schema(schema: dict) -> dict" [dict] Pure "Reads a schema of OpenAPI.";
    "schema_is(value: any, schema: dict) -> bool" [bool] Pure "Tells whether a value fits a schema.";
    "schema_of(type_alias: any) -> dict" [dict] Pure "Gives the schema of a type alias.";
    "schema_omit(schema: dict, keys: list<string>) -> dict" [dict] Pure "Gives a schema without some fields.";
    "schema_parse<T>(value: any, schema: Schema<T>) -> Result<T, dict>" [] Pure "Checks a value against a schema after filling in its defaults.";
    "schema_partial(schema: dict) -> dict" [dict] Pure "Gives a schema that requires no field.";
    "schema_pick(schema: dict, keys: list<string>) -> dict" [dict] Pure "Gives a schema with only some fields.";
    "schema_to_json_schema(schema: dict) -> dict" [dict] Pure "Writes a schema as JSON Schema.";
    "schema_to_openapi_schema(schema: dict) -> dict" [dict] Pure "Writes a schema as OpenAPI wants it.";
    "toml_parse(text: string) -> dict" [] Pure "Reads TOML.";
    "toml_stringify(value: any) -> string" [string] Pure "Writes TOML.";
    "yaml_parse(text: string) -> any" [] Pure "Reads YAML.";
    "yaml_stringify(value: any) -> string" [string] Pure "Writes YAML.";
}
