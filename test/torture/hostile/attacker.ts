// The process of the hostile clients, so that they do not delay the visitors whose waits are measured. The
// parent names an attack, waits until its requests are prepared, lets it begin, and gets the counts.

import { setTimeout as sleep } from "node:timers/promises";
import type { Wave } from "./attack.js";
import { ATTACKS } from "./attacks.js";
import { beHostile, type Ending } from "./client.js";
import type { Place } from "./place.js";

export type Order =
  | { readonly order: "prepare"; readonly attack: string; readonly place: Place; readonly endMsMax: number }
  /** No new requests are sent after `msMax`. */
  | { readonly order: "begin"; readonly msMax: number };

export interface Counts {
  readonly sent: number;
  /** Number of endings by kind, `answered` further divided by status. */
  readonly endings: Readonly<Record<string, number>>;
  /** Longest time (ms) that a client waited whose manner is to wait. */
  readonly longestMs: number;
  /** Answers 429 and 503 without Retry-After. */
  readonly withoutRetryAfter: number;
}

let begin: (msMax: number) => Promise<Counts>;

process.on("message", (message: Order) => {
  if (message.order === "prepare") {
    begin = prepare(message.attack, message.place, message.endMsMax);
    process.send!(null);
  } else void begin(message.msMax).then((counts) => process.send!(counts));
});

function prepare(name: string, place: Place, endMsMax: number): typeof begin {
  const { waves } = ATTACKS.find((attack) => attack.name === name)!;
  const prepared = waves.map((wave) => ({ wave, request: wave.prepare(place) }));
  return async (msMax) => {
    const until = performance.now() + msMax;
    const tally = new Tally();
    const client = async (wave: Wave, next: () => Buffer | null): Promise<void> => {
      for (let request = next(); request !== null; request = next()) {
        tally.count(wave, await beHostile(place, request, wave.manner, endMsMax));
        if (wave.pauseMs !== undefined) await sleep(wave.pauseMs);
      }
    };
    await Promise.all(
      prepared.flatMap(({ wave, request }) => {
        let sent = 0;
        const next = (): Buffer | null =>
          sent < wave.requests && performance.now() < until ? request(sent++) : null;
        return Array.from({ length: wave.clients }, () => client(wave, next));
      }),
    );
    return tally;
  };
}

class Tally implements Counts {
  sent = 0;
  endings: Record<string, number> = {};
  longestMs = 0;
  withoutRetryAfter = 0;

  count({ manner }: Wave, { how, status, hasRetryAfter, ms }: Ending): void {
    this.sent++;
    const ending = how === "answered" ? String(status) : how;
    this.endings[ending] = (this.endings[ending] ?? 0) + 1;
    if (manner.kind === "reads" || manner.kind === "stalls") this.longestMs = Math.max(this.longestMs, ms);
    if (how === "answered" && (status === 429 || status === 503) && !hasRetryAfter) this.withoutRetryAfter++;
  }
}
