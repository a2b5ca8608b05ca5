// Holds every frame of recorded wires against the schema of the protocol: check_wire.mjs WIRE...
//
// A wire is what an agent said on one connection, one JSON-RPC object a line. Requests and
// notifications are told by their method; a response by the method of the request it answers,
// which is in the file WIRE.in, what the client said. Extension methods (`_…`) are not in the
// schema. What is not stable, such as `session/fork`, is held against the schema that has it.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(process.env.HARN_TEST_PACKAGES + "/");
const Ajv = require("ajv/dist/2020").default;
const formats = require("ajv-formats").default;
const schemas = process.env.HARN_TEST_PACKAGES + "/node_modules/@agentclientprotocol/sdk/schema/v1/";

const ajv = new Ajv({ strict: false, allErrors: false });
formats(ajv);
for (const name of ["uint16", "uint32", "uint64", "int32", "int64", "double", "uint"]) {
  ajv.addFormat(name, true);
}
const books = ["schema.json", "schema.unstable.json"].map((file) => {
  const schema = require(schemas + file);
  ajv.addSchema(schema, file);
  const place = schema.$defs ? "$defs" : "definitions";
  return { at: `${file}#/${place}/`, definitions: schema[place] };
});

// The definitions say of themselves which method they belong to and which side handles it.
function definition(method, sides, ending) {
  for (const { at, definitions } of books) {
    for (const [name, found] of Object.entries(definitions)) {
      const fits = found["x-method"] === method && sides.includes(found["x-side"]);
      if (fits && ending.test(name)) return at + name;
    }
  }
}

const problems = [];
let frames = 0;

function check(where, name, value) {
  const validate = ajv.getSchema(name);
  if (!validate(value)) {
    const why = ajv.errorsText(validate.errors);
    problems.push(`${where}: not a ${name}: ${why}: ${JSON.stringify(value).slice(0, 400)}`);
  }
}

function checkFrame(where, frame, asked) {
  if (frame.jsonrpc !== "2.0") problems.push(`${where}: not JSON-RPC 2.0`);
  if (frame.method?.startsWith("_")) return;
  if (frame.method) {
    const ending = frame.id === undefined ? /Notification$/ : /Request$/;
    const name = definition(frame.method, ["client", "protocol"], ending);
    if (!name) problems.push(`${where}: unknown method ${frame.method}`);
    else check(where, name, frame.params);
  } else if (frame.result !== undefined) {
    const method = asked.get(JSON.stringify(frame.id));
    if (!method) return problems.push(`${where}: nobody has asked ${JSON.stringify(frame.id)}`);
    if (method.startsWith("_")) return;
    const name = definition(method, ["agent"], /Response$/);
    if (!name) problems.push(`${where}: an answer to the unknown method ${method}`);
    else check(where, name, frame.result);
  } else if (!Number.isInteger(frame.error?.code) || typeof frame.error?.message !== "string") {
    problems.push(`${where}: neither request, result nor error`);
  }
}

const lines = (file) => readFileSync(file, "utf8").split("\n").filter(Boolean);

for (const wire of process.argv.slice(2)) {
  const asked = new Map();
  for (const line of lines(wire + ".in")) {
    const frame = JSON.parse(line);
    if (frame.method && frame.id !== undefined) asked.set(JSON.stringify(frame.id), frame.method);
  }
  lines(wire).forEach((line, index) => {
    const where = `${wire}:${index + 1}`;
    try {
      checkFrame(where, JSON.parse(line), asked);
      frames += 1;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      problems.push(`${where}: not JSON: ${line.slice(0, 200)}`);
    }
  });
}
process.stdout.write(JSON.stringify({ frames, problems }) + "\n");
process.exit(problems.length ? 1 : 0);
