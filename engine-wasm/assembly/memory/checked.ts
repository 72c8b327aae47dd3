// True in the checked engine, which the tests use. There, a failed assertion ends the kernel with its
// message, file and line. In the released engine, everything guarded by `if (CHECKED)` is compiled out.
//
//   if (CHECKED) assert(row < rows, "a row lies inside its segment");
//
// An assertion states what our own code guarantees, at the place that relies on it. Bytes from outside
// (programs, stored segments) may contain anything: they are refused with a status and never asserted.

export const CHECKED: bool = !ASC_NO_ASSERT;
