import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { AdmissionAnswer, AdmissionRequest } from '../../shared/kube/admission.ts';
import { addTargetNamespaces, leaveUnchanged } from './target-namespaces-flag.ts';

const IMAGE = 'registry.example.org:5000/gardener/resource-manager:v1.150.0';

interface Container {
  name?: string;
  image?: string;
  command?: unknown;
  args?: unknown;
}

function deployment(containers: unknown, name = 'gardener-resource-manager'): object {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: { template: { spec: { containers } } },
  };
}

const manager = (parts: Container): object => ({ name: 'gardener-resource-manager', image: IMAGE, ...parts });
const requestFor = (object: unknown, oldObject?: unknown): AdmissionRequest => ({
  uid: 'u',
  operation: 'UPDATE',
  object,
  ...(oldObject !== undefined && { oldObject }),
});
const target = (...namespaces: string[]) => ({ namespaces, warnings: [] });

/** Returns the object as the API server stores it. */
function patched(object: object, answer: AdmissionAnswer): object {
  const copy = structuredClone(object);
  for (const { path, value } of answer.allowed ? (answer.patch ?? []) : []) {
    const steps = path.split('/').slice(1);
    const last = steps.pop() ?? '';
    const target = steps.reduce<Record<string, never>>(
      (inner, step) => inner[step] ?? {},
      copy as Record<string, never>,
    );
    if (Array.isArray(target)) target.splice(Number(last), 0, value);
    else Object.assign(target, { [last]: value });
  }
  return copy;
}

describe('arguments', () => {
  const flag = '--extra-target-namespace';
  const [a = '', b = '', c = ''] = ['a', 'b', 'c'].map((namespace) => `${flag}=${namespace}`);
  it.each<[string, Container, string[], Container]>([
    ['are created where there are none', {}, ['a'], { args: [a] }],
    ['are added at the end', { args: ['--config=x'] }, ['a', 'b'], { args: ['--config=x', a, b] }],
    ['are created where they are null', { args: null }, ['a'], { args: [a] }],
    ['stay with an equals sign', { args: [a] }, ['a'], { args: [a] }],
    ['stay in two words', { args: [flag, 'a', '-v'] }, ['a'], { args: [flag, 'a', '-v'] }],
    ['stay with commas', { args: [`${a},b`] }, ['b', 'a'], { args: [`${a},b`] }],
    ['add only what is missing', { args: [a, flag, 'b'] }, ['b', 'c'], { args: [a, flag, 'b', c] }],
    ['of another controller stay', { args: [`${flag}=other`] }, ['a'], { args: [`${flag}=other`, a] }],
    ['with a longer name are other flags', { args: [`${flag}s=a`] }, ['a'], { args: [`${flag}s=a`, a] }],
    ['in the command count', { command: ['/grm', a] }, ['a'], { command: ['/grm', a] }],
    [
      'may start in the command',
      { command: ['/grm', flag], args: ['a'] },
      ['a', 'b'],
      { command: ['/grm', flag], args: ['a', b] },
    ],
    ['are inserted before the end', { args: ['-v', '--', 'x'] }, ['a', 'b'], { args: ['-v', a, b, '--', 'x'] }],
    ['after the end of flags do not count', { args: ['--', a] }, ['a'], { args: [a, '--', a] }],
    [
      'are inserted before the end in the command',
      { command: ['/grm', '--'], args: ['x'] },
      ['a'],
      { command: ['/grm', a, '--'], args: ['x'] },
    ],
    ['are not needed without namespaces', { args: ['-v'] }, [], { args: ['-v'] }],
  ])('%s', (_, before, namespaces, after) => {
    const object = deployment([{ name: 'sidecar', args: ['--', flag] }, manager(before)]);
    const result = patched(object, addTargetNamespaces(requestFor(object), target(...namespaces)));
    expect(result).toEqual(deployment([{ name: 'sidecar', args: ['--', flag] }, manager(after)]));
    expect(addTargetNamespaces(requestFor(result), target(...namespaces))).toEqual({
      allowed: true,
      patch: [],
      warnings: [],
    });
  });

  test('are never added twice', () => {
    const word = fc.oneof(fc.constantFrom(flag, `${flag}=a`, `${flag}=b,a`, '--', 'a', '-v'), fc.string());
    const words = fc.option(fc.array(word), { nil: undefined });
    fc.assert(
      fc.property(words, words, (command, args) => {
        const object = deployment([manager({ ...(command && { command }), ...(args && { args }) })]);
        const result = patched(object, addTargetNamespaces(requestFor(object), target('a', 'c')));
        expect(addTargetNamespaces(requestFor(result), target('a', 'c'))).toMatchObject({ patch: [] });
      }),
    );
  });
});

describe('a Deployment', () => {
  const leftUnchanged = (image: string) => leaveUnchanged(requestFor(deployment([manager({ image })])));

  it.each([
    ...['resource-manager:v1.147.0', 'resource-manager:v2.0.0', 'resource-manager:1.148.0'],
    // A pre-release of a later version, and a patch of the first one, rebuilt.
    ...['resource-manager:v1.150.0-dev-abc', 'resource-manager:v1.147.1-mod1', `${IMAGE}@sha256:abc`],
  ])('of image %s may support the flag', (image) => {
    expect(leftUnchanged(image)).toBeUndefined();
  });

  it.each([
    ['gardener/resource-manager:v1.146.9', 'image version v1.146.9 is older than v1.147'],
    ['gardener/resource-manager:v1.147.0-dev', 'image version v1.147.0-dev may be older than v1.147.0'],
    ['resource-manager:v1.147.0-mod1@sha256:abc', 'image version v1.147.0-mod1 may be older than v1.147.0'],
    ['gardener/resource-manager:2026.07.02', 'image tag 2026.07.02 is not a version'],
    ['gardener/resource-manager', 'image gardener/resource-manager has no tag'],
  ])('of image %s is left unchanged, because it may not support the flag', (image, problem) => {
    const warnings = [`shoot-flux: gardener-resource-manager: --extra-target-namespace was not added: ${problem}`];
    expect(leftUnchanged(image)).toEqual({ allowed: true, warnings });
  });

  it('with another name is left unchanged', () => {
    expect(leaveUnchanged(requestFor(deployment([manager({})], 'kube-apiserver')))).toEqual({ allowed: true });
  });

  it.each([['x'], [[{ name: 'other', image: IMAGE }]]])(
    'with containers %j has none of the resource-manager',
    (some) => {
      const warnings = [
        'shoot-flux: gardener-resource-manager: --extra-target-namespace was not added: there is no container gardener-resource-manager',
      ];
      expect(leaveUnchanged(requestFor(deployment(some)))).toEqual({ allowed: true, warnings });
    },
  );

  it('keeps its namespaces when the configuration names others, because Flux stays where it is', () => {
    const args = ['--extra-target-namespace=flux-x', '--extra-target-namespace', 'flux-y'];
    const [before, after] = [deployment([manager({ args })]), deployment([manager({ args: ['-v'] })])];
    const warnings = ['the garden does not answer'];
    const answer = addTargetNamespaces(requestFor(after, before), { namespaces: ['flux-system'], warnings });
    expect(answer).toMatchObject({ warnings: ['shoot-flux: gardener-resource-manager: the garden does not answer'] });
    const kept = ['flux-x', 'flux-y', 'flux-system'].map((namespace) => `--extra-target-namespace=${namespace}`);
    expect(patched(after, answer)).toEqual(deployment([manager({ args: ['-v', ...kept] })]));
  });

  test('is allowed whatever it contains', () => {
    const anything = fc.anything({ maxDepth: 4 });
    fc.assert(
      fc.property(anything, anything, anything, (object, containers, args) => {
        for (const strange of [object, deployment(containers), deployment([manager({ args, command: args })])]) {
          const request = requestFor(strange, object);
          const answer =
            leaveUnchanged(request) ?? addTargetNamespaces(request, { namespaces: ['a'], warnings: ['b'] });
          expect(answer.allowed).toBe(true);
        }
      }),
    );
  });
});
