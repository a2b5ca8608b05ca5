// Objects compared with a schema.
const fs = require("fs");
const timed = require("./timing");

const folder = process.argv[2];
const count = Number(process.argv[3]);
const text = fs.readFileSync(folder + "/data.json", "utf8");
const items = JSON.parse(text).items.slice(0, count);
const schema = {
  type: "dict",
  required: ["id", "name", "email", "active", "score", "tags", "address"],
  additional: false,
  properties: {
    id: { type: "int", min: 0 },
    name: { type: "string", minLength: 1, maxLength: 100 },
    email: { type: "string", pattern: /^[a-z0-9]+@[a-z.]+$/ },
    active: { type: "boolean" },
    score: { type: "number" },
    tags: { type: "list", maxItems: 10, items: { type: "string" } },
    address: { type: "dict", required: ["city", "zip"], properties: { city: { type: "string" }, zip: { type: "string" } } },
  },
};

function isOf(value, type) {
  switch (type) {
    case "dict":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    case "list":
      return Array.isArray(value);
    case "int":
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

function isValid(value, schema) {
  if (!isOf(value, schema.type)) return false;
  if (schema.min !== undefined && value < schema.min) return false;
  if (schema.minLength !== undefined && value.length < schema.minLength) return false;
  if (schema.maxLength !== undefined && value.length > schema.maxLength) return false;
  if (schema.pattern !== undefined && !schema.pattern.test(value)) return false;
  if (schema.maxItems !== undefined && value.length > schema.maxItems) return false;
  if (schema.items !== undefined && !value.every((item) => isValid(item, schema.items))) return false;
  if (schema.required !== undefined && !schema.required.every((key) => key in value)) return false;
  if (schema.properties === undefined) return true;
  for (const key of Object.keys(value)) {
    if (key in schema.properties) {
      if (!isValid(value[key], schema.properties[key])) return false;
    } else if (schema.additional === false) {
      return false;
    }
  }
  return true;
}

function work() {
  return items.filter((item) => isValid(item, schema)).length;
}

timed(work);
