// The entry of the process that checks or repairs one shard: LevelDB may end its process when it meets damage that it
// has not foreseen, and then only this one is gone. One job in, one report out. No logic.
import { EngineModule } from "../../engine-wasm/host/instance/engine-module.js";
import type { OfflineJob } from "../protocol/offline.js";
import { runJob } from "./shard-job.js";

process.once("message", (job) => {
  void answer(job as OfflineJob);
});

async function answer(job: OfflineJob): Promise<void> {
  const folder = new URL("../../engine/", import.meta.url);
  const module = await EngineModule.fromFiles(new URL("engine.wasm", folder), new URL("fold.bin", folder));
  const report = await runJob(job, module);
  process.send?.(report, () => process.disconnect());
}
