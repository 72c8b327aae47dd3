// The disk fills up while an endpoint computes vectors: documents wait for their vectors and are found by
// their words, the state reports the failure, and all get their vectors once there is space. The disk is a
// small tmpfs, which only root can mount.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, expect, test } from "vitest";
import { effort } from "../../effort.js";
import { startEmbeddingServer } from "../world/embedding-server.js";
import { eventually, TestServer } from "../world/harness.js";
import { embedderOf, found, makeShop, ready } from "./near.js";

const place = mkdtempSync(join(tmpdir(), "skein-test-full-disk-"));
const disk = join(place, "disk");
const DOCUMENTS = Array.from({ length: 3000 }, (_, i) => ({
  id: `${i}`,
  title: `shoe number ${i}`,
  price: i,
}));
let server: TestServer | undefined;
let isMounted = false;

afterEach(async () => {
  await server?.close();
  if (isMounted) execFileSync("umount", [disk]);
});
afterAll(() => rmSync(place, { recursive: true, force: true }));

// Long run only: a write that failed for lack of space is not retried for half a minute.
test.runIf(effort(false, true))(
  "the server survives a disk that fills up while vectors are stored",
  async (context) => {
    mkdirSync(disk);
    try {
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=64m", "tmpfs", disk], { stdio: "pipe" });
      isMounted = true;
    } catch {
      return context.skip("cannot mount a tmpfs here (root on Linux can)");
    }
    const endpoint = await startEmbeddingServer();
    try {
      let release = (): void => undefined;
      const after = new Promise<void>((resolve) => {
        release = resolve;
      });
      endpoint.always({ after });
      const config = { ai: { allow_hosts: ["127.0.0.1"] }, limits: { diskFreeBytesMin: 1 } };
      server = await TestServer.start({ dataDir: join(disk, "data"), shards: 1, config });
      const embedder = { source: "endpoint", url: endpoint.url(), model: "small" };
      await makeShop(server, "shop", { embedder }, DOCUMENTS);
      await eventually(async () => endpoint.requests.length > 0, "vectors are requested");
      const { bavail, bsize } = statfsSync(disk);
      const ballast = join(disk, "ballast");
      writeFileSync(ballast, Buffer.alloc(bavail * bsize));
      release();
      await eventually(async () => (await embedderOf(server!, "shop")).state === "failed", "it has failed");
      const { documents, pending } = await embedderOf(server, "shop");
      expect(documents + pending).toBe(DOCUMENTS.length);
      expect(pending).toBeGreaterThan(0);
      expect(found(await server.query("shop", { q: "2999", search_mode: "keyword" }))).toBe("2999:keyword");
      rmSync(ballast);
      await ready(server, "shop", "endpoint", DOCUMENTS.length);
      const asked = () => endpoint.texts().filter((text) => text.startsWith("shoe"));
      const before = asked().length;
      await server.stop("SIGKILL");
      await server.launch();
      expect(found(await server.query("shop", { q: "2999", search_mode: "keyword" }))).toBe("2999:keyword");
      await ready(server, "shop", "endpoint", DOCUMENTS.length);
      expect(asked().length).toBe(before);
    } finally {
      await endpoint.close();
    }
  },
);
