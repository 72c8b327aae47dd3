// What the thread of the coach is given, and what it asks while it works.
import type { MessagePort } from "node:worker_threads";
import type { LogRows } from "../query-log/reports/stored-rows.js";
import type { ShopAnswer, ShopQuestion } from "./shop.js";

export interface CoachTask {
  /** For questions, and for their answers. The thread closes it at its end. */
  readonly port: MessagePort;
  readonly fromMs: number;
  readonly toMs: number;
  /** Of the index; null when it does not say. */
  readonly language: string | null;
}

export type CoachQuestion =
  | { readonly kind: "rows"; readonly fromMs: number; readonly toMs: number }
  | { readonly kind: "texts" | "documents"; readonly numbers: readonly number[] }
  | { readonly kind: "search"; readonly question: ShopQuestion };

export interface CoachAnswers {
  rows: LogRows;
  texts: readonly string[];
  documents: readonly string[];
  search: ShopAnswer;
}

/** From the thread of the coach. */
export interface AskedMessage {
  readonly number: number;
  readonly question: CoachQuestion;
}

/** To the thread of the coach. */
export type AnswerMessage =
  | { readonly number: number; readonly answer: CoachAnswers[CoachQuestion["kind"]] }
  | { readonly number: number; readonly failure: string };
