import { expect, test } from 'vitest';
import { freePorts } from './ports.ts';

test('programs that start at the same time have different ports', async () => {
  const ports = await Promise.all(Array.from({ length: 40 }, () => freePorts(25)));
  expect(new Set(ports.flat())).toHaveLength(1000);
});
