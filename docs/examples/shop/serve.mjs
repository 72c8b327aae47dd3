// Serves the files beside it at http://127.0.0.1:8081, as the web server of a shop would: node serve.mjs [port].
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";

const TYPES = { html: "text/html", js: "text/javascript" };

const server = createServer(async ({ url }, response) => {
  const [name] = url.slice(1).split("?");
  const file = /^[\w-]+\.(html|js)$/.exec(name || "index.html");
  try {
    const body = await readFile(new URL(file[0], import.meta.url));
    response.writeHead(200, { "content-type": TYPES[file[1]] }).end(body);
  } catch {
    response.writeHead(404).end("not found");
  }
});

server.listen(Number(process.argv[2] ?? 8081), "127.0.0.1", () =>
  console.log(`the shop is at http://127.0.0.1:${server.address().port}`),
);
