// The answer cache: an entry is valid for one owner, generation and query, and the cache has a byte limit.
import { expect, it } from "vitest";
import { AnswerCache } from "../../../../../server/fleet/reads/answer-cache.js";
import { CacheMeter } from "../../../../../server/ground/metrics/recorder.js";

const BYTES_MAX = 64 * 1024;
const bytes = (text: string): Uint8Array => Buffer.from(text);
const answer = (content: Uint8Array) => ({ content, answered: Buffer.from("logged") });
const question = (body = "red", state = 1, bytesMax = 1000, understood = true, within = "") => ({
  body: bytes(body),
  state,
  bytesMax,
  understood,
  within,
});

function world() {
  const meter = new CacheMeter();
  const cache = new AnswerCache(BYTES_MAX, meter);
  return { meter, cache, owner: cache.owner() };
}

it("keeps an answer when its request arrives a second time", () => {
  const { meter, owner } = world();
  const asked = question();
  const content = bytes("answer");
  expect(owner.get(7, asked)).toBeNull();
  owner.put(7, asked, answer(content));
  expect(owner.get(7, asked)).toBeNull();
  owner.put(7, asked, answer(content));
  for (const buffer of [content, asked.body]) buffer.fill(0); // the caller reuses its buffers
  const known = owner.get(7, question());
  expect([String(Buffer.from(known!.content)), String(Buffer.from(known!.answered!))]).toEqual([
    "answer",
    "logged",
  ]);
  expect([meter.hits, meter.misses]).toEqual([1, 2]);
});

it("keeps requests, generations and owners apart", () => {
  const { cache, owner } = world();
  for (let i = 0; i < 2; i++) owner.put(7, question(), answer(bytes("answer")));
  for (const other of [
    question("rod"),
    question("re"),
    question("red", 2),
    question("red", 1, 999),
    question("red", 1, 1000, true, "a:1"),
  ])
    expect(owner.get(7, other)).toBeNull();
  for (const generation of [6, 8]) expect(owner.get(generation, question())).toBeNull();
  expect(cache.owner().get(7, question())).toBeNull();
  expect(owner.get(7, question())).not.toBeNull();
});

it("keeps used answers within its byte limit", () => {
  const { owner } = world();
  const reply = new Uint8Array(400);
  const ask = (body: string): boolean => {
    if (owner.get(7, question(body)) !== null) return true;
    owner.put(7, question(body), answer(reply));
    return false;
  };
  for (let i = 0; i < 2; i++) ask("used");
  for (let i = 0; i < 1000; i++) {
    for (let times = 0; times < 2; times++) ask(`q${i}`);
    expect(ask("used")).toBe(true);
  }
  const kept = Array.from({ length: 1000 }, (_, i) => i).filter((i) => owner.get(7, question(`q${i}`)));
  expect(kept).toEqual(Array.from(kept, (_, i) => 1000 - kept.length + i));
  expect(kept.length).toBeGreaterThan(BYTES_MAX / 1000);
  expect(kept.length).toBeLessThan(BYTES_MAX / 400);
});

it("keeps neither large answers nor answers to large requests", () => {
  const { owner } = world();
  const large = "x".repeat(BYTES_MAX / 64);
  for (let i = 0; i < 3; i++) {
    owner.put(7, question(), answer(bytes(large)));
    owner.put(7, question(large), answer(bytes("answer")));
  }
  expect(owner.get(7, question())).toBeNull();
  expect(owner.get(7, question(large))).toBeNull();
});
