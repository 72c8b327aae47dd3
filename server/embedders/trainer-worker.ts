// Entry of the trainer's thread: builds a segment of the sampled documents and trains a model on it, in engine instances that
// end with the task.
import { workerData } from "node:worker_threads";
import { EngineModule, type EngineParts } from "../../engine-wasm/host/instance/engine-module.js";
import type { TrainedModel, TrainingTask } from "./training-task.js";

export default function train(task: TrainingTask): TrainedModel {
  const module = new EngineModule(workerData as EngineParts);
  const { documents, ends, schema, fields, number, termsMax, previous } = task;
  const built = module.workbench().build(
    schema,
    Array.from(ends, (end, i) => ({ seq: i + 1, raw: documents.subarray(i === 0 ? 0 : ends[i - 1], end) })),
  );
  if (built.segment === null) throw new Error("none of the sampled documents can be read");
  const bytes = module.train(built.segment, { slots: fields, number, termsMax, previous });
  const { aligned } = module.embedder(bytes).info;
  return { bytes, aligned };
}
