import { describe, expect, it } from 'vitest';
import { problems } from './config.fixtures.ts';
import { effectiveConfig } from './effective-config.ts';
import { documentsOf } from './flux-config-map.ts';

const namespace = 'garden-foo';
const inputs = (rollout: string) => ({ fluxConfig: { namespace, data: { rollout } } });
const read = (rollout: string) => documentsOf(inputs(rollout).fluxConfig).rollout;

describe('rollout', () => {
  it('has defaults as soon as it says anything', () => {
    expect(read('{}')).toEqual({ rollout: { maxInProgress: '10%', maxFailed: '5%' }, issues: [] });
    expect(read('{ maxInProgress: 3, maxFailed: 0, order: example.com/stage, maintenanceWindow: true }')).toEqual({
      rollout: { maxInProgress: 3, maxFailed: 0, order: 'example.com/stage', maintenanceWindow: true },
      issues: [],
    });
    expect(read('maxInProgress: 100%\nmaxFailed: null')?.rollout).toEqual({
      maxInProgress: '100%',
      maxFailed: '5%',
    });
  });

  it.each(['', '  \n', '# nothing yet'])('may be empty: %j', (text) => {
    expect(read(text)?.rollout).toBeUndefined();
    expect(effectiveConfig(inputs(text)).hasFluxConfig).toBe(true);
  });

  it('changes nothing of the configuration', () => {
    const { fluxConfig: _, ...rest } = { fluxConfig: undefined, ...effectiveConfig(inputs('{}')) };
    const { fluxConfig: __, ...other } = { fluxConfig: undefined, ...effectiveConfig(inputs('')) };
    expect(rest).toEqual(other);
  });

  const fromOne = 'use a whole number from 1 on, or a percentage from 1% to 100%';
  const fromZero = 'use a whole number from 0 on, or a percentage from 0% to 100%';
  it.each([
    ['- maxFailed: 1', ' must be a map; write for example { maxInProgress: 10%, maxFailed: 5% }'],
    ['10%', ' must be a map; write for example { maxInProgress: 10%, maxFailed: 5% }'],
    ['{ maxInProgress: 0 }', `.maxInProgress is 0; ${fromOne}`],
    ['{ maxInProgress: 0% }', `.maxInProgress is "0%"; ${fromOne}`],
    ['{ maxInProgress: 1.5 }', `.maxInProgress is 1.5; ${fromOne}`],
    ['{ maxInProgress: 101% }', `.maxInProgress is "101%"; ${fromOne}`],
    ['{ maxInProgress: all }', `.maxInProgress is "all"; ${fromOne}`],
    ['{ maxInProgress: 100000 }', `.maxInProgress is 100000; ${fromOne}`],
    ['{ maxFailed: -1 }', `.maxFailed is -1; ${fromZero}`],
    ['{ maxFailed: [1] }', `.maxFailed is not a number; ${fromZero}`],
  ])('%s is an error: rollout%s', (text, sentence) => {
    expect(problems(inputs(text))).toEqual([`ConfigMap ${namespace}/flux-config: rollout${sentence}`]);
  });

  it.each([
    ['{ order: "a b" }', 'rollout.order "a b" '],
    ['{ maintenanceWindow: "yes" }', 'rollout.maintenanceWindow must be true or false without quotes, not "yes"'],
    ['{ maxInprogress: 1 }', 'rollout.maxInprogress is not a known key'],
    ['{ maxFailed: 1', 'rollout is not valid YAML in line 1, column 15: "Flow map must end with a }"; correct it'],
  ])('%s is an error: %s', (text, sentence) => {
    expect(problems(inputs(text))).toEqual([expect.stringContaining(`flux-config: ${sentence}`)]);
  });
});
