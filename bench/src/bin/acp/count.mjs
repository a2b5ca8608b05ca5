// Counts updates through the TypeScript SDK: count.mjs COMMAND ARGUMENT...
//
// Prints how many nanoseconds the first prompt took and how many updates came with it.

import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const require = createRequire(process.env.HARN_BENCH_PACKAGES + "/");
const acp = await import(pathToFileURL(require.resolve("@agentclientprotocol/sdk")));

const [command, ...rest] = process.argv.slice(2);
const child = spawn(command, rest, { stdio: ["pipe", "pipe", "inherit"] });
const stream = acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));

let updates = 0;
const app = acp.client({ name: "harn-bench" }).onNotification(acp.methods.client.session.update, ({ params }) => {
  if (params.update.sessionUpdate === "agent_thought_chunk") updates += 1;
});

await app.connectWith(stream, async (ctx) => {
  const agent = acp.methods.agent;
  const harn = { agentEvents: false };
  await ctx.request(agent.initialize, { protocolVersion: 1, clientCapabilities: { _meta: { harn } } });
  const { sessionId } = await ctx.request(agent.session.new, { cwd: process.cwd(), mcpServers: [] });
  const started = process.hrtime.bigint();
  await ctx.request(agent.session.prompt, { sessionId, prompt: [{ type: "text", text: "hello" }] });
  const took = process.hrtime.bigint() - started;
  process.stdout.write(`${took} ${updates}\n`);
});
child.stdin.end();
process.exit(0);
