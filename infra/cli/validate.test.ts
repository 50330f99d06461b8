import { expect, test } from 'vitest';
import { standIn } from '../../shared/flux/testing.ts';
import { shootFlux } from './testing.ts';

function validate(config: unknown, ...args: string[]) {
  const options = ['--flux-distribution', standIn.folder, '--provider-config', '-', ...args];
  return shootFlux(['validate', ...options], JSON.stringify(config));
}

test('prints nothing for a valid configuration', async () => {
  expect(await validate({ flux: { version: '2.9.x' } })).toEqual({ code: 0, out: '', err: '' });
  expect(await validate({ flux: { version: '2.9.x' } }, '--json')).toEqual({ code: 0, out: '[]\n', err: '' });
});

test('prints one line for each issue', async () => {
  const { code, out, err } = await validate({ flux: { logLevel: 'loud', componens: [] }, syncMode: 'Never' });
  expect({ code, err }).toEqual({ code: 1, err: '' });
  const lines = out.trimEnd().split('\n');
  expect(lines).toHaveLength(3);
  for (const line of lines) expect(line).toMatch(/^providerConfig: (flux|syncMode)/);
});

test.each([
  [{ flux: { version: 'v2.9.4' } }, 'flux.version', '"v2.9.4" matches no Flux release; available releases are v2.9.99'],
  [
    { flux: { componentsExtra: ['source-watcher'] } },
    'flux.componentsExtra[0]',
    '"source-watcher" is not a component of Flux v2.9.99 (its components are',
  ],
])('checks %j against the distribution', async (config, path, message) => {
  const { code, out } = await validate(config, '--json');
  expect(code).toBe(1);
  expect(JSON.parse(out)).toEqual([{ object: expect.any(String), path, message: expect.stringContaining(message) }]);
});

test('reports no issue for what it cannot check', async () => {
  const ran = await shootFlux(['validate', '--flux-distribution', '/nowhere']);
  expect(ran).toMatchObject({
    code: 1,
    out: '',
    err: expect.stringContaining('cannot read Flux distribution /nowhere: folder not found'),
  });
});
