// Secrets at rest: what is sealed can be opened with the key of the data directory and for its subject only.
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Secrets, UnreadableSecretError } from "../../../../server/data-dir/secrets.js";

let directory = "";

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "skein-secrets-"));
});

afterEach(() => {
  rmSync(directory, { recursive: true });
});

test("a secret is opened by a later process, and its bytes do not show it", () => {
  const sealed = new Secrets(directory).seal("pässword 🔑", "data source 1");
  expect(Buffer.from(sealed).toString("latin1")).not.toContain("word");
  expect(new Secrets(directory).open(sealed, "data source 1")).toBe("pässword 🔑");
  expect(statSync(join(directory, "secrets.key")).mode & 0o777).toBe(0o600);
});

test("the same secret is sealed differently each time, also an empty one", () => {
  const secrets = new Secrets(directory);
  expect(secrets.seal("", "x")).not.toEqual(secrets.seal("", "x"));
  expect(secrets.open(secrets.seal("", "x"), "x")).toBe("");
});

test("another subject, a changed or missing byte and another key are noticed", () => {
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

test("a file that holds no key is not written over", () => {
  writeFileSync(join(directory, "secrets.key"), "something else");
  expect(() => new Secrets(directory).seal("x", "y")).toThrow("holds no key");
  expect(readFileSync(join(directory, "secrets.key"), "utf8")).toBe("something else");
});
