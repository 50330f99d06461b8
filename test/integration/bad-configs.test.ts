import { expect, test } from 'vitest';
import { reviewShoot } from '../../functions/admission/handler.ts';
import type { AdmissionRequest } from '../../shared/kube/admission.ts';
import { expectOneSentence, shootOf, validated } from './bad-configs/case.ts';
import { badConfigs } from './bad-configs/cases.ts';
import { describeShoots } from './bad-configs/shoots.ts';
import { ownDistribution } from './embedded-apis.ts';
import { speedUpTime } from './fast-clock.ts';

speedUpTime();

test.each(badConfigs)('$what is one sentence with object and remedy, and without secrets', ({ sentence }) => {
  expectOneSentence(sentence);
});

const isKnownToValidate = ({ unknownTo = [] }: (typeof badConfigs)[number]) => !unknownTo.includes('validate');

test.each(badConfigs.filter(isKnownToValidate))('validate says it: $what', async (config) => {
  expect(await validated(config, ownDistribution)).toEqual({ code: 1, out: `${config.sentence}\n`, err: '' });
});

test.each(badConfigs.filter(({ providerConfig }) => providerConfig !== undefined))(
  'admission says it where it can know: $what',
  (config) => {
    const request = { uid: 'u', operation: 'CREATE', object: shootOf(config) } as AdmissionRequest;
    const isUnknown = config.unknownTo?.includes('admission') === true;
    const said = { allowed: false, code: 422, message: config.sentence, details: { causes: { length: 1 } } };
    expect(reviewShoot(request)).toMatchObject(isUnknown ? { allowed: true } : said);
  },
);

/** Shoots run the checks that `validate` has run above; so one of each kind, and those that `validate` cannot know. */
const ofShoots = new Set([
  ...[
    badConfigs.filter(({ fluxConfig }) => fluxConfig),
    badConfigs.filter(({ providerConfig }) => providerConfig),
  ].flatMap((configs) => configs.slice(0, 2)),
  ...badConfigs.filter((config) => !isKnownToValidate(config)),
]);
describeShoots([...ofShoots], ownDistribution, ['a new Shoot', 'a running Shoot']);
