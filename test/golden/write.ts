// Stores the fixtures that are missing: `npm run golden`, by hand, when a stored format is new or has a new version. A
// fixture that is there stays as it is, also when today's bytes differ: it stands for what earlier versions have stored.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { EngineModule } from "../../engine-wasm/host/instance/engine-module.js";
import { FIXTURES } from "./encode.js";
import { writeFixture } from "./fixture-files.js";

const engine = join(process.cwd(), "dist", "engine");
const module = await EngineModule.fromFiles(
  pathToFileURL(join(engine, "engine.wasm")),
  pathToFileURL(join(engine, "fold.bin")),
);
const bench = module.workbench();
for (const [file, encode] of Object.entries(FIXTURES)) {
  const isNew = writeFixture(file, await encode(bench));
  console.log(`${file}: ${isNew ? "written" : "there already, left as it is"}`);
}
