// Bodies without bytes: their requests are answered, also if the head comes in two segments.
import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { listenOver } from "../../../../e2e/world/listener.js";
import { TRANSPORTS } from "../../../../e2e/world/transports.js";

const SEGMENT_MS = 20;

test.each(TRANSPORTS)("over %s a body of 0 bytes ends with its head", async (transport) => {
  const listener = await listenOver(transport, async (request) => {
    const body = await request.body(10, "SK-SYS-413");
    return { status: 200, headers: [], body: `${body.length} bytes` };
  });
  onTestFinished(() => listener.close());
  for (const segments of [
    ["POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n"],
    ["POST / HTTP/1.1\r\nhost: x\r\n", "content-length: 0\r\n\r\n"],
    ["GET / HTTP/1.1\r\nho", "st: x\r\n\r\n"],
  ]) {
    const socket = connect(listener.port, "127.0.0.1").setEncoding("latin1").setNoDelay(true);
    onTestFinished(() => void socket.destroy());
    for (const segment of segments) {
      socket.write(segment);
      await sleep(SEGMENT_MS);
    }
    const [text] = socket.readableLength > 0 ? [socket.read()] : await once(socket, "data");
    expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n.*\r\n\r\n0 bytes$/s);
  }
});
