// A stand-in for a shard's worker: answers with the request, or dies or fails as its first byte says.
import { move } from "piscina";

const ECHO_LATE = 1;
const EXIT = 2;
const CRASH = 3;
const THROW = 4;

export default async function echo(request) {
  switch (request[0]) {
    case ECHO_LATE:
      await new Promise((resolve) => setTimeout(resolve, 50));
      break;
    case EXIT:
      process.exit(1);
      break;
    case CRASH:
      setImmediate(() => {
        throw new Error("crash");
      });
      await new Promise(() => {});
      break;
    case THROW:
      throw new RangeError("refused");
    default:
  }
  return move(request);
}
