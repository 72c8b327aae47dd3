// The entry point of the trainer's thread, which trains a model on the sampled documents.
import { workerData } from "node:worker_threads";
import { move } from "piscina";
import { EngineModule, type EngineParts } from "../../../engine-wasm/host/instance/engine-module.js";
import type { TrainingTask } from "./training-task.js";

export default function train(task: TrainingTask): ReturnType<typeof move> {
  const module = new EngineModule(workerData as EngineParts);
  const { documents, ends, schema, fields, number, termsMax, previous } = task;
  const texts = Array.from(ends, (end, i) => ({
    seq: i + 1,
    raw: documents.subarray(i === 0 ? 0 : ends[i - 1], end),
  }));
  const model = module.train(schema, texts, { slots: fields, number, termsMax, previous });
  if (model === null) throw new Error("none of the sampled documents can be read");
  return move(model);
}
