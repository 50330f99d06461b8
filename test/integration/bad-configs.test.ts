import { expect, test } from 'vitest';
import { reviewShoot } from '../../functions/admission/handler.ts';
import type { AdmissionRequest } from '../../shared/kube/admission.ts';
import { attacks } from './bad-configs/attacks.ts';
import { type BadConfig, shootOf } from './bad-configs/case.ts';
import { ofLists } from './bad-configs/lists.ts';
import { ofProject } from './bad-configs/project.ts';
import { ofTheShoot } from './bad-configs/shoot.ts';
import { describeShoots } from './bad-configs/shoots.ts';
import { expectOneSentence, validated } from './bad-configs/validated.ts';
import { ownDistribution } from './embedded-apis.ts';
import { speedUpTime } from './fast-clock.ts';

speedUpTime();

const mistakes: BadConfig[] = [...ofProject, ...ofTheShoot, ...ofLists];
const all: BadConfig[] = [...mistakes, ...attacks];
test('there are many, of different kinds, and each has a sentence of its own', () => {
  expect(mistakes.length).toBeGreaterThanOrEqual(40);
  expect(attacks.length).toBeGreaterThanOrEqual(30);
  expect(new Set(all.map(({ what }) => what)).size).toBe(all.length);
  expect(new Set(mistakes.map(({ sentence }) => sentence)).size).toBe(mistakes.length);
});

test.each(all)('$what is one sentence with object and remedy, and without secrets', ({ sentence }) => {
  expectOneSentence(sentence);
});

const known = (to: 'validate' | 'admission') => all.filter(({ unknownTo = [] }) => !unknownTo.includes(to));

test.each(known('validate'))('validate says it: $what', async (config) => {
  expect(await validated(config, ownDistribution)).toEqual({ code: 1, out: `${config.sentence}\n`, err: '' });
});

test.each(all.filter(({ providerConfig }) => providerConfig !== undefined))(
  'admission says it where it can know: $what',
  (config) => {
    const request = { uid: 'u', operation: 'CREATE', object: shootOf(config) } as AdmissionRequest;
    const isUnknown = config.unknownTo?.includes('admission') === true;
    const said = { allowed: false, code: 422, message: config.sentence, details: { causes: { length: 1 } } };
    expect(reviewShoot(request)).toMatchObject(isUnknown ? { allowed: true } : said);
  },
);

const reachesShoots = ({ isRefusedByApi }: BadConfig) => isRefusedByApi !== true;
/** Shoots run the checks that `validate` has run above; so one of each kind, and those that `validate` cannot know. */
const ofShoots = new Set([
  ...[ofProject, ofTheShoot, ofLists, attacks].flatMap((configs) => configs.filter(reachesShoots).slice(0, 1)),
  ...all.filter(({ unknownTo }) => unknownTo?.includes('validate')),
]);
describeShoots([...ofShoots], ownDistribution, ['a new Shoot', 'a running Shoot']);
