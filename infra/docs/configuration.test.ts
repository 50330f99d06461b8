import { readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { effectiveConfig } from '../../shared/config/effective-config.ts';
import { fluxConfigSchema } from '../../shared/config/flux-config.ts';
import { fluxSchema } from '../../shared/config/flux-options.ts';
import {
  additionalSecretSchema,
  providerConfigSchema,
  sourceSchema,
} from '../../shared/config/provider-config-schema.ts';
import { keyDocs } from '../../shared/config/schema.ts';
import { shootResourcesOf } from '../../shared/config/shoot-resources.ts';
import { customise } from '../../shared/flux/customise.ts';
import { installObjects } from '../../shared/flux/install.ts';
import { standInRelease } from '../../shared/flux/testing.ts';
import { documents, example, exampleWith } from '../../test/integration/documents.ts';
import { exampleOf } from './table.ts';

const PAGE = 'docs/configuration.md';
const { text = '', fences = [] } = documents.find(({ path }) => path === PAGE) ?? {};
/** The YAML block below a heading. */
const textBelow = (heading: string) => fences.find(({ section }) => section === heading)?.text ?? '';
const yamlBelow = (heading: string) => parse(textBelow(heading));

test('the example of the ConfigMap is good', () => {
  const { metadata, data } = parse(example(PAGE, 'ConfigMap'));
  expect(effectiveConfig({ fluxConfig: { namespace: metadata.namespace, data } })).toMatchObject({
    flux: { version: '2.9.x' },
    syncMode: 'ManifestsOnly',
    source: { metadata: { name: 'main-gitrepo' }, spec: { url: data.repositoryUrl } },
    kustomization: { spec: { path: './clusters/production' } },
    sourceSecret: { targetName: 'flux-source' },
  });
});

test('the example of the Shoot is good', () => {
  const { spec } = parse(example(PAGE, 'Shoot'));
  const [{ providerConfig }] = spec.extensions;
  expect(effectiveConfig({ providerConfig, shootResources: shootResourcesOf(spec.resources) })).toMatchObject({
    flux: { version: 'v2.9.4' },
    source: { kind: 'OCIRepository', metadata: { name: 'flux-system' } },
    sourceSecret: { origin: { resourceName: 'fleet-registry' }, targetName: 'flux-system' },
    additionalSecrets: [{ origin: { resourceName: 'sops' }, targetName: 'sops-age' }],
  });
});

test('the example of several objects is good', () => {
  const { source, kustomization, objects } = effectiveConfig({ providerConfig: parse(exampleWith(PAGE, 'objects')) });
  expect([source, kustomization, ...objects].map((object) => `${object?.kind} ${object?.metadata.name}`)).toEqual([
    'GitRepository flux-system',
    'Kustomization flux-system',
    'GitRepository apps',
    'HelmRepository charts',
    'Provider chat',
    'Kustomization apps',
    'HelmRelease ingress',
  ]);
});

test('the example of patches is good', async () => {
  const { flux } = effectiveConfig({ providerConfig: yamlBelow('`flux.patches`') });
  const release = await standInRelease();
  const before = installObjects(release, flux);
  const { objects: after } = await customise(before, { install: flux, version: release.version, origins: {} });
  expect(after.length).toBe(before.length - 1);
  const changed = after.filter((object) => !before.some((other) => isDeepStrictEqual(other, object)));
  expect(changed.map(({ metadata }) => metadata.name)).toEqual([
    'source-controller',
    'kustomize-controller',
    'helm-controller',
  ]);
});

const schemas = [fluxConfigSchema, providerConfigSchema, fluxSchema, sourceSchema, additionalSecretSchema];
const examples = schemas.flatMap((schema) =>
  Object.entries(schema.def.shape)
    .filter(([, field]) => keyDocs.has(field))
    .map(([name, field]) => ({ name, field, example: exampleOf(field, schema === fluxConfigSchema) })),
);

test.each(examples)('the example of $name is good: $example', ({ field, example }) => {
  expect(field.safeParse(parse(example))).toMatchObject({ success: true });
});

test('every key of flux-config is documented', () => {
  const keys = Object.entries(fluxConfigSchema.def.shape);
  const missing = keys.filter(([name, field]) => !keyDocs.has(field) || !text.includes(`| \`${name}\` |`));
  expect(missing.map(([name]) => name)).toEqual([]);
});

test('lists every fact of a Shoot', async () => {
  const source = await readFile(new URL('../../shared/gardener/shoot-facts.ts', import.meta.url), 'utf8');
  const known = [...source.matchAll(/^ +(SHOOT_\w+):/gm)].map(([, name = '']) => name);
  const documented = [...(text.split('## In the Shoot')[1] ?? '').matchAll(/`(SHOOT_\w+)`/g)].map(([, name]) => name);
  expect(known.length).toBeGreaterThan(4);
  expect(documented).toEqual(known);
});
