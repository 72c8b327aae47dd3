// The kernels the host may call, and nothing else. Only numbers cross: addresses, lengths, counts, status codes.
export { freeBytes, reachedBytes, regionBytes, release, reserve, scratchReset, sizeOf } from "./arena";
export { setOverrides, setUnicode } from "./unicode";
export { analyse, fold, hash } from "./analyse";
export { split, splitLines } from "./split";
export { topLevel } from "./top-level";
export { buildBegin, buildStep } from "./build";
export { mergeBegin, mergeCancel, mergeFinish, mergeStep } from "./merge";
export { checkSegment } from "./attach";
export { liveAll, liveCopy, liveCount, liveKill, liveRelease } from "./live";
export { summarise, summariseStep } from "./summaries";
export { expand } from "./expand";
export { search } from "./search";
export { explain } from "./explain";
export { findIds, locate } from "./lookup";
