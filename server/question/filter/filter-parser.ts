// Parses the legacy filter language and passes its parts to a sink:
//   or = and { "||" and }    and = primary { "&&" primary }    primary = "(" or ")" | field operator value
//   operator = ":" | ":=" | ":!="    value = item | "[" item { "," item } "]"
//   item = `quoted` | text | (> < >= <=) number | low..high (the last one inside brackets only)
//   quoted: two backticks inside represent one
// Knows nothing about the schema. The nesting limit bounds the recursion; time is linear in the length of the
// text.
import { SkeinError } from "../../ground/errors.js";
import { FIXED_LIMITS } from "../../ground/limits.js";
import type { Comparison, FilterLiteral, FilterOperator, FilterSink, FilterValue } from "./filter-parts.js";

export interface FilterLimits {
  readonly filterTextBytesMax: number;
  readonly filterClausesMax: number;
}

/** Maximum length of a filter excerpt in an error message, in UTF-16 code units. */
const SHOWN_MAX = 40;

/**
 * Returns a SK-SE-400 error that states the position (0-based, in UTF-16 code units) and what was expected
 * there. A negative position means that the error is in `filters`, the native object, which has no positions.
 */
export function filterError(problem: string, position: number, expected?: string): SkeinError {
  const where = position < 0 ? "" : ` at position ${position}`;
  const wanted = expected === undefined ? "" : `; expected ${expected}`;
  const details: Record<string, unknown> = {};
  if (position >= 0) details.position = position;
  if (expected !== undefined) details.expected = expected;
  const name = position < 0 ? "filters" : "filter_by";
  return new SkeinError("SK-SE-400", `${name}: ${problem}${where}${wanted}`, { details });
}

/** Parsing yields after about this many conditions and values. */
const CLAUSES_A_STEP = 100;

const BRACKET_OPEN = 0x5b;
const BRACKET_CLOSE = 0x5d;
const PARENTHESIS_OPEN = 0x28;
const PARENTHESIS_CLOSE = 0x29;
const COLON = 0x3a;
const COMMA = 0x2c;
const BACKTICK = 0x60;
const AMPERSAND = 0x26;
const BAR = 0x7c;
const SPACE = 0x20;

/**
 * Parses a non-empty filter expression in small steps, because it may have thousands of conditions. Throws
 * SK-SE-400, by which time `sink` has the parts before the error.
 */
export function* parsingOfFilter(
  text: string,
  limits: FilterLimits,
  sink: FilterSink,
): Generator<void, void> {
  if (Buffer.byteLength(text) > limits.filterTextBytesMax) {
    throw new SkeinError("SK-SE-400", `filter_by is longer than ${limits.filterTextBytesMax} bytes`);
  }
  const lone = text.search(/\p{Surrogate}/u);
  if (lone >= 0) throw filterError("an unpaired surrogate", lone, "well-formed Unicode");
  yield* new FilterParser(text, limits, sink).parse();
}

class FilterParser {
  private pos = 0;
  private depth = 0;
  private clauses = 0;
  /** Value of `clauses` at the last pause. */
  private paused = 0;

  constructor(
    private readonly text: string,
    private readonly limits: FilterLimits,
    private readonly sink: FilterSink,
  ) {}

  *parse(): Generator<void, void> {
    yield* this.alternation();
    if (this.pos === this.text.length) return;
    if (this.text[this.pos] === ")") throw filterError("unbalanced ')'", this.pos, "'&&', '||' or the end");
    throw this.unexpected("'&&', '||' or the end");
  }

  /**
   * Conditions are parsed in this loop, because one generator per condition would create a lot of garbage.
   */
  private *alternation(): Generator<void, void> {
    let alternatives = 0;
    do {
      let operands = 0;
      do {
        if (this.isLong()) yield;
        if (this.atGroup()) yield* this.group();
        else {
          const open = this.clause();
          while (open >= 0 && !this.list(open)) yield;
          this.sink.clauseEnd();
          this.skipSpace();
        }
        if (operands++ > 0) this.sink.and();
      } while (this.take("&&"));
      if (alternatives++ > 0) this.sink.or();
    } while (this.take("||"));
  }

  /** True if enough has been parsed since the last pause that parsing should pause again. */
  private isLong(): boolean {
    if (this.clauses - this.paused < CLAUSES_A_STEP) return false;
    this.paused = this.clauses;
    return true;
  }

  private atGroup(): boolean {
    this.skipSpace();
    return this.text.charCodeAt(this.pos) === PARENTHESIS_OPEN;
  }

  private *group(): Generator<void, void> {
    const open = this.pos++;
    if (++this.depth > FIXED_LIMITS.filterDepthMax) {
      throw filterError(`parentheses nested deeper than ${FIXED_LIMITS.filterDepthMax} levels`, open);
    }
    yield* this.alternation();
    if (!this.take(")")) {
      const expected = "'&&', '||' or ')'";
      if (this.pos === this.text.length)
        throw filterError(`unbalanced '(' of position ${open}`, this.pos, expected);
      throw this.unexpected(expected);
    }
    this.depth--;
    this.skipSpace();
  }

  /**
   * Parses a clause up to its end or to the values of a list, and returns the position of the list's bracket,
   * or -1 if the clause has a single value.
   */
  private clause(): number {
    if (++this.clauses > this.limits.filterClausesMax) {
      throw filterError(`more than ${this.limits.filterClausesMax} conditions`, this.pos);
    }
    const at = this.pos;
    const field = this.fieldName();
    const operator = this.operator();
    this.sink.clause(field, operator, at);
    this.skipSpace();
    if (this.text[this.pos] === "[") return this.pos++;
    this.sink.value(this.single(operator));
    return -1;
  }

  private fieldName(): string {
    const start = this.pos;
    for (; this.pos < this.text.length; this.pos++) {
      const unit = this.text.charCodeAt(this.pos);
      if (endsFieldName(unit) || this.atConnective(unit)) break;
    }
    const name = this.text.slice(start, this.pos).trimEnd();
    if (name === "") throw filterError("no field name", start, "a field name");
    if (this.text[this.pos] !== ":") {
      throw filterError(`no operator after '${shorten(name)}'`, this.pos, "':', ':=' or ':!='");
    }
    return name;
  }

  private operator(): FilterOperator {
    this.pos++;
    if (this.text[this.pos] === "=") {
      this.pos++;
      return ":=";
    }
    if (this.text.startsWith("!=", this.pos)) {
      this.pos += 2;
      return ":!=";
    }
    return ":";
  }

  /**
   * Parses values of the list whose bracket is at `open`. Returns true at the end of the list, and false if
   * parsing should pause before the next value.
   */
  private list(open: number): boolean {
    while (!this.isLong()) {
      this.skipSpace();
      this.sink.value(this.listItem());
      if (++this.clauses > this.limits.filterClausesMax) {
        throw filterError(`more than ${this.limits.filterClausesMax} values`, this.pos);
      }
      this.skipSpace();
      const c = this.text[this.pos];
      if (c === undefined) throw filterError(`unbalanced '[' of position ${open}`, this.pos, "',' or ']'");
      if (c !== "," && c !== "]") throw this.unexpected("',' or ']'");
      this.pos++;
      if (c === "]") return true;
    }
    return false;
  }

  private listItem(): FilterValue {
    if (this.text[this.pos] === "`") return { kind: "literal", literal: this.quoted() };
    const comparison = this.comparison();
    if (comparison !== null) return this.compared(comparison, true);
    const literal = this.listText();
    const dots = literal.text.indexOf("..");
    if (dots < 0) return { kind: "literal", literal };
    if (literal.text[dots + 2] === ".") {
      throw filterError(
        "more than two dots in a row",
        literal.at + dots,
        "<low>..<high>, or the value in backticks",
      );
    }
    const low = literal.text.slice(0, dots).trimEnd();
    const rest = literal.text.slice(dots + 2);
    const high = rest.trimStart();
    const highAt = literal.at + dots + 2 + (rest.length - high.length);
    if (low === "") throw filterError("a range without a lower bound", literal.at, "<low>..<high>");
    if (high === "") throw filterError("a range without an upper bound", highAt, "<low>..<high>");
    return {
      kind: "range",
      low: { text: low, quoted: false, at: literal.at },
      high: { text: high, quoted: false, at: highAt },
    };
  }

  /**
   * Parses a value outside brackets. `<` and `>` are comparisons only after `:`; after `:=` and `:!=` they
   * are part of the text.
   */
  private single(operator: FilterOperator): FilterValue {
    if (this.text[this.pos] === "`") return { kind: "literal", literal: this.quoted() };
    const comparison = operator === ":" ? this.comparison() : null;
    if (comparison !== null) return this.compared(comparison, false);
    return { kind: "literal", literal: this.plainText() };
  }

  private comparison(): Comparison | null {
    const c = this.text[this.pos];
    if (c !== ">" && c !== "<") return null;
    this.pos++;
    if (this.text[this.pos] !== "=") return c;
    this.pos++;
    return `${c}=`;
  }

  private compared(comparison: Comparison, inList: boolean): FilterValue {
    this.skipSpace();
    const quoted = this.text.charCodeAt(this.pos) === BACKTICK;
    const literal = quoted ? this.quoted() : inList ? this.listText() : this.plainText();
    return { kind: "comparison", comparison, literal };
  }

  /** Parses a value in backticks. Two backticks inside represent one backtick. */
  private quoted(): FilterLiteral {
    const at = this.pos;
    let text = "";
    let from = at + 1;
    for (;;) {
      const tick = this.text.indexOf("`", from);
      if (tick < 0) throw filterError(`unbalanced backtick of position ${at}`, this.text.length, "'`'");
      text += this.text.slice(from, tick);
      if (this.text[tick + 1] !== "`") {
        this.pos = tick + 1;
        return { text, quoted: true, at };
      }
      text += "`";
      from = tick + 2;
    }
  }

  private listText(): FilterLiteral {
    const at = this.pos;
    for (; this.pos < this.text.length; this.pos++) {
      const unit = this.text.charCodeAt(this.pos);
      if (unit === COMMA || unit === BRACKET_CLOSE) break;
      if (unit === BRACKET_OPEN)
        throw filterError("unexpected '['", this.pos, "',' or ']' (quote brackets in backticks)");
    }
    return this.literal(at);
  }

  /**
   * Parses the text up to `&&`, `||`, a group's closing `)`, or the end. Brackets in the text must balance.
   */
  private plainText(): FilterLiteral {
    const at = this.pos;
    const open: number[] = [];
    for (; this.pos < this.text.length; this.pos++) {
      const unit = this.text.charCodeAt(this.pos);
      if (this.atConnective(unit)) break;
      if (unit === PARENTHESIS_OPEN || unit === BRACKET_OPEN) open.push(this.pos);
      if (unit !== PARENTHESIS_CLOSE && unit !== BRACKET_CLOSE) continue;
      const last = open.at(-1);
      if (last === undefined && unit === PARENTHESIS_CLOSE && this.depth > 0) break;
      const opening = unit === PARENTHESIS_CLOSE ? PARENTHESIS_OPEN : BRACKET_OPEN;
      if (last === undefined || this.text.charCodeAt(last) !== opening) {
        const found = this.text[this.pos];
        throw filterError(
          `unbalanced '${found}'`,
          this.pos,
          "a balanced value (quote brackets in backticks)",
        );
      }
      open.pop();
    }
    const left = open.at(-1);
    if (left !== undefined) {
      throw filterError(
        `unbalanced '${this.text[left]}'`,
        left,
        "a balanced value (quote brackets in backticks)",
      );
    }
    return this.literal(at);
  }

  private literal(at: number): FilterLiteral {
    const text = this.text.slice(at, this.pos).trimEnd();
    if (text === "") throw filterError("no value", at, "a value");
    return { text, quoted: false, at };
  }

  private unexpected(expected: string): SkeinError {
    return filterError(`unexpected '${shorten(this.text.slice(this.pos))}'`, this.pos, expected);
  }

  /** True if the current code unit begins `&&` or `||`. */
  private atConnective(unit: number): boolean {
    return (unit === AMPERSAND || unit === BAR) && this.text.charCodeAt(this.pos + 1) === unit;
  }

  private take(token: string): boolean {
    this.skipSpace();
    if (!this.text.startsWith(token, this.pos)) return false;
    this.pos += token.length;
    return true;
  }

  private skipSpace(): void {
    for (; this.pos < this.text.length; this.pos++) {
      const unit = this.text.charCodeAt(this.pos);
      if (unit !== SPACE && !(isRareSpace(unit) && /\s/.test(this.text[this.pos] as string))) return;
    }
  }
}

function endsFieldName(unit: number): boolean {
  return (
    unit === COLON ||
    unit === PARENTHESIS_OPEN ||
    unit === PARENTHESIS_CLOSE ||
    unit === BRACKET_OPEN ||
    unit === BRACKET_CLOSE ||
    unit === BACKTICK
  );
}

/** True if the code unit may be white space other than the space character. */
function isRareSpace(unit: number): boolean {
  return unit < SPACE || unit > 0x7f;
}

/** Shortens a piece of a filter for an error message. */
export function shorten(text: string): string {
  if (text.length <= SHOWN_MAX) return text;
  const whole = text.slice(0, SHOWN_MAX).replace(/\p{Surrogate}$/u, ""); // do not end inside a surrogate pair
  return `${whole}...`;
}
