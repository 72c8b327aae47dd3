// Writes missing fixtures: run `npm run golden` by hand when a stored format is new or has a new version.
// Existing fixtures stay unchanged even if the current bytes differ, because they represent what earlier
// versions stored.
import { loadEngine } from "../../engine-wasm/host/instance/engine-files.js";
import { FIXTURES } from "./encode.js";
import { readFixture, writeFixture } from "./fixture-files.js";
import { QUERY_LOG_FILE, QUERY_LOG_SAYS, queryLogFile, reportsOfFile } from "./query-log.js";

const module = await loadEngine("release");
const bench = module.workbench();
for (const [file, encode] of Object.entries(FIXTURES)) write(file, await encode(bench));
write(QUERY_LOG_FILE, await queryLogFile());
write(QUERY_LOG_SAYS, Buffer.from(await reportsOfFile(readFixture(QUERY_LOG_FILE))));

function write(file: string, bytes: Uint8Array): void {
  const isNew = writeFixture(file, bytes);
  console.log(`${file}: ${isNew ? "written" : "already exists, unchanged"}`);
}
