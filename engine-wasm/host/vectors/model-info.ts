// What the header of an embedded model says. The rest of the model is not looked at.
import {
  MODEL_ALIGNED,
  MODEL_DOCUMENTS,
  MODEL_FLAGS,
  MODEL_NUMBER,
  MODEL_TERMS,
} from "../../assembly/layout.js";

export interface ModelInfo {
  terms: number;
  /** How many documents it was trained on. */
  documents: number;
  number: number;
  bytes: number;
  /** Whether its vectors can be compared with those of the model before. */
  aligned: boolean;
}

/** Of a whole model. */
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
