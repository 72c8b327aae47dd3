// Reads an embedded model's header, without reading the rest of the model.
import {
  MODEL_ALIGNED,
  MODEL_DOCUMENTS,
  MODEL_FLAGS,
  MODEL_NUMBER,
  MODEL_TERMS,
} from "../../assembly/layout.js";

export interface ModelInfo {
  terms: number;
  /** Number of documents that the model was trained on. */
  documents: number;
  number: number;
  bytes: number;
  /** True if the model's vectors can be compared with the previous model's. */
  aligned: boolean;
}

/** `model`: the whole model. */
export function modelInfo(model: Uint8Array): ModelInfo {
  const header = new DataView(model.buffer, model.byteOffset, model.byteLength);
  const number = (at: number): number => header.getUint32(at, true);
  return {
    terms: number(MODEL_TERMS),
    documents: number(MODEL_DOCUMENTS),
    number: number(MODEL_NUMBER),
    bytes: model.length,
    aligned: (number(MODEL_FLAGS) & MODEL_ALIGNED) !== 0,
  };
}
