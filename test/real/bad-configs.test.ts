import { testDataMissing } from '@shoot-flux/landscape/test-data';
import { expect, test } from 'vitest';
import { openDistribution } from '../../shared/flux/distribution.ts';
import { componentsOf } from '../../shared/flux/install.ts';
import { type BadConfig, expectOneSentence, validated } from '../integration/bad-configs/case.ts';
import { badConfigs } from '../integration/bad-configs/cases.ts';
import { describeShoots } from '../integration/bad-configs/shoots.ts';
import { speedUpTime } from '../integration/fast-clock.ts';
import { testDistribution } from '../made-distribution.ts';
import { realCases } from './bad-configs/cases.ts';

speedUpTime();

const NEWEST = 'v2.9.4';
const folder = await testDistribution();
if (folder === undefined) test.skip(testDataMissing);
const cases = folder === undefined ? [] : realCases;
const others = folder === undefined ? [] : await withRealRelease(badConfigs, folder);

/** Those whose sentences name the releases of the distribution or the components of one; the rest says the same. */
async function withRealRelease(configs: BadConfig[], dir: string): Promise<BadConfig[]> {
  const distribution = openDistribution(dir);
  const versions = await distribution.versions();
  const components = componentsOf(await distribution.release(NEWEST));
  const named = (sentence: string) =>
    sentence
      .replace('available releases are v2.9.99', `available releases are ${versions.join(', ')}`)
      .replace(/\(its components are [\w, -]+\)/, `(its components are ${components.join(', ')})`)
      .replaceAll('v2.9.99', NEWEST);
  return configs
    .map((config) => ({ ...config, sentence: named(config.sentence) }))
    .filter(({ sentence }, index) => sentence !== configs[index]?.sentence);
}

test.each(cases)('is one sentence with object and remedy: $what', ({ sentence }) => {
  expectOneSentence(sentence.replace(/^configuration: /, 'providerConfig: '));
});

const known = [...cases, ...others].filter(({ unknownTo = [] }) => !unknownTo.includes('validate'));

test.each(known)('validate says it with a real release: $what', async (config) => {
  expect(await validated(config, folder ?? '')).toEqual({ code: 1, out: `${config.sentence}\n`, err: '' });
});

/** A running Flux is never replaced by an older one, whatever else is wrong. */
const ofNewest = cases.filter(({ sentence }) => !/Flux v2\.[36]/.test(sentence));

if (folder !== undefined) {
  describeShoots(cases, folder, ['a new Shoot']);
  describeShoots(ofNewest, folder, ['a running Shoot']);
}
