"""Writes a model whose weights are a table of which token follows which.

usage: scripted_gguf.py OUT.gguf

llama.cpp then answers exactly and at once. What it says depends on the last message:

    tools are declared, no result yet    one call
    "forever"                            a text that only the output cap ends
    "json"                               JSON that no sensible schema allows
    anything else                        a text
"""

import sys

import gguf
import numpy

# Followed by itself.
ENDLESS = " la"

SCRIPTS = {
    "<|say_text|>": ["Hello", " from", " a", " scripted", " model", "."],
    # "<tool_call>\n" must not be one token, or llama.cpp refuses it as a grammar's trigger.
    "<|say_call|>": [
        "<tool_", "call>\n",
        '{"name": "get_w", ', '"arguments": ', '{"on": ', "true, ", '"u": ', '"C"', "}}",
        "\n</tool_", "call>",
    ],
    "<|say_json|>": ['{"count"', ": ", '"many"', "}"],
    "<|say_much|>": ["La", ENDLESS],
}
TEMPLATE = """{%- if tools %}<|im_start|>system
# Tools
<tools>
{%- for tool in tools %}
{{ tool | tojson }}
{%- endfor %}
</tools>
For each function call, return a json object with function name and arguments within <tool_call></tool_call> XML tags:
<tool_call>
{"name": <function-name>, "arguments": <args-json-object>}
</tool_call><|im_end|>
{%- endif %}
{%- for message in messages %}
{%- if message.role == "assistant" %}
<|im_start|>assistant
{%- if message.content %}
{{ message.content }}
{%- endif %}
{%- for tool_call in message.tool_calls %}
{%- if tool_call.function is defined %}{%- set tool_call = tool_call.function %}{%- endif %}
<tool_call>
{"name": "{{ tool_call.name }}", "arguments": {{ tool_call.arguments | tojson }}}
</tool_call>
{%- endfor %}<|im_end|>
{%- elif message.role == "tool" %}
<|im_start|>user
<tool_response>
{{ message.content }}
</tool_response><|im_end|>
{%- else %}
<|im_start|>{{ message.role }}
{{ message.content }}<|im_end|>
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
<|im_start|>assistant
{%- if tools and messages[-1].role != 'tool' %}<|say_call|>
{%- elif 'forever' in messages[-1].content %}<|say_much|>
{%- elif 'json' in messages[-1].content %}<|say_json|>
{%- else %}<|say_text|>
{%- endif %}{%- endif %}
"""

UNKNOWN, CONTROL, USER_DEFINED, BYTE = 2, 3, 4, 6
END = 2


def vocabulary():
    """Texts and kinds of the tokens, and the number of each text of ours."""
    control = [*SCRIPTS, "<|im_start|>", "<|im_end|>"]
    pieces = [piece for script in SCRIPTS.values() for piece in script]
    assert len(set(pieces)) == len(pieces), "a token has one successor, so pieces differ"
    texts = [b"<unk>", b"<s>", b"</s>"]
    texts += [f"<0x{byte:02X}>".encode() for byte in range(256)]
    numbers = {text: len(texts) + at for at, text in enumerate(control + pieces)}
    texts += [text.encode() for text in control + pieces]
    kinds = [UNKNOWN, CONTROL, CONTROL] + [BYTE] * 256
    kinds += [CONTROL] * len(control) + [USER_DEFINED] * len(pieces)
    return texts, kinds, numbers


def successors(numbers):
    """Which token follows which; the end follows all others."""
    following = {}
    for begin, script in SCRIPTS.items():
        line = [numbers[begin], *(numbers[piece] for piece in script), END]
        following.update(zip(line, line[1:]))
    following[numbers[ENDLESS]] = numbers[ENDLESS]
    return following


def write(path):
    texts, kinds, numbers = vocabulary()
    count, heads, hidden = len(texts), 4, 64
    width = -(-count // 64) * 64
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("scripted")
    writer.add_context_length(8192)
    writer.add_embedding_length(width)
    writer.add_block_count(1)
    writer.add_feed_forward_length(hidden)
    writer.add_head_count(heads)
    writer.add_head_count_kv(heads)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(width // heads)
    writer.add_vocab_size(count)
    writer.add_file_type(0)
    writer.add_tokenizer_model("llama")
    writer.add_token_list(texts)
    writer.add_token_scores([0.0] * count)
    writer.add_token_types(kinds)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(END)
    writer.add_unk_token_id(0)
    writer.add_add_bos_token(True)
    writer.add_add_space_prefix(False)
    writer.add_chat_template(TEMPLATE)

    # Each token is a direction of its own, the layer in between adds nothing to it, and the
    # last matrix turns it into its successor's.
    embedding = numpy.zeros((count, width), numpy.float32)
    embedding[numpy.arange(count), numpy.arange(count)] = 1
    output = numpy.zeros((count, width), numpy.float32)
    following = successors(numbers)
    for token in range(count):
        output[following.get(token, END), token] = 10

    def constant(name, value, *shape):
        writer.add_tensor(name, numpy.full(shape, value, numpy.float32))

    writer.add_tensor("token_embd.weight", embedding)
    writer.add_tensor("output.weight", output)
    constant("output_norm.weight", 1, width)
    for name in ("attn_norm", "ffn_norm"):
        constant(f"blk.0.{name}.weight", 1, width)
    for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
        constant(f"blk.0.{name}.weight", 0, width, width)
    for name in ("ffn_gate", "ffn_up"):
        constant(f"blk.0.{name}.weight", 0, hidden, width)
    constant("blk.0.ffn_down.weight", 0, width, hidden)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


write(sys.argv[1])
