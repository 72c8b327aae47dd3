// Ends a property that runs for most of its test's time limit, so that the failure shows what Vitest's own
// limit would hide: the smallest failing story that fast-check has found so far or, if none has failed, the
// story that was interrupted. Both come with the seed.
import fc from "fast-check";
import { beforeEach } from "vitest";

/** Fraction of a test's time limit after which its properties end. */
const LIMIT_SHARE = 0.9;

/** fast-check itself shows a failed story, but not one that was interrupted. */
const showInterruptedStory: fc.Plugin<unknown> = () => {
  let story: unknown;
  return {
    decorateRun: (run) => (value) => {
      story = value;
      return run(value);
    },
    onAllRunsComplete(details) {
      if (!details.interrupted || details.counterexample !== null) return;
      throw new Error(`${fc.defaultReportMessage(details)}\nInterrupted in: ${fc.stringify(story)}`);
    },
  };
};

/**
 * Vitest evaluates this file for each test file, but fast-check keeps the plugin, so it is installed only
 * once.
 */
const installed = globalThis as { showsInterruptedStories?: true };
if (installed.showsInterruptedStories === undefined) fc.installGlobalPlugin(showInterruptedStory);
installed.showsInterruptedStories = true;

beforeEach(({ task }) => {
  fc.configureGlobal({
    interruptAfterTimeLimit: LIMIT_SHARE * task.timeout,
    markInterruptAsFailure: true,
  });
});
