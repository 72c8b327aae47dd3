// What is remembered of the answers of shards: of one owner and generation, for one question, within a number of bytes.
import { expect, it } from "vitest";
import { AnswerCache } from "../../../server/coordinator/answer-cache.js";
import { CacheMeter } from "../../../server/metrics/recorder.js";
import { encodePage } from "../../../shards/protocol/page.js";
import { encodeSearch } from "../../../shards/protocol/program.js";

const BYTES_MAX = 64 * 1024;
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

interface Asked {
  readonly program?: string;
  readonly generation?: number;
  readonly oldestGeneration?: number;
  readonly deadline?: number;
  readonly offset?: number;
  readonly count?: number;
  readonly fields?: string[];
}

function request({
  program = "red",
  generation = 7,
  oldestGeneration = 5,
  ...asked
}: Asked = {}): Uint8Array {
  const { deadline = 1000, offset = 0, count = 10, fields } = asked;
  const options = fields === undefined ? {} : { fields };
  const head = { uid: 1, generation, oldestGeneration, deadline, program: bytes(program) };
  return encodePage({ ...head, offset, count, options });
}

function world() {
  const meter = new CacheMeter();
  const cache = new AnswerCache(BYTES_MAX, meter);
  return { meter, cache, owner: cache.owner() };
}

it("keeps an answer when its question comes a second time", () => {
  const { meter, owner } = world();
  const replies = [bytes("left"), bytes("right")];
  expect(owner.get(7, request())).toBeNull();
  owner.put(7, request(), replies);
  expect(owner.get(7, request())).toBeNull();
  owner.put(7, request(), replies);
  replies[0]!.fill(0); // the message that it came in is used for something else
  const known = owner.get(7, request({ deadline: 2000, oldestGeneration: 6 }));
  expect(known?.map((reply) => new TextDecoder().decode(reply))).toEqual(["left", "right"]);
  expect([meter.hits, meter.misses]).toEqual([1, 2]);
});

it("keeps questions, generations and owners apart", () => {
  const { cache, owner } = world();
  for (let i = 0; i < 2; i++) owner.put(7, request(), [bytes("answer")]);
  const others = [
    request({ program: "rod" }),
    request({ program: "re" }),
    request({ offset: 1 }),
    request({ count: 11 }),
    request({ fields: ["title"] }),
    encodeSearch({ uid: 1, generation: 7, oldestGeneration: 5, program: request().subarray(29) }),
  ];
  for (const other of others) expect(owner.get(7, other)).toBeNull();
  expect(owner.get(8, request({ generation: 8 }))).toBeNull();
  expect(owner.get(6, request({ generation: 6 }))).toBeNull();
  expect(cache.owner().get(7, request())).toBeNull();
  expect(owner.get(7, request())).not.toBeNull();
});

it("keeps what is used within its bytes", () => {
  const { owner } = world();
  const reply = new Uint8Array(400);
  const ask = (program: string): boolean => {
    if (owner.get(7, request({ program })) !== null) return true;
    owner.put(7, request({ program }), [reply]);
    return false;
  };
  for (let i = 0; i < 2; i++) ask("used");
  for (let i = 0; i < 1000; i++) {
    for (let times = 0; times < 2; times++) ask(`q${i}`);
    expect(ask("used")).toBe(true);
  }
  const kept = Array.from({ length: 1000 }, (_, i) => i).filter((i) =>
    owner.get(7, request({ program: `q${i}` })),
  );
  expect(kept).toEqual(Array.from(kept, (_, i) => 1000 - kept.length + i));
  expect(kept.length).toBeGreaterThan(BYTES_MAX / 1000);
  expect(kept.length).toBeLessThan(BYTES_MAX / 400);
});

it("does not keep large answers", () => {
  const { owner } = world();
  for (let i = 0; i < 3; i++) owner.put(7, request(), [new Uint8Array(BYTES_MAX / 64)]);
  expect(owner.get(7, request())).toBeNull();
});
