// A host on the TypeScript SDK: lends an agent what it can do, and tells what it was asked for.
//
//     host.mjs SCRIPT REPORT bare
//     host.mjs SCRIPT REPORT ws URL
//
// See host.py, which does the same on the Python SDK.

import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

// The packages are installed elsewhere, and modules are looked for beside the file.
const require = createRequire(process.env.HARN_TEST_PACKAGES + "/");
const load = (name) => import(pathToFileURL(require.resolve(name)));
const acp = await load("@agentclientprotocol/sdk/unstable");

const LIMIT_MS = 60_000;
const [script, report, transport, ...rest] = process.argv.slice(2);

const host = { calls: {}, permit: "allow_once", people: undefined, session: undefined, withdrawn: [] };
let waiting = [];
forget();

function forget() {
  Object.assign(host, { updates: [], asked: [], told: [], answers: [] });
}

/** Waits until something is true of what was asked and told. */
function until(holds) {
  if (holds()) return undefined;
  return new Promise((resolve) => waiting.push({ holds, resolve }));
}

function changed() {
  const met = waiting.filter((one) => one.holds());
  waiting = waiting.filter((one) => !met.includes(one));
  for (const one of met) one.resolve();
}

const raw = (params) => params;
const client = acp.methods.client;
const app = acp
  .client({ name: "harn-test-typescript-host" })
  .onNotification(client.session.update, ({ params }) => {
    host.updates.push(params.update);
    changed();
  })
  .onRequest(client.session.requestPermission, ({ params }) => {
    host.asked.push({ method: client.session.requestPermission, name: params.toolCall.title });
    const option = params.options.find((option) => option.kind === host.permit);
    if (!option) return { outcome: { outcome: "cancelled" } };
    return { outcome: { outcome: "selected", optionId: option.optionId } };
  })
  .onRequest("_harn/host/capabilities", raw, () => {
    note({ method: "_harn/host/capabilities" });
    const operations = Object.keys(host.calls).filter((name) => name.includes("."));
    const named = operations.map((name) => name.split("."));
    return Object.fromEntries(
      named.map(([name]) => [name, named.filter((one) => one[0] === name).map((one) => one[1])]),
    );
  })
  .onRequest("_harn/host/tools/list", raw, () => {
    note({ method: "_harn/host/tools/list" });
    const tools = Object.keys(host.calls).filter((name) => !name.includes("."));
    return tools.map((name) => ({ name }));
  })
  .onNotification("_harn/agentEvent", raw, ({ params }) => {
    host.told.push({ method: "_harn/agentEvent", kind: params.kind });
    changed();
  })
  .onNotification("_harn/hitl/requested", raw, async ({ params }) => {
    host.told.push({ method: "_harn/hitl/requested", kind: params.kind });
    const wanted = { requestId: params.requestId, sessionId: host.session, ...host.people };
    host.answers.push(await connection.agent.request("_harn/hitl/respond", wanted));
    changed();
  });
for (const method of ["_harn/host/call", "_harn/host/builtin"]) {
  app.onRequest(method, raw, ({ params, signal }) => {
    const { name, args } = params;
    note({ method, name, args });
    signal.addEventListener("abort", () => {
      host.withdrawn.push(name);
      changed();
    });
    if (!(name in host.calls)) throw acp.RequestError.methodNotFound(method);
    return perform(host.calls[name]);
  });
}

function note(asked) {
  host.asked.push(asked);
  changed();
}

async function perform(actions) {
  for (const action of [...actions]) {
    const [[kind, value]] = Object.entries(action);
    if (kind === "result") return value;
    if (kind === "error") throw new acp.RequestError(value.code, value.message);
    if (kind === "once") {
      // What is said the first time that the call is made.
      actions.splice(actions.indexOf(action), 1);
      const input = { sessionId: host.session, ...value };
      host.answers.push(await connection.agent.request("_harn/session/input", input));
    }
    if (kind === "meet") await until(() => host.asked.some((asked) => asked.name === value));
    if (kind === "withdrawn") await until(() => host.withdrawn.includes(value));
    if (kind === "cancel") await connection.agent.notify(agent.session.cancel, { sessionId: host.session });
    if (kind === "interrupt") process.kill(Number(process.env.HARN_TEST_PROGRAM), "SIGINT");
    if (kind === "vanish") process.kill(process.pid, "SIGKILL");
  }
  return new Promise(() => {}); // It never answers.
}

const agent = acp.methods.agent;
const said = () =>
  host.updates
    .filter((update) => update.sessionUpdate === "agent_message_chunk")
    .map((chunk) => chunk.content.text)
    .join("");

const doing = {
  initialize: (step) =>
    connection.agent.request(agent.initialize, {
      protocolVersion: acp.PROTOCOL_VERSION,
      clientCapabilities: { _meta: { harn: step.harn } },
      clientInfo: { name: "harn-test-typescript-host", version: "0" },
    }),
  async new(step) {
    const answer = await connection.agent.request(agent.session.new, { cwd: step.cwd, mcpServers: [] });
    host.session = answer.sessionId;
    return answer;
  },
  load(step) {
    host.session = step.session;
    const wanted = { cwd: step.cwd, sessionId: host.session, mcpServers: [] };
    return connection.agent.request(agent.session.load, wanted);
  },
  close: () => connection.agent.request(agent.session.close, { sessionId: host.session }),
  prompt(step) {
    const prompt = [{ type: "text", text: step.text }];
    return connection.agent.request(agent.session.prompt, { sessionId: host.session, prompt });
  },
  async load_until(step) {
    // What was said meanwhile is replayed, or comes when it happens.
    const answer = await doing.load(step);
    await until(() => said().includes(step.text));
    return answer;
  },
  serve: () => connection.closed,
};

/** Writes down every message. */
function recorded(stream) {
  const file = process.env.HARN_TEST_WIRE;
  for (const name of [file, file + ".in"]) writeFileSync(name, "");
  const line = (path, message) => appendFileSync(path, JSON.stringify(message) + "\n");
  const writer = stream.writable.getWriter();
  return {
    readable: stream.readable.pipeThrough(
      new TransformStream({
        transform(message, controller) {
          line(file, message);
          controller.enqueue(message);
        },
      }),
    ),
    writable: new WritableStream({
      write(message) {
        line(file + ".in", message);
        return writer.write(message);
      },
      close: () => writer.close(),
      abort: (reason) => writer.abort(reason),
    }),
  };
}

async function stream() {
  if (transport === "bare") {
    return acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin));
  }
  const { createWebSocketStream } = await load("@agentclientprotocol/sdk/experimental/ws-client");
  return createWebSocketStream(rest[0], { WebSocket: require("ws") });
}

function within(work) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error("no answer in time")), LIMIT_MS);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

const connection = app.connect(recorded(await stream()));
for (const step of JSON.parse(readFileSync(script, "utf8"))) {
  // A program without sessions has begun by the time that it is served.
  if (step.do !== "serve") forget();
  for (const key of ["calls", "permit", "people"]) host[key] = step[key] ?? host[key];
  const answer = await within(doing[step.do](step));
  const { updates, asked, told, answers, withdrawn } = host;
  const outcome = { ...answer, text: said(), updates, asked, told, answers, withdrawn };
  appendFileSync(report, JSON.stringify(outcome) + "\n");
}
connection.close();
process.exit(0);
