// Stores the fixtures that are missing: `npm run golden`, by hand, when a stored format is new or has a new version. A
// fixture that is there stays as it is, also when today's bytes differ: it stands for what earlier versions have stored.
import { loadEngine } from "../../engine-wasm/host/instance/engine-files.js";
import { FIXTURES } from "./encode.js";
import { writeFixture } from "./fixture-files.js";

const module = await loadEngine("release");
const bench = module.workbench();
for (const [file, encode] of Object.entries(FIXTURES)) {
  const isNew = writeFixture(file, await encode(bench));
  console.log(`${file}: ${isNew ? "written" : "there already, left as it is"}`);
}
