import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { readLandscape } from '../../shared/config/landscape.ts';
import { policySchema } from '../../shared/config/policy/policy.ts';
import { pullSecretProblem } from '../../shared/config/project-secret-content.ts';
import { keyDocs } from '../../shared/config/schema.ts';
import { documents, example, exampleWith } from '../../test/integration/documents.ts';
import { runWith } from '../cli/testing.ts';
import { exampleOf } from './table.ts';

const PAGE = 'docs/policy.md';

/** Keys of `flux-config` that the page says are refused, and the sentence about them. */
const refused = rowsBelow('| `flux-config` | the sentence |').map(([keys = '', sentence = '']) => {
  const pairs = [...keys.matchAll(/`(\w+): ([^`]+)`/g)].map(([, key = '', value = '']) => [key, value]);
  return [Object.fromEntries(pairs) as Record<string, string>, sentence] as const;
});

function rowsBelow(head: string): string[][] {
  const text = documents.find(({ path }) => path === PAGE)?.text ?? '';
  const [table = ''] = (text.split(`${head}\n|---|---|\n`)[1] ?? '').split('\n\n');
  return table.split('\n').map((row) => row.slice(2, -2).split(' | '));
}

async function validate(data: Record<string, string>) {
  const metadata = { name: 'flux-config', namespace: 'garden-my-project' };
  const inputs = { config: exampleWith(PAGE, 'policy'), 'flux-config': { kind: 'ConfigMap', metadata, data } };
  return await runWith('validate', inputs);
}

test.each(refused)('%j is refused as the page says', async (data, sentence) => {
  expect(await validate(data)).toEqual({
    code: 1,
    out: `ConfigMap garden-my-project/flux-config: ${sentence}\n`,
    err: '',
  });
});

test.each([
  [{}],
  [{ fluxVersion: '2.x', registry: 'registry.example.com/other' }],
  [{ repositoryUrl: 'git@github.com:my-org/fleet', repositoryType: 'private' }],
  [{ repositoryUrl: 'https://git.example.com/team/fleet.git' }],
])('%j is accepted with the example', async (data) => {
  expect(await validate(data as Record<string, string>)).toEqual({ code: 0, out: '', err: '' });
});

test('the example of the pull secret is good', () => {
  const { stringData, ...secret } = parse(example(PAGE, 'Secret'));
  expect(() => JSON.parse(stringData['.dockerconfigjson'])).not.toThrow();
  expect(pullSecretProblem({ ...secret, data: stringData })).toBeUndefined();
  expect(readLandscape({ defaults: { pullSecret: {} } }).defaults).toEqual({ pullSecret: {} });
});

test.each(Object.entries(policySchema.shape))('the example of %s is good', (name, schema) => {
  const defaults = { flux: { registry: 'ghcr.io/fluxcd', version: '2.9.x' } };
  expect(keyDocs.get(schema)?.example).toBeDefined();
  expect(() => readLandscape({ defaults, policy: { [name]: parse(exampleOf(schema, false)) } })).not.toThrow();
});
