// Which key is sent, and what a failing answer becomes.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ApiClient, refusal } from "../../../../server/cli/api.js";
import { findKey } from "../../../../server/cli/connection.js";

test("the key: flag, then environment, then the key file of the data directory", () => {
  const folder = mkdtempSync(join(tmpdir(), "skein-key-"));
  try {
    writeFileSync(join(folder, "admin.key"), "from-file\n");
    const env = { SKEIN_DATA_DIR: folder, SKEIN_API_KEY: "api", SKEIN_ADMIN_KEY: "admin" };
    expect(findKey({ key: "flag" }, env)).toBe("flag");
    expect(findKey({}, env)).toBe("api");
    expect(findKey({}, { ...env, SKEIN_API_KEY: "" })).toBe("admin");
    expect(findKey({}, { SKEIN_DATA_DIR: folder })).toBe("from-file");
    expect(findKey({}, { SKEIN_DATA_DIR: join(folder, "nothing") })).toBeNull();
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a refusal carries the server's sentence and code; an answer of something else says so", () => {
  const reply = (body: string) => ({ status: 400, retryAfter: 0, body: Buffer.from(body) });
  expect(refusal(reply('{"error":"q is missing","code":"SK-SE-400"}')).message).toBe(
    "q is missing (SK-SE-400)",
  );
  expect(refusal(reply("<html>")).message).toBe("the server answered 400 without an explanation");
});

test.each(["", "127.0.0.1:8800", "ftp://x", "nonsense"])(
  "the address %j is refused with an example",
  (url) => {
    expect(() => new ApiClient(url, null)).toThrow(/--url must be/);
  },
);

test("nobody listening is said with what to do", async () => {
  const client = new ApiClient("http://127.0.0.1:1", null);
  await expect(client.json("GET", "/v1/indexes")).rejects.toThrow(
    /no server answers at http:\/\/127.0.0.1:1; start one/,
  );
  client.close();
});
