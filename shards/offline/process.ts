// Entry point of the process that checks or repairs one shard. LevelDB may abort its process on unforeseen
// damage; only this process then ends. One job in, one report out. Contains no logic.
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
