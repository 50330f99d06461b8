import { eventually } from '@shoot-flux/landscape/eventually';
import { beforeAll, expect, it } from 'vitest';
import { createLog } from '../../shared/runtime/log.ts';
import { type KeyPair, renewed } from './certificates.ts';
import { startWebhooks } from './webhooks.ts';

const start = new Date();
const at = (days: number) => new Date(start.getTime() + days * 86_400_000);

/** Valid for ten days. */
let certificate: KeyPair;
beforeAll(async () => {
  certificate = (await renewed(undefined, ['a.example'], start)).serving;
});

async function servedOn(date: Date, problems: string[]) {
  const lines: string[] = [];
  const webhooks = await startWebhooks({
    port: 0,
    served: [],
    certificates: { current: async () => ({ certificate, authorities: '' }) },
    publish: async () => problems,
    log: createLog('debug', (line) => lines.push(line)),
    now: () => date,
  });
  await eventually('a log line', async () => lines.length > 0);
  await webhooks.stop();
  return { status: webhooks.status(), log: lines.map((line) => JSON.parse(line).error) };
}

it.each<[string, number, boolean, string | undefined]>([
  ['is valid', 0, true, undefined],
  ['has more than a tenth of its life left', 8.9, true, undefined],
  ['expires soon', 9.1, true, 'the serving certificate expires at 20'],
  ['has expired', 10.1, false, 'the serving certificate expired at 20'],
  ['is not valid yet', -1, false, 'the serving certificate is not valid before 20'],
])('reports the state of a certificate that %s', async (_, day, ready, sentence) => {
  const { status, log } = await servedOn(at(day), ['the rest']);
  expect(status).toEqual({
    ready,
    until: expect.any(Date),
    problems: sentence === undefined ? ['the rest'] : [expect.stringContaining(sentence), 'the rest'],
  });
  expect(log).toEqual([status.problems.join(' ')]);
});
