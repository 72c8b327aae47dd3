// Named points around every change of durable or shared state. Nothing happens at them unless a test arms one:
// then the armed function runs there, and what it throws goes the way a real failure at this place would go.

export const FAULT_POINTS = [
  "commit.before-batch",
  "commit.after-batch",
  "commit.publish",
  "merge.before-pieces",
  "merge.after-pieces",
  "merge.before-switch",
  "merge.after-switch",
  "reindex.before-build",
  "purge.before-batch",
  "drop.after-manifest",
] as const;
export type FaultPoint = (typeof FAULT_POINTS)[number];

const armed = new Map<FaultPoint, () => void>();

export function fault(point: FaultPoint): void {
  armed.get(point)?.();
}

/** For tests: runs `action` whenever the point is passed, until disarmed with null. */
export function armFault(point: FaultPoint, action: (() => void) | null): void {
  if (action === null) armed.delete(point);
  else armed.set(point, action);
}
