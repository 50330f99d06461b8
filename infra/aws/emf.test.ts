import { describe, expect, it } from 'vitest';
import { createEmfMetrics } from './emf.ts';

describe('metrics for CloudWatch', () => {
  it('are written once, as one line for each set of labels', () => {
    const lines: unknown[] = [];
    const metrics = createEmfMetrics(
      (line) => lines.push(JSON.parse(line)),
      () => new Date(1_000),
    );
    metrics.count('retries_total', { function: 'keys' });
    metrics.observe('reconcile_seconds', 0.25, { function: 'keys' });
    metrics.observe('reconcile_seconds', 0.5, { function: 'keys' });
    metrics.gauge('depth', 3);
    metrics.flush();
    metrics.flush();
    expect(lines).toEqual([
      {
        _aws: {
          Timestamp: 1_000,
          CloudWatchMetrics: [
            {
              Namespace: 'shoot-flux',
              Dimensions: [['function']],
              Metrics: [
                { Name: 'retries_total', Unit: 'Count' },
                { Name: 'reconcile_seconds', Unit: 'Seconds' },
              ],
            },
          ],
        },
        function: 'keys',
        retries_total: [1],
        reconcile_seconds: [0.25, 0.5],
      },
      {
        _aws: {
          Timestamp: 1_000,
          CloudWatchMetrics: [
            { Namespace: 'shoot-flux', Dimensions: [[]], Metrics: [{ Name: 'depth', Unit: 'None' }] },
          ],
        },
        depth: [3],
      },
    ]);
  });
});
