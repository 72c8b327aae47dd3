// Named points around changes of durable or shared state. Nothing happens at them unless a test arms one: then the armed
// function runs there, and what it throws goes the way a real failure at this place would go. Which points there are
// say those who pass them: shards/fault.ts and server/fault.ts.

export interface FaultPoints<Point extends string> {
  fault(point: Point): void;
  /** For tests: runs `action` whenever the point is passed, until disarmed with null. */
  armFault(point: Point, action: (() => void) | null): void;
}

/** Each thread has points of its own. */
export function faultPoints<Point extends string>(): FaultPoints<Point> {
  const armed = new Map<Point, () => void>();
  return {
    fault: (point) => armed.get(point)?.(),
    armFault(point, action) {
      if (action === null) armed.delete(point);
      else armed.set(point, action);
    },
  };
}
