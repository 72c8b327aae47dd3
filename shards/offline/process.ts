// The entry point of the process that checks or repairs one shard. It is a separate process, because LevelDB
// may abort on unforeseen damage. Reads one job and writes one report. Contains no logic.
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
