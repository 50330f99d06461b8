import { lookup } from 'node:dns/promises';
import { expect, it } from 'vitest';
import { generateIdentity } from './key-pair.ts';

it('generates at most two RSA keys at a time, so that names are resolved and other keys are generated meanwhile', async () => {
  const isOver = new AbortController();
  const first = [generateIdentity('rsa'), generateIdentity('rsa')];
  let ready = 0;
  for (const key of first) void key.then(() => ready++);
  const others = Array.from({ length: 10 }, () => generateIdentity('rsa', isOver.signal));
  const refused = Promise.allSettled(others);
  await lookup('localhost');
  expect(await generateIdentity('ed25519')).toContain('PRIVATE KEY');
  // Those that wait for their turn end with their runs.
  isOver.abort(new Error('the run is over'));
  expect((await refused).filter(({ status }) => status === 'rejected').length + ready).toBeGreaterThanOrEqual(10);
  expect(await Promise.all(first)).toEqual([expect.stringContaining('PRIVATE KEY'), expect.anything()]);
});
