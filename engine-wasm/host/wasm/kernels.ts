// The engine module's raw exports, as listed in engine-wasm/assembly/index.ts. Addresses are returned as
// signed 32-bit numbers and need `>>> 0` before use. A result's address points to a u32 length followed by
// that many bytes. Small negative numbers are -STATUS_*.
import { EngineError } from "../engine-error.js";

type Address = number;

export interface Kernels {
  // arena
  reserve(bytes: number): Address;
  release(region: Address): void;
  sizeOf(region: Address): number;
  scratchReset(bytes: number): Address;
  confine(region: Address, bytes: number): void;
  reachedBytes(): number;
  regionBytes(): number;
  freeBytes(): number;
  // analysis
  setUnicode(table: Address): number;
  setOverrides(list: Address, count: number): number;
  analyse(text: Address, bytes: number): Address;
  fold(text: Address, bytes: number): Address;
  hash(text: Address, bytes: number): bigint;
  // documents
  split(body: Address, bytes: number): Address;
  splitLines(chunk: Address, bytes: number, last: number): Address;
  topLevel(object: Address, bytes: number): Address;
  buildBegin(input: Address, bytes: number): Address;
  buildStep(build: Address): Address;
  buildVectors(build: Address): Address;
  // merging
  mergeBegin(entries: Address): Address;
  mergeStep(state: Address, microseconds: number): number;
  mergeFinish(state: Address): Address;
  mergeCancel(state: Address): void;
  // queries
  checkSegment(segment: Address, bytes: number): number;
  liveAll(rows: number): Address;
  liveCopy(live: Address, rows: number): Address;
  liveKill(live: Address, row: number): number;
  liveCount(live: Address, rows: number): number;
  summarise(segment: Address): Address;
  summariseStep(segment: Address, summary: Address, step: number): number;
  expand(snapshot: Address, program: Address, bytes: number): Address;
  search(snapshot: Address, program: Address, bytes: number): Address;
  explain(snapshot: Address, question: Address, bytes: number): Address;
  nearest(snapshot: Address, question: Address, bytes: number): Address;
  company(snapshot: Address, program: Address, bytes: number): Address;
  findIds(snapshot: Address, hashes: Address, bytes: number): Address;
  locate(snapshot: Address, seqs: Address, bytes: number): Address;
  // vectors
  checkModel(model: Address, bytes: number): number;
  embedBegin(model: Address, segment: Address, bytes: number, skipped: number): Address;
  embedStep(state: Address): number;
  embedRecords(state: Address): Address;
  embedEnd(state: Address): void;
  queryVector(model: Address, terms: Address, bytes: number): Address;
  train(segment: Address, bytes: number, skipped: number, options: Address): Address;
  // vector codes
  codesNew(rows: number): Address;
  checkCodes(codes: Address, bytes: number): number;
  codesCount(codes: Address, live: Address): number;
  codesTidy(codes: Address, firstRow: number, count: number): void;
  codesFill(codes: Address, firstRow: number, records: Address, count: number): number;
  codesCopy(
    toSegment: Address,
    to: Address,
    fromSegment: Address,
    from: Address,
    firstRow: number,
    count: number,
  ): number;
  // vectors
  similarities(input: Address, bytes: number): Address;
  outsideVector(values: Address, bytes: number): Address;
  outsideRecord(values: Address, bytes: number): Address;
  documentRecord(document: Address, bytes: number): Address;
}

type KernelName = keyof Kernels;

/** Lists every name in `Kernels` once. The type makes the compiler reject an incomplete list. */
const KERNEL_NAMES: Record<KernelName, true> = {
  reserve: true,
  release: true,
  sizeOf: true,
  scratchReset: true,
  confine: true,
  reachedBytes: true,
  regionBytes: true,
  freeBytes: true,
  setUnicode: true,
  setOverrides: true,
  analyse: true,
  fold: true,
  hash: true,
  split: true,
  splitLines: true,
  topLevel: true,
  buildBegin: true,
  buildStep: true,
  buildVectors: true,
  mergeBegin: true,
  mergeStep: true,
  mergeFinish: true,
  mergeCancel: true,
  checkSegment: true,
  liveAll: true,
  liveCopy: true,
  liveKill: true,
  liveCount: true,
  summarise: true,
  summariseStep: true,
  expand: true,
  search: true,
  explain: true,
  nearest: true,
  company: true,
  findIds: true,
  locate: true,
  checkModel: true,
  embedBegin: true,
  embedStep: true,
  embedRecords: true,
  embedEnd: true,
  queryVector: true,
  train: true,
  codesNew: true,
  checkCodes: true,
  codesCount: true,
  codesTidy: true,
  codesFill: true,
  codesCopy: true,
  similarities: true,
  outsideVector: true,
  outsideRecord: true,
  documentRecord: true,
};

/** The exports as kernels. Throws EngineError("mismatch") if one is missing. */
export function kernelsOf(exports: WebAssembly.Exports): Kernels {
  for (const name of Object.keys(KERNEL_NAMES)) {
    if (typeof exports[name] !== "function")
      throw new EngineError("mismatch", `The engine module has no kernel ${name}`);
  }
  return exports as unknown as Kernels;
}
