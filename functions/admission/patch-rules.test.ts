import { expect, it, test } from 'vitest';
import { reviewShoot } from './handler.ts';

const shoot = (flux: object, labels = {}) => ({
  apiVersion: 'core.gardener.cloud/v1beta1',
  kind: 'Shoot',
  metadata: { namespace: 'garden-foo', name: 'bar', labels },
  spec: { extensions: [{ type: 'shoot-flux', providerConfig: { flux } }] },
});
const any = '{ kind: any, metadata: { name: any } }';
const good = { patches: [{ target: { kind: 'Deployment' }, patch: any }] };

function sentence(object: object, oldObject?: object): string {
  const answer = reviewShoot({ uid: 'u', operation: 'CREATE', object, oldObject });
  return answer.allowed ? 'allowed' : answer.message;
}

it.each<[string, object, string]>([
  ['no YAML', { patch: 'a: [' }, 'is not YAML: '],
  ['operations without a target', { patch: '[]' }, 'is a list of operations without a target; add a target'],
  [
    'a wrong operation',
    { target: { kind: 'Deployment' }, patch: '[{ op: merge, path: /spec }]' },
    'has a wrong operation 0: op must be one of ',
  ],
  ['a broken pattern', { target: { name: '[' }, patch: any }, 'target.name "[" is not a regular expression'],
  ['a broken selector', { target: { labelSelector: 'a in b' }, patch: any }, 'is not a label selector'],
  [
    'two documents with a target',
    { target: { kind: 'Deployment' }, patch: `${any}\n---\n${any}` },
    'has several documents and a target; use one entry for each, or remove the target',
  ],
])('%s is refused when the Shoot is written', (_, patch, expected) => {
  const answer = sentence(shoot({ patches: [...good.patches, patch] }));
  expect(answer).toContain('providerConfig: flux.patches[1]');
  expect(answer).toContain(expected);
});

test('patches that an installation could take are allowed, whatever is installed', () => {
  expect(sentence(shoot(good))).toBe('allowed');
  expect(sentence(shoot({ patches: [{ target: { kind: 'None' }, patch: any }] }))).toBe('allowed');
});

test('a patch with thousands of mistakes is refused with the first one', () => {
  const object = shoot({ patches: [{ target: { kind: 'Deployment' }, patch: `"${'\\q'.repeat(8000)}"` }] });
  const refuse = () => reviewShoot({ uid: 'u', operation: 'CREATE', object, oldObject: undefined });
  expect(refuse()).toMatchObject({
    message: expect.stringContaining('is not YAML: Invalid escape sequence \\q at line 1, column 2; correct it'),
  });
});

test('what was stored with a wrong patch can be edited elsewhere', () => {
  const wrong = { patches: [{ patch: '[]' }] };
  expect(sentence(shoot(wrong, { stage: 'dev' }), shoot(wrong))).toBe('allowed');
  expect(sentence(shoot({ ...wrong, logLevel: 'debug' }), shoot(wrong))).toContain('flux.patches[0]');
});

test('hostile texts are refused before they are parsed', () => {
  const patches = Array.from({ length: 7 }, () => ({ patch: '? '.repeat(4000) }));
  expect(sentence(shoot({ patches }))).toContain(
    'flux.patches has more than 200 characters of ?, !, & and *; make it shorter',
  );
});
