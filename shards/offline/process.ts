// The entry of the process that checks or repairs one shard: LevelDB may end its process when it meets damage that it
// has not foreseen, and then only this one is gone. One job in, one report out. No logic.
import { loadEngine } from "../../engine-wasm/host/instance/engine-files.js";
import type { OfflineJob } from "../protocol/offline.js";
import { runJob } from "./shard-job.js";

process.once("message", (job) => {
  void answer(job as OfflineJob);
});

async function answer(job: OfflineJob): Promise<void> {
  const module = await loadEngine("release");
  const report = await runJob(job, module);
  process.send?.(report, () => process.disconnect());
}
