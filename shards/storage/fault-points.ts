// Named points before and after changes to durable or shared state, at which tests can make something fail. A
// point does nothing unless a test arms it. The armed function then runs at that point, and anything that it
// throws is handled like a real failure there. The points are listed where they are used: in shards/fault.ts
// and in server/ground/fault.ts.

export interface FaultPoints<Point extends string> {
  fault(point: Point): void;
  /** For tests: runs `action` whenever execution passes the point, until disarmed with null. */
  armFault(point: Point, action: (() => void) | null): void;
}

/** Each thread has its own points. */
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
