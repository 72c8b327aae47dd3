// The task of the coach's thread, and the questions it asks while working.
import type { MessagePort } from "node:worker_threads";
import type { LogRows } from "../query-log/reports/stored-rows.js";
import type { ShopAnswer, ShopQuestion } from "./shop.js";

export interface CoachTask {
  /** For questions and answers. The thread closes it at its end. */
  readonly port: MessagePort;
  readonly fromMs: number;
  readonly toMs: number;
  /** Language of the index; null if unspecified. */
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

/** From the coach's thread. */
export interface AskedMessage {
  readonly number: number;
  readonly question: CoachQuestion;
}

/** To the coach's thread. */
export type AnswerMessage =
  | { readonly number: number; readonly answer: CoachAnswers[CoachQuestion["kind"]] }
  | { readonly number: number; readonly failure: string };
