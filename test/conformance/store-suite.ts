// The contract that every Store fulfils. Each store's test passes a function that returns a new StorePlace,
// through which the suite can also close the store and reopen it.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { inTurn, lazily } from "../../shards/storage/lazy-ops.js";
import type { Store, StoreOp } from "../../shards/storage/store.js";

export interface StorePlace {
  /** Opens the store; after a close, reopens it with the same contents. */
  open(): Promise<Store>;
  remove(): Promise<void>;
}

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);
const put = (key: Uint8Array, value: Uint8Array): StoreOp => ({ type: "put", key, value });
const hex = (value: Uint8Array | undefined): string | undefined =>
  value === undefined ? undefined : Buffer.from(value).toString("hex");

async function dump(store: Store, from = bytes(), to = bytes(0xff, 0xff, 0xff)): Promise<string[]> {
  const found: string[] = [];
  for await (const [key, value] of store.entries({ from, to })) found.push(`${hex(key)}=${hex(value)}`);
  return found;
}

export function storeSuite(name: string, place: () => Promise<StorePlace>): void {
  const withStore = async (work: (store: Store, reopen: () => Promise<Store>) => Promise<void>) => {
    const at = await place();
    let store = await at.open();
    try {
      await work(store, async () => {
        await store.close();
        store = await at.open();
        return store;
      });
    } finally {
      await store.close();
      await at.remove();
    }
  };

  describe(name, () => {
    test("reads back what was put, through every read method", () =>
      withStore(async (store) => {
        await store.batch([put(bytes(1), bytes(10, 20)), put(bytes(2), bytes())], { sync: false });
        expect(hex(store.getSync(bytes(1)))).toBe("0a14");
        expect(hex(await store.get(bytes(1)))).toBe("0a14");
        expect(hex(store.getSync(bytes(2)))).toBe("");
        expect(store.getSync(bytes(3))).toBeUndefined();
        expect(await store.get(bytes(3))).toBeUndefined();
        const many = await store.getMany([bytes(2), bytes(3), bytes(1)]);
        expect(many.map(hex)).toEqual(["", undefined, "0a14"]);
        expect(await store.getMany([])).toEqual([]);
      }));

    test("applies a batch's operations in order", () =>
      withStore(async (store) => {
        const key = bytes(7);
        await store.batch([put(key, bytes(1)), { type: "del", key }, put(key, bytes(2))], { sync: true });
        expect(hex(store.getSync(key))).toBe("02");
        await store.batch([put(key, bytes(3)), { type: "del", key }], { sync: true });
        expect(store.getSync(key)).toBeUndefined();
        await store.batch([], { sync: true });
      }));

    test("copies each operation before the next one reuses its bytes", () =>
      withStore(async (store) => {
        const key = bytes(1, 0);
        const value = bytes(0, 0);
        const ops = lazily(function* () {
          for (let i = 0; i < 200; i++) {
            key[1] = i;
            value.fill(i);
            yield put(key, value);
          }
        });
        await store.batch(inTurn([put(bytes(1, 7), bytes(1))], ops, [put(bytes(2), bytes(3))]), {
          sync: true,
        });
        const all = await dump(store);
        expect(all.length).toBe(201);
        expect(hex(store.getSync(bytes(1, 7)))).toBe("0707");
        expect(hex(store.getSync(bytes(1, 199)))).toBe("c7c7");
        expect(hex(store.getSync(bytes(2)))).toBe("03");
      }));

    test("writes nothing when producing an operation throws, and stays usable", () =>
      withStore(async (store) => {
        const ops = lazily(function* () {
          yield put(bytes(1), bytes(1));
          throw new Error("no more");
        });
        await expect(store.batch(ops, { sync: true })).rejects.toThrow("no more");
        expect(await dump(store)).toEqual([]);
        await store.batch([put(bytes(2), bytes(2))], { sync: true });
        expect(await dump(store)).toEqual(["02=02"]);
      }));

    test("orders keys by bytes and cuts ranges at from <= key < to", () =>
      withStore(async (store) => {
        const keys = [bytes(0x80), bytes(0x7f, 0xff), bytes(0), bytes(0xff), bytes(0x80, 0), bytes(0x7f)];
        await store.batch(
          keys.map((key) => put(key, key)),
          { sync: false },
        );
        const all = await dump(store);
        expect(all.map((entry) => entry.split("=")[0])).toEqual(["00", "7f", "7fff", "80", "8000", "ff"]);
        const range = { from: bytes(0x7f), to: bytes(0x80) };
        const found: (string | undefined)[] = [];
        for await (const key of store.keys(range)) found.push(hex(key));
        expect(found).toEqual(["7f", "7fff"]);
        await store.clear(range);
        expect((await dump(store)).length).toBe(4);
      }));

    test("an iteration may end early and does not see later changes", () =>
      withStore(async (store) => {
        const ops = Array.from({ length: 3000 }, (_, i) => put(bytes(1, i >> 8, i & 255), bytes(1)));
        await store.batch(ops, { sync: false });
        let seen = 0;
        for await (const [key] of store.entries({ from: bytes(1), to: bytes(2) })) {
          if (seen === 0) await store.batch([{ type: "del", key: ops[2999]!.key }], { sync: false });
          expect(hex(key)).toBe(hex(ops[seen]!.key));
          seen++;
        }
        expect(seen).toBe(3000);
        for await (const _ of store.keys({ from: bytes(1), to: bytes(2) })) break;
      }));

    test("a view shows one moment, however often it is read, until it is closed", () =>
      withStore(async (store) => {
        const ops = Array.from({ length: 1000 }, (_, i) => put(bytes(1, i >> 8, i & 255), bytes(1)));
        await store.batch(ops, { sync: false });
        const view = store.view();
        await store.batch([put(bytes(1, 0, 0), bytes(2)), put(bytes(1, 9), bytes(3))], { sync: false });
        await store.clear({ from: bytes(1, 1), to: bytes(1, 2) });
        for (let round = 0; round < 2; round++) {
          const seen: string[] = [];
          for await (const [key, value] of view.entries({ from: bytes(1), to: bytes(2) }))
            seen.push(`${hex(key)}=${hex(value)}`);
          expect(seen).toEqual(ops.map(({ key }) => `${hex(key)}=01`));
        }
        await view.close();
        await view.close();
        const closed = view.entries({ from: bytes(1), to: bytes(2) });
        await expect(closed.next()).rejects.toThrow();
        expect((await dump(store)).length).toBe(1000 - 256 + 1);
      }));

    test("keeps synced contents across a reopen, including large values", () =>
      withStore(async (store, reopen) => {
        const large = Buffer.alloc(512 * 1024, 0xa7);
        await store.batch([put(bytes(9), large)], { sync: true });
        const again = await reopen();
        expect(Buffer.compare(again.getSync(bytes(9))!, large)).toBe(0);
      }));

    test("refuses operations after close; closing twice is harmless", () =>
      withStore(async (store) => {
        await store.close();
        await store.close();
        await expect(store.batch([put(bytes(1), bytes(1))], { sync: true })).rejects.toThrow();
      }));

    test("equals a sorted map under random batches", () =>
      withStore(async (store) => {
        const key = fc.uint8Array({ minLength: 1, maxLength: 3, max: 4 });
        const op = fc.oneof(
          fc.record({ type: fc.constant("put" as const), key, value: fc.uint8Array({ maxLength: 4 }) }),
          fc.record({ type: fc.constant("del" as const), key }),
        );
        const model = new Map<string, string>();
        await fc.assert(
          fc.asyncProperty(fc.array(op, { maxLength: 12 }), async (ops) => {
            await store.batch(ops, { sync: false });
            for (const one of ops) {
              if (one.type === "put") model.set(hex(one.key)!, hex(one.value)!);
              else model.delete(hex(one.key)!);
            }
            const expected = [...model].sort(([a], [b]) =>
              Buffer.compare(Buffer.from(a, "hex"), Buffer.from(b, "hex")),
            );
            expect(await dump(store)).toEqual(expected.map(([k, v]) => `${k}=${v}`));
          }),
          { numRuns: 100 },
        );
      }));
  });
}
