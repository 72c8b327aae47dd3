// Whether an address is free, before several threads share it: a socket that shares its port with others would not tell.
import { type AddressInfo, createServer } from "node:net";

/** The port, chosen by the system when `port` is 0. Rejects when the address cannot be used. */
export function freePort(host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", () => {
      reject(new Error(`cannot listen on ${host}:${port}: the address is in use or not allowed`));
    });
    server.listen({ host, port, exclusive: true }, () => {
      const address = server.address() as AddressInfo;
      server.close(() => resolve(address.port));
    });
  });
}
