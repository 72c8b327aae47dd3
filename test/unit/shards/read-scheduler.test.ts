// Several tenants' reads on one thread: time slices, which reads are answered in the middle of a long read,
// and which must not be.
import { MessageChannel, type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import { afterEach, describe, expect, it } from "vitest";
import { CANCEL, Frames, readFrames } from "../../../shards/protocol/frames.js";
import { ReadScheduler } from "../../../shards/read-scheduler.js";

interface Asked {
  readonly id: number;
  readonly flow: number;
  readonly index: number;
}

const ports: MessagePort[] = [];

afterEach(() => {
  for (const port of ports.splice(0)) port.close();
});

/**
 * Returns a scheduler whose reads call `work` with their id, and a list of ids in the order in which the
 * reads started.
 */
function startLine(work: (id: number, line: ReadScheduler) => void | Promise<void>) {
  const begun: number[] = [];
  const line: ReadScheduler = new ReadScheduler(
    (request) => {
      const id = request[5]!;
      begun.push(id);
      const done = work(id, line);
      return done instanceof Promise ? done.then(() => Uint8Array.of(id)) : Uint8Array.of(id);
    },
    () => nowMs,
  );
  return { begun, line, ...asker(line) };
}

/** Stands in for a thread that sends reads on its own channel. */
function asker(line: ReadScheduler) {
  const { port1, port2 } = new MessageChannel();
  ports.push(port1, port2);
  line.connect(port2);
  const send = (...reads: Asked[]): void => {
    const frames = new Frames();
    for (const { id, flow, index } of reads) frames.add(id, Uint8Array.of(17, index, 0, 0, 0, id), flow);
    const message = frames.take();
    port1.postMessage(message, [message.buffer]);
  };
  const answers: number[] = [];
  const refused: number[] = [];
  const collect = (): void => {
    for (let more = receiveMessageOnPort(port1); more !== undefined; more = receiveMessageOnPort(port1))
      readFrames(more.message as Uint8Array, (id, reply) => {
        if (reply.length > 1) refused.push(id);
        else {
          expect([...reply]).toEqual([id]);
          answers.push(id);
        }
      });
  };
  const answered = async (count: number): Promise<number[]> => {
    for (collect(); answers.length < count; collect()) await new Promise((resolve) => setTimeout(resolve, 1));
    return answers;
  };
  const cancel = (id: number): void => {
    const frames = new Frames();
    frames.add(id, CANCEL);
    port1.postMessage(frames.take());
  };
  return { send, cancel, answers, refused, collect, answered, leave: () => port1.close() };
}

/** The current time (ms) for all schedulers. */
let nowMs = 0;

/** Advances the time by `ms`, as if the engine had kept the thread busy. */
function busy(ms: number): void {
  nowMs += ms;
}

describe("ReadScheduler", () => {
  it("answers one tenant's reads in order", async () => {
    const line = startLine(() => undefined);
    line.send(...[1, 2, 3, 4, 5].map((id) => ({ id, flow: 1, index: id })));
    expect(await line.answered(5)).toEqual([1, 2, 3, 4, 5]);
  });

  it("prefers the tenant that has used less", async () => {
    const line = startLine((id) => busy(id < 10 ? 4 : 0));
    line.send(
      ...[1, 2, 3, 4].map((id) => ({ id, flow: 1, index: 1 })),
      ...[11, 12].map((id) => ({ id, flow: 2, index: 2 })),
    );
    await line.answered(6);
    expect(line.begun).toEqual([1, 11, 12, 2, 3, 4]);
  });

  it("answers another tenant's read during a long one", async () => {
    const line = startLine((id, self) => {
      if (id !== 1) return;
      line.send({ id: 2, flow: 2, index: 2 });
      busy(3);
      self.meanwhile();
      line.collect();
      expect(line.answers).toEqual([2]);
    });
    line.send({ id: 1, flow: 1, index: 1 });
    expect(await line.answered(2)).toEqual([2, 1]);
  });

  it("sends an earlier answer during a long read", async () => {
    const line = startLine((id, self) => {
      if (id !== 2) return;
      busy(3);
      self.meanwhile();
      line.collect();
      expect(line.answers).toEqual([1]);
    });
    line.send({ id: 1, flow: 2, index: 2 }, { id: 2, flow: 1, index: 1 });
    expect(await line.answered(2)).toEqual([1, 2]);
  });

  it("never interrupts a read for one of the same tenant or index", async () => {
    const line = startLine((id, self) => {
      if (id !== 1) return;
      line.send({ id: 2, flow: 1, index: 2 }, { id: 3, flow: 2, index: 1 }, { id: 4, flow: 3, index: 3 });
      busy(3);
      self.meanwhile();
      expect(line.begun).toEqual([1, 4]);
    });
    line.send({ id: 1, flow: 1, index: 1 });
    expect(new Set(await line.answered(4))).toEqual(new Set([1, 2, 3, 4]));
  });

  it("interrupts an interrupting read, but never for an index already being read below", async () => {
    const line = startLine((id, self) => {
      if (id > 2) return;
      const next = [
        { id: id + 1, flow: id + 1, index: id + 1 },
        { id: id + 10, flow: 9, index: 1 },
      ];
      line.send(...next);
      busy(3);
      self.meanwhile();
    });
    line.send({ id: 1, flow: 1, index: 1 });
    await line.answered(5);
    expect(line.begun.slice(0, 3)).toEqual([1, 2, 3]);
  });

  it("never begins a cancelled read, and ends one that runs", async () => {
    const goesOn: boolean[] = [];
    const line = startLine((id, self) => {
      if (id !== 1) return;
      goesOn.push(self.meanwhile());
      line.cancel(1);
      line.cancel(2);
      goesOn.push(self.meanwhile());
    });
    line.send({ id: 1, flow: 1, index: 1 }, { id: 2, flow: 1, index: 1 }, { id: 3, flow: 1, index: 1 });
    expect(await line.answered(2)).toEqual([1, 3]);
    expect(goesOn).toEqual([true, false]);
    expect(line.begun).toEqual([1, 3]);
    expect(line.refused).toEqual([2]);
    line.cancel(3);
    line.send({ id: 4, flow: 1, index: 1 });
    expect(await line.answered(3)).toEqual([1, 3, 4]);
    expect(line.refused).toEqual([2]);
  });

  it("does nothing between reads, and in work that is not a read", async () => {
    const line = startLine((_, self) => void self.meanwhile());
    line.send({ id: 1, flow: 1, index: 1 });
    expect(await line.answered(1)).toEqual([1]);
  });

  it("lets a tenant have a few late answers at a time, while others go on", async () => {
    const releases: (() => void)[] = [];
    const line = startLine((id) =>
      id < 10 ? new Promise<void>((resolve) => releases.push(resolve)) : undefined,
    );
    line.send(...[1, 2, 3, 4, 5, 6].map((id) => ({ id, flow: 1, index: 1 })), { id: 11, flow: 2, index: 2 });
    expect(await line.answered(1)).toEqual([11]);
    expect(line.begun.filter((id) => id < 10)).toEqual([1, 2, 3, 4]);
    releases[0]!();
    await line.answered(2);
    line.send({ id: 12, flow: 2, index: 2 });
    await line.answered(3);
    expect(line.begun.filter((id) => id < 10)).toEqual([1, 2, 3, 4, 5]);
    while (line.answers.length < 8) {
      for (const release of releases) release();
      await line.answered(line.answers.length);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    expect(line.begun.filter((id) => id < 10)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it("goes on while an answer is late", async () => {
    let release = (): void => undefined;
    const line = startLine((id) => (id === 1 ? new Promise((resolve) => (release = resolve)) : undefined));
    line.send({ id: 1, flow: 1, index: 1 }, { id: 2, flow: 2, index: 2 });
    expect(await line.answered(1)).toEqual([2]);
    release();
    expect(await line.answered(2)).toEqual([2, 1]);
  });

  it("answers each thread on its own line, in a common order", async () => {
    const first = startLine((id) => busy(id < 10 ? 4 : 0));
    const second = asker(first.line);
    first.send(...[1, 2, 3].map((id) => ({ id, flow: 1, index: 1 })));
    second.send({ id: 11, flow: 2, index: 2 }, { id: 4, flow: 1, index: 1 });
    expect(await first.answered(3)).toEqual([1, 2, 3]);
    expect((await second.answered(2)).sort((a, b) => a - b)).toEqual([4, 11]);
    expect(first.begun.indexOf(11)).toBeLessThan(first.begun.indexOf(3));
  });

  it("continues after a thread has left", async () => {
    const first = startLine(() => undefined);
    const second = asker(first.line);
    second.send({ id: 5, flow: 1, index: 1 });
    second.leave();
    first.send({ id: 1, flow: 1, index: 1 });
    expect(await first.answered(1)).toEqual([1]);
  });
});
