// Runs a server for the duration of a measurement.

import type { Target } from "../load/measure.js";
import type { ServerProcess } from "../load/server-process.js";

export interface Running extends Omit<Target, "index"> {
  readonly server: ServerProcess;
}

export async function stop({ client, server }: Running): Promise<void> {
  client.close();
  await server.stop();
}
