// Preloaded into servers (node --import): shifts their clock by the number of milliseconds that the file
// named by SKEIN_TEST_CLOCK currently contains. Timers are not affected. No product code depends on this
// module.
import { readFileSync } from "node:fs";

const file = process.env.SKEIN_TEST_CLOCK;
const RealDate = globalThis.Date;
const now = () => RealDate.now() + Number(readFileSync(file, "utf8"));

globalThis.Date = class ShiftedDate extends RealDate {
  constructor(...given) {
    super(...(given.length === 0 ? [now()] : given));
  }

  static now() {
    return now();
  }
};
