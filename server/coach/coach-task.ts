// Messages between the server and the coach's thread: the task, the questions that the thread asks during the
// task, and the server's answers.
import type { MessagePort } from "node:worker_threads";
import type { LogRows } from "../query-log/reports/stored-rows.js";
import type { ShopAnswer, ShopQuestion } from "./shop.js";

export interface CoachTask {
  /**
   * Port on which the coach thread sends questions and receives answers. The thread closes it when the task
   * ends.
   */
  readonly port: MessagePort;
  readonly fromMs: number;
  readonly toMs: number;
  /** The index's language; null if unspecified. */
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

/** A question, sent by the coach thread. */
export interface AskedMessage {
  readonly number: number;
  readonly question: CoachQuestion;
}

/** The answer to a question, sent to the coach thread. */
export type AnswerMessage =
  | { readonly number: number; readonly answer: CoachAnswers[CoachQuestion["kind"]] }
  | { readonly number: number; readonly failure: string };
