// An editor on the TypeScript SDK: does the steps of a file and tells what came of each.
//
//     client.mjs STEPS stdio COMMAND ARGUMENT...
//     client.mjs STEPS net WIRES
//
// See client.py, which does the same on the Python SDK.

import { spawn } from "node:child_process";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { createRequire } from "node:module";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";
import { isDeepStrictEqual } from "node:util";

// The packages are installed elsewhere, and modules are looked for beside the file.
const require = createRequire(process.env.HARN_TEST_PACKAGES + "/");
const load = (name) => import(pathToFileURL(require.resolve(name)));
const acp = await load("@agentclientprotocol/sdk/unstable");

const LIMIT_MS = 60_000;
const [file, transport, ...rest] = process.argv.slice(2);
const steps = JSON.parse(readFileSync(file, "utf8"));

// What was seen since the last step began, and how the editor answers.
const editor = { answer: "allow_once", terminals: new Map(), released: [] };
forget();

function forget() {
  Object.assign(editor, { updates: [], asked: [], extensions: [], until: undefined });
}

const client = acp.methods.client;
const app = acp
  .client({ name: "harn-test-typescript" })
  .onNotification(client.session.update, ({ params }) => {
    editor.updates.push(params.update);
    if (editor.until?.fits(params.update)) editor.until.seen();
  })
  .onRequest(client.session.requestPermission, ({ params }) => {
    const option = params.options.find((option) => option.kind === editor.answer);
    editor.asked.push({
      method: client.session.requestPermission,
      toolCallId: params.toolCall.toolCallId,
      kinds: params.options.map((option) => option.kind).sort(),
      approval: Object.keys(params._meta?.harn?.approval ?? {}).sort(),
    });
    if (!option) return { outcome: { outcome: "cancelled" } };
    return { outcome: { outcome: "selected", optionId: option.optionId } };
  })
  .onRequest(client.fs.readTextFile, ({ params }) => {
    editor.asked.push({ method: client.fs.readTextFile, path: params.path });
    return { content: readFileSync(params.path, "utf8") };
  })
  .onRequest(client.fs.writeTextFile, ({ params }) => {
    editor.asked.push({ method: client.fs.writeTextFile, path: params.path });
    writeFileSync(params.path, params.content);
    return {};
  })
  .onRequest(client.terminal.create, ({ params }) => {
    editor.asked.push({ method: client.terminal.create, command: params.command, args: params.args });
    const terminal = { output: "", ended: undefined };
    const options = { cwd: params.cwd, detached: true, stdio: ["ignore", "pipe", "pipe"] };
    terminal.process = spawn(params.command, params.args ?? [], options);
    terminal.process.stdout.on("data", (piece) => (terminal.output += piece));
    terminal.process.stderr.on("data", (piece) => (terminal.output += piece));
    terminal.end = new Promise((resolve) => {
      terminal.process.on("close", (code, signal) => {
        terminal.ended = { exitCode: code, signal };
        resolve(terminal.ended);
      });
    });
    const terminalId = `terminal-${editor.terminals.size}`;
    editor.terminals.set(terminalId, terminal);
    return { terminalId };
  })
  .onRequest(client.terminal.output, ({ params }) => {
    const terminal = editor.terminals.get(params.terminalId);
    return { output: terminal.output, truncated: false, exitStatus: terminal.ended };
  })
  .onRequest(client.terminal.waitForExit, ({ params }) => editor.terminals.get(params.terminalId).end)
  .onRequest(client.terminal.kill, ({ params }) => {
    editor.asked.push({ method: client.terminal.kill });
    kill(editor.terminals.get(params.terminalId));
    return {};
  })
  .onRequest(client.terminal.release, ({ params }) => {
    editor.released.push(params.terminalId);
    editor.letGo?.();
    kill(editor.terminals.get(params.terminalId));
    return {};
  });

function kill(terminal) {
  if (!terminal.ended) process.kill(-terminal.process.pid, "SIGKILL");
}

function seen() {
  const chunks = editor.updates.filter((update) => update.sessionUpdate === "agent_message_chunk");
  return {
    text: chunks.map((chunk) => chunk.content.text).join(""),
    updates: editor.updates,
    asked: editor.asked,
    extensions: editor.extensions,
    terminals: { made: [...editor.terminals.keys()].sort(), released: [...editor.released].sort() },
  };
}

/** Ends when an update has the wanted fields, or the turn is over without one. */
function reaches(wanted, turn) {
  const fits = (update) =>
    Object.entries(wanted).every(([key, value]) => isDeepStrictEqual(update[key], value));
  if (editor.updates.some(fits)) return;
  const seen = new Promise((resolve) => (editor.until = { fits, seen: resolve }));
  return Promise.race([seen, turn.catch(() => {})]);
}

const agent = { ...acp.methods.agent };
let connection;
let session;
let child;

const doing = {
  async connect(_ctx, step) {
    await leave();
    connection = app.connect(recorded(await network(step)));
    return {};
  },
  async knock(ctx, step) {
    // A refusal shows in the first message, and says its status in one of two ways.
    try {
      await doing.connect(ctx, step);
      await doing.initialize(connection.agent, step);
      return { status: 200 };
    } catch (error) {
      const status = error.status ?? Number(/server response: (\d+)/.exec(error.message)?.[1]);
      if (!status) throw error;
      return { status };
    }
  },
  initialize: (ctx, step) =>
    ctx.request(agent.initialize, {
      protocolVersion: acp.PROTOCOL_VERSION,
      clientCapabilities: {
        fs: { readTextFile: step.fs ?? false, writeTextFile: step.fs ?? false },
        terminal: step.terminal ?? false,
      },
      clientInfo: { name: "harn-test-typescript", version: "0" },
    }),
  async new(ctx, step) {
    const answer = await ctx.request(agent.session.new, { cwd: step.cwd, mcpServers: [] });
    session = answer.sessionId;
    return answer;
  },
  async use(_ctx, step) {
    session = step.session;
    return {};
  },
  async answer(_ctx, step) {
    editor.answer = step.with;
    return {};
  },
  async prompt(ctx, step) {
    forget();
    const prompt = [{ type: "text", text: step.text }];
    const turn = ctx.request(agent.session.prompt, { sessionId: session, prompt });
    if (step.cancel_at) {
      await reaches(step.cancel_at, turn);
      await ctx.notify(agent.session.cancel, { sessionId: session });
    }
    const answer = await turn;
    return { ...answer, ...seen() };
  },
  async kill_at(ctx, step) {
    forget();
    const prompt = [{ type: "text", text: step.text }];
    const turn = ctx.request(agent.session.prompt, { sessionId: session, prompt });
    turn.catch(() => {});
    const pipe = await open(step.at);
    await pipe.read(Buffer.alloc(1), 0, 1);
    await pipe.close();
    child.kill("SIGKILL");
    return {};
  },
  async load(ctx, step) {
    forget();
    const wanted = { cwd: step.cwd, sessionId: session, mcpServers: [], _meta: step.meta };
    const answer = await ctx.request(agent.session.load, wanted);
    return { ...answer, ...seen() };
  },
  resume: (ctx, step) =>
    ctx.request(agent.session.resume, { cwd: step.cwd, sessionId: session, mcpServers: [] }),
  async fork(ctx, step) {
    const wanted = { cwd: step.cwd, sessionId: session, mcpServers: [], _meta: step.meta };
    const answer = await ctx.request(agent.session.fork, wanted);
    session = answer.sessionId;
    return answer;
  },
  list: (ctx, step) => ctx.request(agent.session.list, step.cwd ? { cwd: step.cwd } : {}),
  async mode(ctx, step) {
    forget();
    const answer = await ctx.request(agent.session.setMode, { sessionId: session, modeId: step.mode });
    return { ...answer, ...seen() };
  },
  config: (ctx, step) =>
    ctx.request(agent.session.setConfigOption, {
      sessionId: session,
      configId: step.option,
      value: step.value,
    }),
  async released(_ctx, step) {
    while (editor.released.length < step.count) {
      await new Promise((resolve) => (editor.letGo = resolve));
    }
    return { released: [...editor.released].sort(), asked: editor.asked };
  },
  close: (ctx) => ctx.request(agent.session.close, { sessionId: session }),
};

/** Closes the connection and waits until it is. */
async function leave() {
  connection?.close();
  await connection?.closed;
}

async function network({ transport, url, token }) {
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  if (transport === "http") {
    const { createHttpStream } = await load("@agentclientprotocol/sdk/experimental/http-client");
    return createHttpStream(url, { headers });
  }
  const { createWebSocketStream } = await load("@agentclientprotocol/sdk/experimental/ws-client");
  return createWebSocketStream(url, { headers, WebSocket: require("ws") });
}

/** Writes down every message: what the agent says, and with the ending `.in` what it is told. */
function recorded(stream) {
  const file = `${rest[0]}/net-${process.pid}-${process.hrtime.bigint()}`;
  for (const name of [file, file + ".in"]) writeFileSync(name, "");
  const note = (name, message) => appendFileSync(name, JSON.stringify(message) + "\n");
  const writer = stream.writable.getWriter();
  const write = (message) => {
    note(file + ".in", message);
    return writer.write(message);
  };
  const transform = (message, controller) => {
    note(file, message);
    controller.enqueue(message);
  };
  return {
    readable: stream.readable.pipeThrough(new TransformStream({ transform })),
    writable: new WritableStream({ write, close: () => writer.close(), abort: (why) => writer.abort(why) }),
  };
}

function started() {
  child = spawn(rest[0], rest.slice(1), { stdio: ["pipe", "pipe", "inherit"] });
  return acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
}

function within(work) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error("no answer in time")), LIMIT_MS);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

if (transport === "stdio") connection = app.connect(started());
for (const step of steps) {
  let outcome;
  try {
    outcome = (await within(doing[step.do](connection?.agent, step))) ?? {};
  } catch (error) {
    if (!(error instanceof acp.RequestError)) throw error;
    outcome = { error: { code: error.code, message: error.message, data: error.data } };
  }
  process.stdout.write(JSON.stringify(outcome) + "\n");
}
await leave();
child?.stdin.end();
await new Promise((resolve) => (child && child.exitCode === null ? child.on("close", resolve) : resolve()));
process.exit(0);
