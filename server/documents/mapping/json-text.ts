// Writes JSON values. Integers beyond 2^53 are bigints. JSON.stringify refuses these; this file writes all
// their digits.

export function toJson(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  return holdsBigInt(value) ? exactJson(value) : (JSON.stringify(value) ?? "null");
}

function holdsBigInt(value: unknown): boolean {
  if (typeof value === "bigint") return true;
  if (typeof value !== "object" || value === null) return false;
  return Array.isArray(value) ? value.some(holdsBigInt) : Object.values(value).some(holdsBigInt);
}

function exactJson(value: unknown): string {
  if (typeof value === "bigint") return value.toString();
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  if (Array.isArray(value)) return `[${value.map(exactJson).join(",")}]`;
  const members = Object.entries(value).map(
    ([name, member]) => `${JSON.stringify(name)}:${exactJson(member)}`,
  );
  return `{${members.join(",")}}`;
}
