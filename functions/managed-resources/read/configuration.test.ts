import { expect, it } from 'vitest';
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { ObjectName, Resource } from '../../../shared/kube/resource.ts';
import { readProjectSecrets } from './configuration.ts';

const layers = { fluxConfig: { namespace: 'garden-foo', data: {} } };
const age = Buffer.from('AGE-SECRET-KEY-1\n').toString('base64');

/** Reads the Secrets of a project that has only `flux-sops`; returns the names that were asked for and found. */
async function read(known?: string[]) {
  const asked: string[] = [];
  const find = async (_: Resource, metadata: ObjectName) => {
    asked.push(metadata.name);
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata, data: { 'age.agekey': age } };
    return metadata.name === 'flux-sops' ? secret : undefined;
  };
  const garden = { find } as unknown as KubeClient;
  const { projectSecrets } = await readProjectSecrets(garden, 'garden-foo', layers, known);
  return { asked: asked.sort(), found: projectSecrets.map(({ name }) => name) };
}

it.each([
  ['every Secret of a project', undefined, ['flux-registry', 'flux-sops', 'flux-variables'], ['flux-sops']],
  ['only for those that were there, where no other can be new', ['flux-sops'], ['flux-sops'], ['flux-sops']],
  ['none where none was there', [], [], []],
  ['one that was there and is gone', ['flux-sops', 'flux-variables'], ['flux-sops', 'flux-variables'], ['flux-sops']],
])('looks for %s', async (_, known, asked, found) => {
  expect(await read(known)).toEqual({ asked, found });
});
