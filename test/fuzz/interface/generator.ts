// Generates whole requests: an operation from the OpenAPI document, a caller, a body that fits the schema,
// and then faults in any of these.
import type { Random } from "../../../bench/random.js";
import type { Voice } from "./dictionary.js";
import { mutateJson, mutatePath, mutateValue, oddSegment } from "./mutations.js";
import { type Operation, type Parameter, resolved } from "./operations.js";
import type { FuzzRequest } from "./request.js";
import { ALL_INDEXES, contentWord, INDEXES, indexName, TENANTS } from "./tenants.js";
import { chance, oddText, percentEncoded, Values } from "./values.js";
import type { World } from "./world.js";

type Header = readonly [name: string, value: string];

const METHODS = ["GET", "POST", "PATCH", "DELETE", "PUT", "HEAD", "OPTIONS", "QUERY"];
const MEDIA = [
  "text/plain",
  "application/json; charset=utf-16",
  "application/JSON;charset=UTF-8",
  "application/vnd.x+json",
  "application/x-ndjson",
  "multipart/form-data; boundary=x",
  "application/x-www-form-urlencoded",
  "x",
  ";",
  "application/json, text/plain",
];
const ENCODINGS = ["gzip", "br", "identity", "GZIP", "gzip, gzip", "deflate", "x"];
/**
 * An operation is listed once, and once more for each group of up to this many members in its body.
 * Operations with large bodies are therefore chosen more often.
 */
const MEMBERS_PER_SHARE = 5;
const NDJSON_LINES = [0, 1, 3, 20];

export class Generator {
  /** Operations to choose from; those with more body members are listed more often. */
  readonly #operations: readonly Operation[];

  constructor(
    private readonly world: World,
    operations: readonly Operation[],
  ) {
    this.#operations = operations.flatMap((operation) => {
      const members = Object.values(operation.bodies).map(
        (schema) => Object.keys(resolved(schema, world.document).properties ?? {}).length,
      );
      return Array<Operation>(1 + Math.ceil(Math.max(0, ...members) / MEMBERS_PER_SHARE)).fill(operation);
    });
  }

  request(random: Random): FuzzRequest {
    const operation = random.pick(this.#operations);
    const as = this.#asker(random);
    const tenant = TENANTS.find((word) => as.startsWith(word)) ?? random.pick(TENANTS);
    // The bootstrap key acts for the default tenant if no header names another.
    const isDefault = as === "bootstrap" && chance(random, 10);
    const isLast = operation.method === "DELETE" && operation.template.endsWith("{name}");
    const named = operation.template.includes("{name}") ? this.#index(random, tenant, isLast) : null;
    const voice: Voice = {
      word: isDefault ? "qzdefault" : named?.startsWith(tenant) === true ? contentWord(named) : tenant,
      indexes: this.#ownIndexes(random, tenant),
    };
    const careful = chance(random, 2);
    const values = new Values(random, this.world.document, voice, careful);
    const headers: Header[] = [];
    if (as === "bootstrap" && !isDefault) headers.push(["x-skein-tenant", tenant]);
    const { body, transfer } = this.#body(random, operation, values, headers, careful);
    if (as !== "bootstrap" && chance(random, 8)) headers.push(oddHeader(random, tenant));
    return {
      as,
      method: chance(random, 25) ? random.pick(METHODS) : operation.method,
      path: this.#path(random, operation, named, values),
      headers,
      transfer,
      body,
    };
  }

  /** Usually returns a caller with full permission, or one with nearly full permission for a single index. */
  #asker(random: Random): string {
    const kind = random.below(10);
    if (kind < 3) return `${random.pick(TENANTS)}-admin`;
    if (kind < 6) return `${random.pick(TENANTS)}-shoes`;
    if (kind < 7) return "bootstrap";
    return random.pick(this.world.principals).name;
  }

  /**
   * With `isLast`, the request deletes the index, which would leave later requests little to work on, so the
   * index is usually a missing one.
   */
  #index(random: Random, tenant: string, isLast: boolean): string {
    const kind = isLast && !chance(random, 4) ? 11 : random.below(12);
    if (kind < 9) return indexName(tenant, random.pick(INDEXES));
    if (kind < 11) return random.pick(ALL_INDEXES);
    return `${tenant}-missing`;
  }

  /**
   * Returns the tenant's indexes and sometimes an index of any tenant, so that requests also name foreign
   * indexes. The server must refuse writes that use such an index.
   */
  #ownIndexes(random: Random, tenant: string): string[] {
    const own = INDEXES.map((index) => indexName(tenant, index));
    return chance(random, 6) ? [...own, random.pick(ALL_INDEXES)] : own;
  }

  #path(random: Random, operation: Operation, named: string | null, values: Values): string {
    const inPath = operation.parameters.filter((parameter) => parameter.in === "path");
    let path = operation.template;
    for (const parameter of inPath) {
      const segment = chance(random, 25)
        ? oddSegment(random)
        : this.#segment(random, path, parameter, named, values);
      path = path.replace(`{${parameter.name}}`, segment.replaceAll("$", "%24"));
    }
    if (chance(random, 25)) path = mutatePath(random, path);
    return path + this.#query(random, operation, values);
  }

  #segment(
    random: Random,
    path: string,
    { name, schema }: Parameter,
    index: string | null,
    values: Values,
  ): string {
    if (name === "name") return index!;
    const kind = path.slice(0, path.indexOf(`/{${name}}`));
    const made = this.world.made.get(kind) ?? [];
    if (made.length > 0 && !chance(random, 8)) return String(random.pick(made));
    const elsewhere = [...this.world.made.values()].flat().concat(1, 60);
    return schema.type === "integer"
      ? String(random.pick(elsewhere))
      : percentEncoded(values.of(schema, name));
  }

  #query(random: Random, { parameters }: Operation, values: Values): string {
    const pairs: [string, string][] = [];
    for (const { name, schema, required, in: place } of parameters) {
      if (place !== "query" || (required !== true && !chance(random, 3))) continue;
      if (name === "api_key") pairs.push([name, "{key}"]);
      else pairs.push([percentEncoded(name), percentEncoded(values.of(schema, name))]);
    }
    if (chance(random, 15))
      pairs.push([
        random.pick(["x", "limit", "days", "__proto__", "%00", "api_key", "filter_by", ""]),
        random.pick(["", "%zz", "1", "%ff", "-1", "1e9", "%F0%9F%91%9F", "a&b&&=", "true"]),
      ]);
    if (pairs.length > 0 && chance(random, 20)) pairs.push(random.pick(pairs));
    return pairs.length === 0 ? "" : `?${pairs.map((pair) => pair.join("=")).join("&")}`;
  }

  #body(
    random: Random,
    { bodies }: Operation,
    values: Values,
    headers: Header[],
    careful: boolean,
  ): Pick<FuzzRequest, "body" | "transfer"> {
    const media = Object.keys(bodies);
    if (media.length === 0 && !chance(random, 20)) return { body: null, transfer: [] };
    if (chance(random, 40)) return { body: null, transfer: [] };
    const type = media.length === 0 ? "application/json" : random.pick(media);
    const schema = bodies[type] ?? { type: "object" };
    if (!chance(random, 15)) headers.push(["content-type", chance(random, 25) ? random.pick(MEDIA) : type]);
    const one = (): Uint8Array =>
      this.#json(random, values.of(schema.type === "string" ? {} : schema, "documents"), careful);
    const body = type.includes("ndjson") ? lines(random, one) : one();
    if (!chance(random, 10)) return { body, transfer: [] };
    headers.push(["content-encoding", chance(random, 3) ? random.pick(ENCODINGS) : "gzip"]);
    const transfer = [
      ...(chance(random, 5) ? [] : ["gzip" as const]),
      ...(chance(random, 4) ? ["cut" as const] : []),
    ];
    return { body, transfer };
  }

  #json(random: Random, made: unknown, careful: boolean): Uint8Array {
    let value = made;
    const mutations = careful ? [0, 0, 1] : [0, 1, 1, 2, 5];
    for (let n = random.pick(mutations); n > 0; n--) value = mutateValue(random, value);
    const text = JSON.stringify(value) ?? "null";
    return !careful && chance(random, 6) ? mutateJson(random, text) : Buffer.from(text);
  }
}

function lines(random: Random, one: () => Uint8Array): Uint8Array {
  const ends = ["\n", "\n", "\n", "\r\n", "\n\n"].map((end) => Buffer.from(end));
  return Buffer.concat(
    Array.from({ length: random.pick(NDJSON_LINES) }, () => [one(), random.pick(ends)]).flat(),
  );
}

/** Returns an unusual header, but only one that an HTTP client is able to send. */
function oddHeader(random: Random, tenant: string): Header {
  const text = Buffer.from(oddText(random).slice(0, 2_000))
    .toString("latin1")
    .replace(/[^\t\x20-\x7e\x80-\xff]/g, "?");
  return random.pick<Header>([
    ["x-request-id", random.pick(["abc-1", "a".repeat(101), "a b", text])],
    ["x-skein-tenant", random.pick([tenant, "default", "", "nobody", text])],
    ["x-forwarded-for", text],
    ["origin", text],
    ["accept", "text/html"],
    ["accept-encoding", "gzip, br"],
    ["x-long", "a".repeat(random.pick([1_000, 7_000, 15_000, 17_000]))],
    ["authorization", random.pick(["Basic YTpi", "Bearer", "Bearer a b", text])],
  ]);
}
