// The same odd bytes are sent to each HTTP implementation and to a bare node:http server. No implementation
// may take a request that RFC 9112 does not see in them (test/oracle/http-framing.ts); in particular, nothing
// behind broken bytes may be taken for the next request. Valid requests must be taken. SKEIN_PROPERTY_SEED
// repeats a run.
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { TRANSPORTS } from "../../e2e/world/transports.js";
import { effort } from "../../effort.js";
import { type FramedRequest, type Framing, framingOf } from "../../oracle/http-framing.js";
import { SEED } from "../seed.js";
import { oddBytes } from "./odd-bytes.js";
import { type RecordingServer, startBareNode, startTransport, Wire } from "./servers.js";

const CONNECTIONS = effort(2_000, 100_000);
/** Number of servers that work side by side. Each has one connection with odd bytes at a time. */
const SIDE_BY_SIDE = 20;

interface Connection {
  readonly pieces: readonly string[];
  readonly framing: Framing;
}

const connections: readonly Connection[] = fc
  .sample(oddBytes, { numRuns: CONNECTIONS, seed: SEED })
  .map((pieces) => ({ pieces, framing: framingOf(pieces.join("")) }));

/** How a server dealt with a connection. */
interface Outcome {
  readonly taken: readonly FramedRequest[];
  readonly replies: string;
}

/**
 * Sends everything to servers of one kind. `settled` resolves when the server has done what it must do before
 * the client closes the connection.
 */
async function sendAll(
  start: () => Promise<RecordingServer>,
  settled: (wire: Wire, framing: Framing) => Promise<void>,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    const server = await start();
    while (next < connections.length) {
      const at = next++;
      const { pieces, framing } = connections[at]!;
      const wire = new Wire(server.port);
      await wire.send(pieces);
      try {
        await settled(wire, framing);
      } catch (error) {
        throw new Error(`after ${JSON.stringify(pieces)}`, { cause: error });
      }
      await wire.end();
      outcomes[at] = { taken: server.taken(), replies: wire.replies };
    }
    await server.close();
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, work));
  return outcomes;
}

/** node:http closes the connection after a fault and after the last request; else it answers all requests. */
async function settledOverNode(wire: Wire, { fault, closes, requests }: Framing): Promise<void> {
  const answered = (): number => wire.replies.split("HTTP/1.1 200 ").length - 1;
  await wire.until(() => wire.ended || (fault === null && !closes && answered() >= requests.length));
}

/**
 * uWebSockets.js answers the first request or closes the connection. It does not answer every fault: it may
 * wait for the rest of a head that is already broken.
 */
async function settledOverUws(wire: Wire, { features, requests }: Framing): Promise<void> {
  if (requests.length > 0 && features.size === 0) await wire.until(() => wire.ended || wire.replies !== "");
}

/** The requests that RFC 9112 sees, with the targets as servers report them. */
const requestsOf = ({ requests }: Framing): FramedRequest[] =>
  requests.map((request) => ({ ...request, target: request.target.replace(/^([^?]*)\?$/, "$1") }));

/** The connections for which the condition does not hold, with what happened. */
function violations(
  outcomes: readonly Outcome[],
  holds: (outcome: Outcome, framing: Framing, at: number) => boolean,
): unknown[] {
  return outcomes
    .map((outcome, at) => ({ ...connections[at]!, ...outcome, at }))
    .filter((case_) => !holds(case_, case_.framing, case_.at));
}

const same = (a: readonly FramedRequest[], b: readonly FramedRequest[]): boolean =>
  JSON.stringify(a) === JSON.stringify(b);

let bare: readonly Outcome[];
beforeAll(async () => {
  bare = await sendAll(startBareNode, () => Promise.resolve());
});

test("the oracle and node:http see the same requests where both see some", () => {
  const differing = violations(bare, ({ taken }, framing) => {
    const seen = requestsOf(framing);
    const both = Math.min(seen.length, taken.length);
    return same(taken.slice(0, both), seen.slice(0, both));
  });
  expect(differing).toEqual([]);
});

test("many connections break a rule, each of many rules, and many others do not", () => {
  const share = (is: (framing: Framing) => boolean): number =>
    connections.filter(({ framing }) => is(framing)).length / connections.length;
  expect(new Set(connections.map(({ framing }) => framing.fault)).size).toBeGreaterThan(15);
  expect(share(({ fault }) => fault !== null)).toBeGreaterThan(0.3);
  expect(share(({ fault, requests }) => fault === null && requests.length > 1)).toBeGreaterThan(0.1);
});

describe.each(TRANSPORTS)("over %s", (transport) => {
  const isNode = transport === "node";
  let outcomes: readonly Outcome[];
  beforeAll(async () => {
    outcomes = await sendAll(() => startTransport(transport), isNode ? settledOverNode : settledOverUws);
  });

  test("only requests are taken that RFC 9112 sees in the bytes", () => {
    const strange = violations(outcomes, ({ taken }, framing) => {
      // uWebSockets.js hides all headers after one without a name, so the server cannot know of a body.
      if (!isNode && framing.fault === "a header without a name") return true;
      return same(taken, requestsOf(framing).slice(0, taken.length));
    });
    expect(strange).toEqual([]);
  });

  test("valid requests are taken", () => {
    const missed = violations(outcomes, ({ taken }, { requests, features }, at) =>
      isNode
        ? taken.length >= Math.min(requests.length, bare[at]!.taken.length)
        : taken.length > 0 || requests.length === 0 || features.size > 0,
    );
    expect(missed).toEqual([]);
  });
});
