// Secrets at rest: a sealed secret can be opened only with the data directory's key and only for the same
// subject.
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeKeys, writeKeys } from "../../../../../server/ground/data-dir/secret-keys.js";
import { Secrets, UnreadableSecretError } from "../../../../../server/ground/data-dir/secrets.js";

let directory = "";

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "skein-secrets-"));
});

afterEach(() => {
  rmSync(directory, { recursive: true });
});

test("a later process can open a secret, and its stored bytes do not reveal it", () => {
  const sealed = new Secrets(directory).seal("pässword 🔑", "data source 1");
  expect(Buffer.from(sealed).toString("latin1")).not.toContain("word");
  expect(new Secrets(directory).open(sealed, "data source 1")).toBe("pässword 🔑");
  expect(statSync(join(directory, "secrets.key")).mode & 0o777).toBe(0o600);
});

test("the same secret is sealed differently each time, even an empty one", () => {
  const secrets = new Secrets(directory);
  expect(secrets.seal("", "x")).not.toEqual(secrets.seal("", "x"));
  expect(secrets.open(secrets.seal("", "x"), "x")).toBe("");
});

test("another subject, a changed or missing byte and another key are detected", () => {
  const secrets = new Secrets(directory);
  const sealed = secrets.seal("password", "data source 1");
  const unreadable = (bytes: Uint8Array, subject = "data source 1", by = secrets) =>
    expect(() => by.open(bytes, subject)).toThrow(UnreadableSecretError);
  unreadable(sealed, "data source 2");
  for (let at = 0; at < sealed.length; at++) {
    const changed = Uint8Array.from(sealed);
    changed[at]! ^= 1;
    unreadable(changed);
    unreadable(sealed.subarray(0, at));
  }
  rmSync(join(directory, "secrets.key"));
  unreadable(sealed, "data source 1", new Secrets(directory));
});

test("a file that holds no key is not overwritten", () => {
  writeFileSync(join(directory, "secrets.key"), "something else");
  expect(() => new Secrets(directory).seal("x", "y")).toThrow("contains no key");
  expect(readFileSync(join(directory, "secrets.key"), "utf8")).toBe("something else");
});

test("the pseudonym key is derived from the secrets key, or stored on its own line", () => {
  const file = join(directory, "secrets.key");
  writeFileSync(file, `${"ab".repeat(32)}\n`);
  const before = new Secrets(directory).pseudonymKey;
  // Must never change: the query logs of all installations depend on this value.
  expect(Buffer.from(before).toString("hex")).toBe(
    "914181c4d8cc7b73b84499cfe3af891c2baac745d47a8f4d3001f4f722f3781f",
  );
  writeKeys(file, { ...makeKeys(), pseudonyms: Buffer.from(before) });
  expect(new Secrets(directory).pseudonymKey).toEqual(before);
  expect(readFileSync(file, "utf8").split("\n")).toHaveLength(3);
  for (const damaged of ["ab".repeat(31), `${"ab".repeat(32)}\nab`, `${"ab".repeat(32)} `.repeat(2)]) {
    writeFileSync(file, damaged);
    expect(() => new Secrets(directory).pseudonymKey, damaged).toThrow("contains no key");
  }
});
