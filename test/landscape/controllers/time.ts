const units: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Returns the milliseconds of a Go duration such as `1m30s`. */
export function milliseconds(duration: string): number {
  return [...duration.matchAll(/([\d.]+)(ms|[smh])/g)].reduce(
    (sum, [, amount, unit]) => sum + Number(amount) * (units[unit ?? ''] ?? 0),
    0,
  );
}

/** Returns RFC 3339 with seconds, as metav1.Time. */
export function seconds(millis: number): string {
  return `${new Date(millis).toISOString().slice(0, 19)}Z`;
}
