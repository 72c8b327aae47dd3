// The kernels the host may call, and nothing else. Only numbers cross: addresses, lengths, counts, status codes.

export { analyse, fold, hash } from "./analyse";
export { freeBytes, reachedBytes, regionBytes, release, reserve, scratchReset, sizeOf } from "./arena";
export { checkSegment } from "./attach";
export { buildBegin, buildStep } from "./build";
export { expand } from "./expand";
export { explain } from "./explain";
export { liveAll, liveCopy, liveCount, liveKill, liveRelease } from "./live";
export { findIds, locate } from "./lookup";
export { mergeBegin, mergeCancel, mergeFinish, mergeStep } from "./merge";
export { search } from "./search";
export { split, splitLines } from "./split";
export { summarise, summariseStep } from "./summaries";
export { topLevel } from "./top-level";
export { setOverrides, setUnicode } from "./unicode";
