import { afterEach, expect, test, vi } from 'vitest';
import config from '../../../vitest.real.config.ts';
import { freePorts } from './ports.ts';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

test('programs that start at the same time have different ports', async () => {
  const ports = await Promise.all(Array.from({ length: 40 }, () => freePorts(25)));
  expect(new Set(ports.flat())).toHaveLength(1000);
});

test('workers have different ports, wherever each begins to count', async () => {
  const { maxWorkers } = config.test ?? {};
  const ports: number[] = [];
  for (let worker = 1; worker <= Number(maxWorkers); worker++) {
    vi.stubEnv('VITEST_POOL_ID', String(worker));
    vi.spyOn(Math, 'random').mockReturnValue(0.9999);
    vi.resetModules();
    ports.push(...(await (await import('./ports.ts')).freePorts(2)));
  }
  expect(ports.length).toBeGreaterThan(0);
  expect(new Set(ports)).toHaveLength(ports.length);
  expect(Math.max(...ports)).toBeLessThan(32_768);
});
