import { eventually } from '@shoot-flux/landscape/eventually';
import { beforeAll, expect, it } from 'vitest';
import { createLog } from '../../shared/runtime/log.ts';
import { due, type KeyPair } from './certificates.ts';
import { renewed } from './make-certificates.ts';
import { startWebhooks } from './webhooks.ts';

const start = new Date();
const at = (days: number) => new Date(start.getTime() + days * 86_400_000);

/** Lasts ten days. */
let certificate: KeyPair;
beforeAll(async () => {
  certificate = (await renewed(undefined, due(undefined, ['a.example'], start), ['a.example'], start)).serving;
});

async function servedOn(date: Date, problems: string[]) {
  const lines: string[] = [];
  const webhooks = await startWebhooks({
    port: 0,
    served: [],
    certificates: { current: async () => ({ certificate, problems: Promise.resolve(problems) }) },
    log: createLog('debug', (line) => lines.push(line)),
    now: () => date,
  });
  await eventually('a line of the log', async () => lines.length > 0);
  await webhooks.stop();
  return { status: webhooks.status(), log: lines.map((line) => JSON.parse(line).error) };
}

it.each<[string, number, boolean, string | undefined]>([
  ['is fine', 0, true, undefined],
  ['is fine until a tenth of its life is left', 8.9, true, undefined],
  ['ends soon', 9.1, true, 'the serving certificate ends at 20'],
  ['has ended', 10.1, false, 'the serving certificate expired at 20'],
  ['has not begun', -1, false, 'the serving certificate is valid from 20'],
])('a certificate that %s is told of as such', async (_, day, ready, sentence) => {
  const { status, log } = await servedOn(at(day), ['the rest']);
  expect(status).toEqual({
    ready,
    until: expect.any(Date),
    problems: sentence === undefined ? ['the rest'] : [expect.stringContaining(sentence), 'the rest'],
  });
  expect(log).toEqual([status.problems.join(' ')]);
});
