//! litellm, which takes one provider's language and asks in another's.

use harn_llm::wire::Wire;
use harn_llm::{StopReason, Thinking};
use serde_json::json;

use crate::asking::{Asked, question, tool, with_results};
use crate::servers::{PROXY_KEY, Proxy};

/// One test, because the proxy takes long to start.
#[tokio::test]
async fn both_directions_are_translated() {
    let proxy = Proxy::start();
    the_anthropic_wire_reaches_a_server_that_speaks_chat(&proxy).await;
    the_chat_wire_reaches_a_server_that_speaks_anthropic(&proxy).await;
}

fn at_the_proxy(proxy: &Proxy, wire: Wire) -> Asked {
    let key = format!("Bearer {PROXY_KEY}");
    Asked::at(&proxy.server.url, wire).header("authorization", &key)
}

/// Anthropic's language for us, OpenAI's for llama.cpp.
async fn the_anthropic_wire_reaches_a_server_that_speaks_chat(proxy: &Proxy) {
    let asked = at_the_proxy(proxy, Wire::Anthropic);
    let heard = asked.ask(&question("llama-chat", "hello")).await;
    assert_eq!(heard.reply().text, "Hello from a scripted model.");
    assert_eq!(heard.reply().usage.output, 7);

    let mut request = question("llama-chat", "how is it?");
    let properties = json!({"on": {"type": "boolean"}, "u": {"type": "string"}});
    request.tools = vec![tool("get_w", properties)].into();
    let heard = asked.ask(&request).await;
    let reply = heard.reply();
    let call = &reply.tool_calls[0];
    assert_eq!(call.arguments, json!({"on": true, "u": "C"}));
    let stop = reply.stop.as_ref().expect("a whole answer has an end");
    assert_eq!(stop.reason, StopReason::ToolUse);

    let request = with_results(request, Wire::Anthropic, reply, "21 °C");
    let heard = asked.ask(&request).await;
    assert_eq!(heard.reply().text, "Hello from a scripted model.");
}

/// OpenAI's language for us, Anthropic's for the mock.
async fn the_chat_wire_reaches_a_server_that_speaks_anthropic(proxy: &Proxy) {
    let asked = at_the_proxy(proxy, Wire::Chat);
    let mut request = question("mock-claude", "What is the weather?");
    request.thinking = Thinking::Disabled;
    request.tools = vec![
        tool("get_weather", json!({"city": {"type": "string"}})),
        tool("get_time", json!({})),
    ]
    .into();
    let heard = asked.ask(&request).await;
    let reply = heard.reply();
    assert_eq!(
        reply.thinking.as_deref(),
        Some("The user wants the weather.")
    );
    assert_eq!(reply.text, "Let me look.");
    let calls: Vec<_> = reply
        .tool_calls
        .iter()
        .map(|call| (call.id.as_str(), call.name.as_str(), &call.arguments))
        .collect();
    let weather = json!({"city": "Zürich", "days": [1, 2, 3]});
    let expected = [
        ("call_weather_1", "get_weather", &weather),
        ("call_weather_2", "get_time", &json!({})),
    ];
    assert_eq!(calls, expected);
    assert_eq!((reply.usage.input, reply.usage.output), (11, 22));

    let request = with_results(request, Wire::Chat, reply, "21 °C");
    let heard = asked.ask(&request).await;
    let expected = "It is 21 °C in Zürich, with a light wind from the lake.";
    assert_eq!(heard.reply().text, expected);
}
