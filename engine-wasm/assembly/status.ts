// Records the running kernel's status. Code deep in a kernel reports errors here and continues with empty
// data; the kernel checks once at the end. The first error wins. A module variable suffices because an
// instance runs one kernel at a time, and each kernel resets it first.
import { STATUS_OK } from "./layout";

let current: i32 = STATUS_OK;

export function statusReset(): void {
  current = STATUS_OK;
}

/** Records `status` (STATUS_*) unless an error was recorded before. Returns false, for `return fail(...)`. */
export function fail(status: i32): bool {
  if (current == STATUS_OK) current = status;
  return false;
}

export function failed(): bool {
  return current != STATUS_OK;
}
export function status(): i32 {
  return current;
}
