import type { Labels, Metrics } from '../../shared/runtime/metrics.ts';

const NAMESPACE = 'shoot-flux';

/** Collects until `flush`, so that a Lambda invocation writes a few lines instead of one for each number. */
export function createEmfMetrics(write: (line: string) => void, now = () => new Date()): Metrics & { flush(): void } {
  let lines = new Map<string, { labels: Labels; values: Map<string, number[]> }>();
  const add = (name: string, value: number, labels: Labels = {}) => {
    const id = JSON.stringify(Object.entries(labels).sort());
    const line = lines.get(id) ?? { labels, values: new Map() };
    lines.set(id, line);
    line.values.set(name, [...(line.values.get(name) ?? []), value]);
  };
  return {
    count: (name, labels, by = 1) => add(name, by, labels),
    gauge: (name, value, labels) => add(name, value, labels),
    observe: (name, seconds, labels) => add(name, seconds, labels),
    flush() {
      const Timestamp = now().getTime();
      for (const { labels, values } of lines.values()) {
        const Metrics = [...values.keys()].map((Name) => ({ Name, Unit: unitOf(Name) }));
        const CloudWatchMetrics = [{ Namespace: NAMESPACE, Dimensions: [Object.keys(labels)], Metrics }];
        write(JSON.stringify({ _aws: { Timestamp, CloudWatchMetrics }, ...labels, ...Object.fromEntries(values) }));
      }
      lines = new Map();
    },
  };
}

function unitOf(name: string): string {
  if (name.endsWith('_total')) return 'Count';
  return name.endsWith('_seconds') ? 'Seconds' : 'None';
}
