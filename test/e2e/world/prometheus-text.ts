// A strict parser for the Prometheus text format (0.0.4). It rejects a line that is not HELP, TYPE or a
// sample, a sample of an undeclared metric, a duplicate series, and a bucket smaller than the previous one.
// Written from the format's description, not from the library that writes it.

const NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*";
const LABEL = '[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\\\\n]|\\\\[\\\\"n])*"';
const SAMPLE = new RegExp(`^(${NAME})(?:\\{(${LABEL}(?:,${LABEL})*)\\})? (\\S+)$`);
const TYPE = new RegExp(`^# TYPE (${NAME}) (counter|gauge|histogram|summary|untyped)$`);
const HELP = new RegExp(`^# HELP (${NAME}) \\S.*$`);

export interface Scraped {
  /** Each metric's type, by metric name. */
  readonly types: ReadonlyMap<string, string>;
  /** All series, keyed as written: `name{label="value",...}`. */
  readonly series: ReadonlyMap<string, number>;
  /** The value of the series, or undefined if it does not exist. Labels may be in any order. */
  value(name: string, labels?: Readonly<Record<string, string | number>>): number | undefined;
  /** A label's distinct values across all of a metric's series. */
  labelValues(name: string, label: string): Set<string>;
}

/** Throws an Error with the offending line if the text is invalid. */
export function readPrometheusText(text: string): Scraped {
  if (!text.endsWith("\n")) throw new Error("the text does not end with a line feed");
  const types = new Map<string, string>();
  const series = new Map<string, number>();
  const samples: { name: string; labels: Map<string, string>; value: number }[] = [];
  for (const line of text.split("\n")) {
    if (line === "" || HELP.test(line)) continue;
    const type = TYPE.exec(line);
    if (type !== null) {
      if (types.has(type[1]!)) throw new Error(`declared twice: ${line}`);
      types.set(type[1]!, type[2]!);
      continue;
    }
    const sample = SAMPLE.exec(line);
    const value = numberOf(sample?.[3] ?? "");
    if (sample === null || value === null) throw new Error(`not a sample: ${line}`);
    const name = sample[1]!;
    const plain = name.replace(/_(bucket|sum|count)$/, "");
    if (!types.has(name) && types.get(plain) !== "histogram") throw new Error(`not declared: ${line}`);
    const key = line.slice(0, line.lastIndexOf(" "));
    if (series.has(key)) throw new Error(`twice: ${line}`);
    series.set(key, value);
    samples.push({ name, labels: labelsOf(sample[2] ?? ""), value });
  }
  checkBuckets(samples);
  return {
    types,
    series,
    value(name, labels = {}) {
      const wanted = Object.entries(labels);
      return samples.find(
        (sample) =>
          sample.name === name &&
          sample.labels.size === wanted.length &&
          wanted.every(([label, value]) => sample.labels.get(label) === String(value)),
      )?.value;
    },
    labelValues(name, label) {
      const values = samples.filter((sample) => sample.name === name).map(({ labels }) => labels.get(label));
      return new Set(values.filter((value) => value !== undefined));
    },
  };
}

/** Parses a value; NaN is valid in any letter case. Returns null if the text is not a number. */
function numberOf(text: string): number | null {
  if (/^nan$/i.test(text)) return Number.NaN;
  const value = Number(text.replace(/^([+-]?)Inf$/, "$1Infinity"));
  return text === "" || Number.isNaN(value) ? null : value;
}

function labelsOf(text: string): Map<string, string> {
  const found = text.matchAll(/([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g);
  return new Map(Array.from(found, ([, name, value]) => [name!, value!.replace(/\\(["\\])/g, "$1")]));
}

/**
 * Requires that a series' buckets do not decrease from one sample to the next. The bucket +Inf ends a series.
 */
function checkBuckets(
  samples: readonly { name: string; labels: Map<string, string>; value: number }[],
): void {
  samples.forEach(({ name, labels, value }, i) => {
    const before = samples[i - 1];
    if (!name.endsWith("_bucket") || before?.name !== name || before.labels.get("le") === "+Inf") return;
    if (before.value > value) throw new Error(`${name} shrinks at le=${labels.get("le")}`);
  });
}
