// Whether a thread is busy, told by its own event loop.
import { expect, test } from "vitest";
import { ThreadLoad } from "../../../../server/threads/thread-load.js";

const load = new ThreadLoad();

async function until(busy: boolean, turn: () => void): Promise<void> {
  while (load.busy !== busy) {
    turn();
    await new Promise((resolve) => setTimeout(resolve, busy ? 0 : 20));
  }
}

function work(): void {
  for (const end = performance.now() + 50; performance.now() < end; );
}

test("a thread that works all the time is busy until it waits again", async () => {
  expect(load.busy).toBe(false);
  await until(true, work);
  await until(false, () => undefined);
  await until(true, work);
});
