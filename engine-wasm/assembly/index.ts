// All kernels that the host may call. Only numbers cross the boundary: addresses, lengths, counts, status
// codes.

export { buildBegin, buildStep, buildVectors } from "./build/build";
export { summarise, summariseStep } from "./columns/summaries";
export { expand } from "./expand/expand";
export { split, splitLines } from "./json/split";
export { topLevel } from "./json/top-level";
export {
  confine,
  freeBytes,
  reachedBytes,
  regionBytes,
  release,
  reserve,
  scratchReset,
  sizeOf,
} from "./memory/arena";
export { mergeBegin, mergeCancel, mergeFinish, mergeStep } from "./merge/merge";
export { checkModel } from "./model/check-model";
export { embedBegin, embedEnd, embedRecords, embedStep } from "./model/embed";
export { queryVector } from "./model/query-vector";
export { company } from "./search/company";
export { explain } from "./search/explain";
export { nearest } from "./search/nearest";
export { search } from "./search/search";
export { checkSegment } from "./segment/attach";
export { liveAll, liveCopy, liveCount, liveKill } from "./segment/live";
export { findIds, locate } from "./segment/lookup";
export { analyse, fold, hash } from "./text/analyse";
export { setOverrides, setUnicode } from "./text/unicode";
export { train } from "./train/train";
export { checkCodes, codesCopy, codesCount, codesFill, codesNew, codesTidy } from "./vector/codes";
export { documentRecord, outsideRecord, outsideVector } from "./vector/outside";
export { similarities } from "./vector/similarities";
