//! Whatever a server sends on the wire `ollama`, the decoder keeps its promises.

#![no_main]

use harn_fuzz::wires::check;
use harn_llm::wire::Wire;

harn_fuzz::target!(|bytes| {
    check(Wire::Ollama, bytes);
});
