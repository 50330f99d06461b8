export type Labels = Record<string, string>;

/** Counts and observes. The process decides where the numbers go: Prometheus text or CloudWatch EMF. */
export interface Metrics {
  /** Adds to a counter; names end in `_total`. */
  count(name: string, labels?: Labels, by?: number): void;
  /** Sets a gauge. */
  gauge(name: string, value: number, labels?: Labels): void;
  /** Observes a duration in seconds; names end in `_seconds`. */
  observe(name: string, seconds: number, labels?: Labels): void;
}

/** Discards all metrics. */
export const noMetrics: Metrics = { count() {}, gauge() {}, observe() {} };
