// Holds every frame of recorded wires against the schema of the protocol: check_wire.mjs WIRE...
//
// A wire is what an agent said, one JSON-RPC object a line. Requests and notifications are told
// by their method; a response by the method of the request it answers, so the file WIRE.in, what
// the client said, is read where there is one. Extension methods (`_…`) are not in the schema.

import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(process.env.HARN_TEST_PACKAGES + "/");
const Ajv = require("ajv/dist/2020").default;
const formats = require("ajv-formats").default;
const schema = require(process.env.HARN_TEST_PACKAGES + "/node_modules/@agentclientprotocol/sdk/schema/v1/schema.json");

const ajv = new Ajv({ strict: false, allErrors: false });
formats(ajv);
for (const name of ["uint16", "uint32", "uint64", "int32", "int64", "double", "uint"]) {
  ajv.addFormat(name, true);
}
ajv.addSchema(schema, "acp");

// The definitions say of themselves which method they belong to and which side handles it.
const definitions = schema.$defs ?? schema.definitions;
const place = schema.$defs ? "$defs" : "definitions";
function definition(method, side, ending) {
  for (const [name, found] of Object.entries(definitions)) {
    if (found["x-method"] === method && found["x-side"] === side && ending.test(name)) return name;
  }
}

const problems = [];
let frames = 0;

function check(where, name, value) {
  const validate = ajv.getSchema(`acp#/${place}/${name}`);
  if (!validate(value)) {
    const why = ajv.errorsText(validate.errors);
    problems.push(`${where}: not a ${name}: ${why}: ${JSON.stringify(value).slice(0, 400)}`);
  }
}

for (const wire of process.argv.slice(2)) {
  const asked = new Map();
  if (existsSync(wire + ".in")) {
    for (const line of readFileSync(wire + ".in", "utf8").split("\n").filter(Boolean)) {
      const frame = JSON.parse(line);
      if (frame.method && frame.id !== undefined) asked.set(JSON.stringify(frame.id), frame.method);
    }
  }
  readFileSync(wire, "utf8").split("\n").filter(Boolean).forEach((line, index) => {
    const where = `${wire}:${index + 1}`;
    let frame;
    try {
      frame = JSON.parse(line);
    } catch {
      problems.push(`${where}: not JSON: ${line.slice(0, 200)}`);
      return;
    }
    frames += 1;
    if (frame.jsonrpc !== "2.0") problems.push(`${where}: not JSON-RPC 2.0: ${line.slice(0, 200)}`);
    if (frame.method?.startsWith("_") || frame.method?.startsWith("$/")) return;
    if (frame.method) {
      const ending = frame.id === undefined ? /Notification$/ : /Request$/;
      const name = definition(frame.method, "client", ending);
      if (!name) problems.push(`${where}: unknown method ${frame.method}`);
      else check(where, name, frame.params);
    } else if (frame.result !== undefined) {
      const method = asked.get(JSON.stringify(frame.id));
      if (!method || method.startsWith("_")) return;
      const name = definition(method, "agent", /Response$/);
      if (name) check(where, name, frame.result);
    } else if (!Number.isInteger(frame.error?.code) || typeof frame.error?.message !== "string") {
      problems.push(`${where}: neither request, result nor error: ${line.slice(0, 200)}`);
    }
  });
}
process.stdout.write(JSON.stringify({ frames, problems }) + "\n");
process.exit(problems.length ? 1 : 0);
