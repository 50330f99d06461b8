import { expect, it } from 'vitest';
import { createKubeClient } from '../../../shared/kube/http-client.ts';
import { sendJson, startTlsServer, statusBody } from '../../../shared/kube/testing.ts';
import { readProjectSecrets } from './configuration.ts';

const layers = { fluxConfig: { namespace: 'garden-foo', data: {} } };
const age = Buffer.from('AGE-SECRET-KEY-1\n').toString('base64');

/** Reads the Secrets of a project that has only `flux-sops`; returns the names that were asked for and found. */
async function read(known?: string[]) {
  const asked: string[] = [];
  await using server = await startTlsServer(({ url }, response) => {
    const name = url.pathname.split('/').at(-1) ?? '';
    asked.push(name);
    if (name !== 'flux-sops') return sendJson(response, 404, statusBody(404, 'NotFound', 'none'));
    const metadata = { namespace: 'garden-foo', name };
    return sendJson(response, 200, { apiVersion: 'v1', kind: 'Secret', metadata, data: { 'age.agekey': age } });
  });
  const garden = createKubeClient(server.connection);
  try {
    const { projectSecrets } = await readProjectSecrets(garden, 'garden-foo', layers, known);
    return { asked: asked.sort(), found: projectSecrets.map(({ name }) => name) };
  } finally {
    garden.close();
  }
}

it('looks for every Secret of a project', async () => {
  expect(await read()).toEqual({ asked: ['flux-registry', 'flux-sops', 'flux-variables'], found: ['flux-sops'] });
});

it('looks only for those that were there, where no other can be new', async () => {
  expect(await read(['flux-sops'])).toEqual({ asked: ['flux-sops'], found: ['flux-sops'] });
  expect(await read([])).toEqual({ asked: [], found: [] });
});

it('notices that one that was there is gone', async () => {
  expect(await read(['flux-sops', 'flux-variables'])).toMatchObject({ found: ['flux-sops'] });
});
