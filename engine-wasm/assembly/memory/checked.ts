// True in the checked engine, on which the tests run. There a failed assertion ends the kernel with its text,
// its file and its line. The released engine is compiled without anything guarded by `if (CHECKED)`.
//
//   if (CHECKED) assert(row < rows, "a row lies inside its segment");
//
// An assertion states what our own code guarantees, at the place that relies on it. Bytes from outside
// (programs, stored segments) may hold anything: they are refused with a status and never asserted.

export const CHECKED: bool = !ASC_NO_ASSERT;
