// The entry point of the intake thread, which splits large batches to keep the HTTP thread free. Decodes the
// task, calls prepare.ts, and transfers the messages' buffers back without copying. An error that refuses the
// whole body is returned as plain data.
import { workerData } from "node:worker_threads";
import { move, transferableSymbol, valueSymbol } from "piscina";
import { EngineModule, type EngineParts } from "../../../engine-wasm/host/instance/engine-module.js";
import type { Workbench } from "../../../engine-wasm/host/instance/workbench.js";
import { discardBuffer } from "../../../engine-wasm/host/runtime/discards.js";
import type { Action } from "../../../shards/protocol/ops.js";
import { type ErrorCode, SkeinError } from "../../ground/errors.js";
import { type PreparedWrite, type PrepareLimits, prepareBody, prepareLines } from "./prepare.js";

export interface IntakeTask {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Null for a request body; otherwise the action for NDJSON lines. */
  readonly action: Action | null;
  readonly shards: number;
  readonly limits: PrepareLimits;
}

export type IntakeReply =
  | { readonly prepared: PreparedWrite }
  | {
      readonly refused: {
        code: ErrorCode;
        message: string;
        details: Readonly<Record<string, unknown>> | undefined;
      };
    };

/** The thread's only workbench, and its only state. Created for the first task. */
let workbench: Workbench | null = null;

function ownWorkbench(): Workbench {
  workbench ??= new EngineModule(workerData as EngineParts).workbench();
  return workbench;
}

export default function intake(task: IntakeTask): unknown {
  const { bytes, action, shards, limits } = task;
  discardBuffer(bytes.length);
  try {
    const prepared =
      action === null
        ? prepareBody(bytes, shards, ownWorkbench(), limits)
        : prepareLines(bytes, action, shards, ownWorkbench(), limits);
    const reply: IntakeReply = { prepared };
    return move({
      [transferableSymbol]: prepared.messages.map(({ message }) => message.buffer),
      [valueSymbol]: reply,
    });
  } catch (error) {
    if (!(error instanceof SkeinError)) throw error;
    const { code, message, details } = error;
    return { refused: { code, message, details } } satisfies IntakeReply;
  }
}
