// Whether this is the checked engine, on which the tests run. There an assertion that does not hold ends the kernel with
// its text, its file and its line. The released engine is compiled without: nothing that stands behind `if (CHECKED)` is in it.
//
//   if (CHECKED) assert(row < rows, "a row lies inside its segment");
//
// An assertion says what our own code guarantees, in the place that relies on it. Bytes from outside (programs, stored
// segments) may hold anything: they are refused with a status and never asserted.

export const CHECKED: bool = !ASC_NO_ASSERT;
