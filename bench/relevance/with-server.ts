// The built server for the length of a measurement, and a client of it.

import { ApiClient } from "../../server/cli/api.js";
import { ServerProcess } from "../load/server-process.js";

const ADMIN_KEY = "bench-admin-key-0123456789";

/** Starts a server for the work and stops it again, on a directory that is kept between the calls. */
export type Serve = <T>(work: (client: ApiClient) => Promise<T>) => Promise<T>;

/** Starts the server on the directory and stops it after the work. It inherits this process's environment. */
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
