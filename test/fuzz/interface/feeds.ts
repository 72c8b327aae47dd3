// A loopback server for the interface fuzzer's data sources and models. A feed's path selects its contents.
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export async function startFeeds(): Promise<Server> {
  const server = createServer(({ url = "/", method }, response) => {
    const name = url.slice(1).replace(/\W.*/, "");
    if (method === "POST") response.end('{"data":[]}');
    else if (url.startsWith("/missing")) response.writeHead(404).end();
    else if (url.startsWith("/locked")) response.writeHead(401).end();
    else if (url.startsWith("/away")) response.writeHead(302, { location: "http://192.0.2.1/feed" }).end();
    else if (url.includes(".csv")) response.end(`id,name,price\n1,${name} row,2\n2,"${name}",x\n3\n`);
    else if (url.includes(".xml"))
      response.end(`<rss><item><g:id>1</g:id><title>${name}</title></item></rss>`);
    else {
      const items = [1, 2, 3].map((n) => ({ id: `feed${n}`, name: `${name} item ${n}`, price: n }));
      response.end(JSON.stringify(items));
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

export function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}
