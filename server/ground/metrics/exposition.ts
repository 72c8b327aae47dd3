// Prints the metrics as Prometheus text. Only this file uses prom-client, which formats and escapes the text
// and adds the process's own metrics. The server counts in its own recorder, because updating the library's
// label maps on every request is too expensive.
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { Counter, collectDefaultMetrics, Gauge, Histogram, type MetricType, Registry } from "prom-client";
import { HISTOGRAMS, type HistogramFamily, NUMBERS } from "./families.js";
import type { Readings } from "./readings.js";
import type { Recorder } from "./recorder.js";
import { type RecorderValues, sumOf } from "./recorder-values.js";

const PREFIX = "skein_";

/** The values printed for one scrape. */
interface Source {
  /** Sum over all threads. */
  values: RecorderValues;
  readings: Readings;
}

export class Exposition {
  readonly contentType: string;
  readonly #registry = new Registry();
  readonly #recorder: Recorder;
  readonly #source: Source;

  /** Starts observing this thread's event loop and garbage collector. */
  constructor(recorder: Recorder) {
    this.contentType = this.#registry.contentType;
    const source: Source = { values: recorder.values(), readings: NOTHING };
    this.#recorder = recorder;
    this.#source = source;
    const registers = [this.#registry];
    for (const family of HISTOGRAMS) this.#registry.registerMetric(new RecordedHistogram(family, source));
    for (const { type, name, help, labels, samples } of NUMBERS) {
      const shared = { name: PREFIX + name, help, labelNames: labels, registers };
      if (type === "counter") {
        new Counter({
          ...shared,
          collect() {
            this.reset();
            for (const [labels, value] of samples(source.values, source.readings)) this.inc(labels, value);
          },
        });
      } else {
        new Gauge({
          ...shared,
          collect() {
            this.reset();
            for (const [labels, value] of samples(source.values, source.readings)) this.set(labels, value);
          },
        });
      }
    }
    collectDefaultMetrics({ register: this.#registry, prefix: PREFIX });
  }

  /**
   * Returns the text for one scrape: the counts of this thread's recorder and of `others`, the other threads'
   * recorders, and `readings`. Prints metric by metric, so that requests are handled in between. Must not be
   * called again before the previous call has resolved.
   */
  async text(readings: Readings, others: readonly RecorderValues[] = []): Promise<string> {
    this.#source.readings = readings;
    this.#source.values = sumOf([this.#recorder.values(), ...others]);
    const parts: string[] = [];
    for (const { name } of this.#registry.getMetricsAsArray()) {
      parts.push(await this.#registry.getSingleMetricAsString(name));
      await yieldToEventLoop();
    }
    return `${parts.join("\n\n")}\n`;
  }
}

const NOTHING: Readings = {
  shards: [],
  shardRequestsMax: 0,
  indexes: [],
  otherDocuments: null,
  residency: { loaded: 0, openings: 0, unloads: 0 },
  overdueSources: [],
  unsentBytes: 0,
  statuses: new Map(),
  disk: null,
};

/** A histogram whose observations are counted in the recorder, not by the library. */
class RecordedHistogram extends Histogram {
  readonly #family: HistogramFamily;
  readonly #source: Source;

  constructor(family: HistogramFamily, source: Source) {
    const { name, help, labels } = family;
    super({ name: PREFIX + name, help, labelNames: labels, registers: [] });
    this.#family = family;
    this.#source = source;
  }

  override async get(): ReturnType<Histogram["get"]> {
    const name = PREFIX + this.#family.name;
    const values = this.#family.samples(this.#source.values).flatMap(([labels, { counts, sum }]) => {
      let count = 0;
      const buckets = Array.from(counts, ([bound, own]) => {
        count += own;
        const le = Number.isFinite(bound) ? bound : "+Inf";
        return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: count };
      });
      return [
        ...buckets,
        { metricName: `${name}_sum`, labels, value: sum },
        { metricName: `${name}_count`, labels, value: count },
      ];
    });
    // The typings require a numeric enum, but the library itself uses names.
    const type = "histogram" as unknown as MetricType;
    return { name, help: this.#family.help, type, aggregator: "sum", collect: () => undefined, values };
  }

  /** The registry calls this method rather than `get`; the library's typings omit it. */
  getForPromString(): ReturnType<Histogram["get"]> {
    return this.get();
  }
}
