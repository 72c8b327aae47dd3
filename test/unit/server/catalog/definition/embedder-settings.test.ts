// Semantic search settings: accepted values, and how an endpoint's key is handled.
import { describe, expect, test } from "vitest";
import { copyCommand } from "../../../../../server/catalog/copy-swap.js";
import {
  readChangedIndex,
  readChangedSettings,
  readNewIndex,
} from "../../../../../server/catalog/indexes.js";
import type { IndexRecord } from "../../../../../server/catalog/records/index-record.js";
import { EMPTY_STATE } from "../../../../../server/catalog/state.js";
import { DEFAULT_LIMITS } from "../../../../../server/ground/limits.js";
import { makeRecord, SERVERS } from "../../record.js";

const URL_OF = "https://models.example/v1";
const ENDPOINT = { source: "endpoint", url: URL_OF, model: "small" };
const SEALED = Buffer.from("yek-ks for https://models.example");

const change = (body: unknown, record = makeRecord()): IndexRecord =>
  readChangedSettings(record, body, DEFAULT_LIMITS, SERVERS);
const withKey = (): IndexRecord => change({ embedder: { ...ENDPOINT, api_key: "sk-key" } });

describe("the embedder", () => {
  test("has the documented defaults", () => {
    expect(makeRecord().settings).toMatchObject({
      embedder: { source: "auto", url: null, model: null, api_key: null, fields: null, dimensions: 512 },
      semantic: { auto_max_full_matches: 10, min_similarity: 0.25, candidates: 200 },
    });
  });

  test("can be changed member by member", () => {
    const first = change({ embedder: { ...ENDPOINT, fields: ["title", "notes"] } });
    expect(first.settings.embedder).toMatchObject({ ...ENDPOINT, fields: ["title", "notes"] });
    const second = change({ embedder: { model: "large", fields: null } }, first);
    expect(second.settings.embedder).toMatchObject({ ...ENDPOINT, model: "large", fields: null });
    expect(second.schemaVersion).toBe(1);
    expect(change({ embedder: null }, second).settings).toEqual(makeRecord().settings);
  });

  test("loses the endpoint's members when the source changes", () => {
    const fields = ["title"];
    const record = change({ embedder: { ...ENDPOINT, api_key: "sk-key", fields } });
    for (const source of ["documents", "pushed", "none", "auto", null]) {
      const { settings, sealedKeys } = change({ embedder: { source } }, record);
      expect(settings.embedder).toMatchObject({ source: source ?? "auto", url: null, model: null, fields });
      expect(sealedKeys).toBeUndefined();
    }
  });

  const only = "unless embedder.source is endpoint";
  test.each<[unknown, string]>([
    ["documents", 'embedder must be an object, not "documents"'],
    [
      { kind: "none" },
      "embedder.kind is unknown; expected one of source, url, model, api_key, fields, dimensions",
    ],
    [{ source: "openai" }, "embedder.source must be one of auto, documents, endpoint, pushed, none"],
    [{ source: "endpoint" }, "embedder.url is missing; embedder.source is endpoint"],
    [{ ...ENDPOINT, url: null }, "embedder.url is missing"],
    [{ ...ENDPOINT, model: null }, "embedder.model is missing"],
    [{ ...ENDPOINT, model: " " }, "embedder.model must not be empty"],
    [{ ...ENDPOINT, model: "m".repeat(201) }, "embedder.model is longer than 200 bytes"],
    [{ url: URL_OF }, `embedder.url must be absent ${only}`],
    [{ source: "documents", model: "small" }, `embedder.model must be absent ${only}`],
    [{ source: "pushed", api_key: "sk-key" }, `embedder.api_key must be absent ${only}`],
    [{ ...ENDPOINT, url: "models.example" }, "embedder.url must be an absolute URL"],
    [{ ...ENDPOINT, url: "ftp://models.example" }, "embedder.url must begin with http:// or https://"],
    [{ ...ENDPOINT, url: "http://127.0.0.1:11434/v1" }, "embedder.url must resolve to a public address"],
    [{ ...ENDPOINT, url: "http://localhost/v1" }, "embedder.url must resolve to a public address"],
    [{ ...ENDPOINT, url: "http://[::1]/v1" }, "embedder.url must resolve to a public address"],
    [{ ...ENDPOINT, url: "https://a:b@models.example" }, "embedder.url must not contain a user name"],
    [{ ...ENDPOINT, url: `${URL_OF}#x` }, "embedder.url must not have a fragment (#)"],
    [{ ...ENDPOINT, url: `${URL_OF}/${"x".repeat(2_048)}` }, "embedder.url is longer than 2048 bytes"],
    [{ ...ENDPOINT, api_key: "sk key" }, "embedder.api_key must be visible ASCII"],
    [{ ...ENDPOINT, api_key: "k\r\nhost: evil" }, "embedder.api_key must be visible ASCII"],
    [{ ...ENDPOINT, api_key: "k".repeat(1_025) }, "embedder.api_key is longer than 1024 bytes"],
    [{ dimensions: 384 }, "embedder.dimensions must be 512, not 384"],
    [{ dimensions: "512" }, 'embedder.dimensions must be 512, not "512"'],
    [{ fields: [] }, "embedder.fields must name at least one field, or be null"],
    [{ fields: "title" }, "embedder.fields must be an array of names of fields"],
    [{ fields: ["nope"] }, 'embedder.fields names "nope", which is not a field of the schema'],
    [{ fields: ["price"] }, 'embedder.fields names "price", which is not a string or string[] field'],
    [{ fields: ["title", "title"] }, 'embedder.fields names "title" twice'],
    [{ fields: ["notes"] }, 'embedder.fields names "notes", which is not indexed'],
    [{ source: "documents", fields: ["notes"] }, 'embedder.fields names "notes", which is not indexed'],
  ])("%j is refused", (embedder, message) => {
    expect(() => change({ embedder })).toThrow(message);
    expect(() => change({ embedder })).toThrow(expect.objectContaining({ code: "SK-IX-400" }));
  });

  test("may use unindexed fields with an endpoint", () => {
    expect(change({ embedder: { ...ENDPOINT, fields: ["notes"] } }).settings.embedder.fields).toEqual([
      "notes",
    ]);
  });

  test("may use an address that the operator allows", () => {
    const servers = { ...SERVERS, addresses: { allowPrivate: false, allowHosts: ["127.0.0.1"] } };
    const embedder = { ...ENDPOINT, url: "http://127.0.0.1:11434/v1" };
    const record = readChangedSettings(makeRecord(), { embedder }, DEFAULT_LIMITS, servers);
    expect(record.settings.embedder.url).toBe(embedder.url);
    // Other settings can still be changed after the operator has stopped allowing the server.
    expect(change({ num_typos: 1 }, record).settings.embedder.url).toBe(embedder.url);
  });

  test("protects the fields that it names from being dropped", () => {
    const record = change({ embedder: { fields: ["title"] } });
    const schema = { fields: [{ name: "title", drop: true }] };
    expect(() => readChangedIndex(record, { schema }, false, DEFAULT_LIMITS)).toThrow(
      'settings.embedder.fields names "title"',
    );
  });

  test("is also read from the body of a new index", () => {
    const schema = { fields: [{ name: "title", type: "string" }] };
    const made = (embedder: object) =>
      readNewIndex({ name: "n", schema, settings: { embedder } }, DEFAULT_LIMITS, SERVERS);
    expect(made({ ...ENDPOINT, api_key: "sk-key" })).toMatchObject({
      settings: { embedder: { ...ENDPOINT, api_key: null } },
      sealedKeys: { embedder: SEALED },
    });
    expect(() => made({ ...ENDPOINT, url: "http://10.0.0.1" })).toThrow(
      "settings.embedder.url must resolve to",
    );
    expect(() => made({ fields: ["nope"] })).toThrow('settings.embedder.fields names "nope"');
  });
});

describe("an endpoint's key", () => {
  test("is sealed, and absent from the settings", () => {
    const record = withKey();
    expect(record.settings.embedder.api_key).toBeNull();
    expect(record.sealedKeys).toEqual({ embedder: SEALED });
    expect(JSON.stringify(record)).not.toContain("sk-key");
  });

  test("is kept if omitted or null, as in settings sent back as they were shown", () => {
    for (const body of [{ num_typos: 1 }, { embedder: { model: "large" } }, withKey().settings])
      expect(change(body, withKey()).sealedKeys).toEqual({ embedder: SEALED });
  });

  test("can be replaced, and removed with an empty text", () => {
    const embedder = (api_key: string) => change({ embedder: { api_key } }, withKey()).sealedKeys;
    expect(String(embedder("sk-new")?.embedder)).toBe("wen-ks for https://models.example");
    expect(embedder("")).toBeUndefined();
  });

  test("is sent only to the server it was given for", () => {
    const moved = (members: object) => change({ embedder: members }, withKey()).sealedKeys?.embedder;
    expect(moved({ url: "https://models.example/v2" })).toEqual(SEALED);
    for (const url of [
      "https://evil.example/v1",
      "http://models.example/v1",
      "https://models.example:8443/v1",
    ]) {
      expect(() => moved({ url })).toThrow(
        "embedder.api_key must be sent again, because the url names a different server",
      );
      expect(moved({ url, api_key: "" })).toBeUndefined();
      expect(String(moved({ url, api_key: "a" }))).toBe(`a for ${new URL(url).origin}`);
    }
    const left = change({ embedder: { source: "none" } }, withKey());
    expect(change({ embedder: ENDPOINT }, left).sealedKeys).toBeUndefined();
  });

  test("is copied with the settings, and replaced along with them", () => {
    const other = { ...makeRecord(), uid: 2, id: 2, name: "other" };
    const copied = (from: IndexRecord, to: IndexRecord) =>
      copyCommand(EMPTY_STATE, from, to, new Set(["settings"]), "2031-01-01T00:00:00.000Z").record;
    expect(copied(withKey(), other)).toMatchObject({
      name: "other",
      settings: { embedder: ENDPOINT },
      sealedKeys: { embedder: SEALED },
    });
    expect(copied(other, withKey()).sealedKeys).toBeUndefined();
    const fields = makeRecord().fields.filter(({ name }) => name !== "notes");
    const named = change({ embedder: { ...ENDPOINT, fields: ["notes"] } });
    expect(() => copied(named, { ...other, fields })).toThrow(
      expect.objectContaining({ details: { fields: ["notes"] } }),
    );
  });
});

describe("the semantic search settings", () => {
  test("can be changed", () => {
    const semantic = { auto_max_full_matches: 0, min_similarity: 1, candidates: 1_000 };
    expect(change({ semantic }).settings.semantic).toEqual(semantic);
    expect(change({ semantic: { candidates: 50 } }).settings.semantic).toEqual({
      auto_max_full_matches: 10,
      min_similarity: 0.25,
      candidates: 50,
    });
  });

  test.each<[unknown, string]>([
    [[], "semantic must be an object, not an array"],
    [{ weight: 1 }, "semantic.weight is unknown"],
    [{ auto_max_full_matches: -1 }, "semantic.auto_max_full_matches must be an integer from 0 to 10000"],
    [{ auto_max_full_matches: 1.5 }, "semantic.auto_max_full_matches must be an integer"],
    [{ min_similarity: 1.1 }, "semantic.min_similarity must be a number from 0 to 1"],
    [{ min_similarity: "0.3" }, "semantic.min_similarity must be a number"],
    [{ candidates: 0 }, "semantic.candidates must be an integer from 1 to 1000"],
    [{ candidates: 1_001 }, "semantic.candidates must be an integer from 1 to 1000"],
  ])("%j is refused", (semantic, message) => {
    expect(() => change({ semantic })).toThrow(message);
  });
});
