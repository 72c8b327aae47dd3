// One server's clients. Their connections stay open throughout, the same number at each front-end. The kernel
// assigns connections to front-ends at random, and no response names the front-end. A connection is therefore
// attributed to the thread that it makes busy.

import { Connection, requestBytes } from "../load/connection.js";
import type { Target } from "../load/measure.js";
import { threadsMeter } from "./threads-meter.js";

/** A request refused before it reaches a shard or the owner, so that only the front-end works. */
const REFUSED = { q: 1 };
const REQUESTS_TO_TELL = 60;
/** Maximum number of connections to open for each wanted one before giving up. */
const OPENED_MAX = 15;

export class Clients {
  private constructor(
    private readonly byFrontEnd: readonly (readonly Connection[])[],
    private readonly ping: Buffer,
  ) {}

  /**
   * `each`: number of connections to each front-end, or in total if `frontEnds` is null. Throws if the kernel
   * assigns too few connections to one of the front-ends.
   */
  static async open(
    { url, key, index }: Target,
    pid: number,
    frontEnds: number | null,
    each: number,
  ): Promise<Clients> {
    const ping = requestBytes(url, `/v1/indexes/${index}/query`, key, REFUSED);
    const connections = new Map<number, Connection[]>();
    const count = frontEnds ?? 1;
    // A connection may be attributed to a thread that is not a front-end. Such a thread does not collect
    // `each` connections, so it is left out.
    const complete = (): Connection[][] => [...connections.values()].filter(({ length }) => length === each);
    for (let opened = 0; complete().length < count; opened++) {
      if (opened === count * each * OPENED_MAX)
        throw new Error(`some of ${count} front-ends get too few connections`);
      const connection = await Connection.open(url.hostname, Number(url.port));
      const frontEnd = frontEnds === null ? 0 : await threadOf(connection, pid, ping);
      if (frontEnd === null || connections.get(frontEnd)?.length === each) connection.close();
      else connections.set(frontEnd, [...(connections.get(frontEnd) ?? []), connection]);
      await pingAll([...connections.values()], ping);
    }
    for (const group of connections.values())
      if (group.length < each) for (const connection of group) connection.close();
    return new Clients(complete(), ping);
  }

  /** Number of front-ends with connections; 1 if the front-ends are not told apart. */
  get frontEnds(): number {
    return this.byFrontEnd.length;
  }

  /** Returns the connections to `frontEnds` front-ends; each round takes the next ones in rotation. */
  at(frontEnds: number, round: number): Connection[] {
    const all = this.byFrontEnd.length;
    return Array.from(
      { length: frontEnds },
      (_, n) => this.byFrontEnd[(round * frontEnds + n) % all]!,
    ).flat();
  }

  /** Call at least every ten seconds: a server closes connections that are idle for longer. */
  keepOpen(): Promise<void> {
    return pingAll(this.byFrontEnd, this.ping);
  }
}

/**
 * Returns the id of the thread that the connection makes busy. Null if the server's other work makes the
 * result ambiguous: each half of the requests made a different thread busy.
 */
async function threadOf(connection: Connection, pid: number, ping: Buffer): Promise<number | null> {
  const busiest: number[] = [];
  for (let half = 0; half < 2; half++) {
    const stop = threadsMeter(pid);
    for (let n = 0; n < REQUESTS_TO_TELL / 2; n++) await connection.ask(ping);
    busiest.push(stop().busiest);
  }
  return busiest[0] === busiest[1] ? busiest[0]! : null;
}

async function pingAll(connections: readonly (readonly Connection[])[], ping: Buffer): Promise<void> {
  await Promise.all(connections.flat().map((connection) => connection.ask(ping)));
}
