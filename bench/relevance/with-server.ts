// Runs the built server and a client for the duration of a measurement.

import { ApiClient } from "../../server/cli/api.js";
import { ServerProcess } from "../load/server-process.js";

const ADMIN_KEY = "bench-admin-key-0123456789";

/** Starts a server, runs `work` and stops the server. All calls use the same data directory. */
export type Serve = <T>(work: (client: ApiClient) => Promise<T>) => Promise<T>;

/**
 * Starts the server on the directory, runs `work` and stops the server. The server inherits this process's
 * environment.
 */
export async function withServer<T>(
  main: string,
  dataDir: string,
  work: (client: ApiClient) => Promise<T>,
): Promise<T> {
  const server = await ServerProcess.start({
    main,
    dataDir,
    adminKey: ADMIN_KEY,
    shards: null,
    durability: "os",
  });
  const client = new ApiClient(server.url.href, ADMIN_KEY);
  try {
    return await work(client);
  } finally {
    client.close();
    await server.stop();
  }
}
