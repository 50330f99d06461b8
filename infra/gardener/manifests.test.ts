import { describe, expect, it } from 'vitest';
import type { PolicyRule } from '../../shared/runtime/definition.ts';
import { findAllDefinitions, isWebhook } from '../functions.ts';
import { CONFIGURATION } from '../webhooks/names.ts';
import { rbacObjects } from './rbac.ts';
import { webhookObjects } from './webhooks.ts';

const definitions = await findAllDefinitions();
const rulesOf = (place: 'garden' | 'seed', name: string): PolicyRule[] => {
  const objects = rbacObjects(definitions, place);
  const role = objects.find(
    ({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === `extensions.gardener.cloud:shoot-flux:${name}`,
  );
  return (role?.rules as PolicyRule[] | undefined) ?? [];
};

describe('RBAC', () => {
  it('lets only two functions write Secrets in the garden, by their names, without rights on a seed', () => {
    const writers = definitions.filter(({ name }) =>
      rulesOf('garden', name).some(
        ({ resources, verbs }) =>
          resources.includes('secrets') && verbs.some((verb) => !['get', 'list', 'watch'].includes(verb)),
      ),
    );
    expect(writers.map(({ name }) => name)).toEqual(['keys', 'push-webhook']);
    for (const { name } of writers) expect(rulesOf('seed', name)).toEqual([]);
    const named = rulesOf('garden', 'push-webhook').map(({ resources, verbs, resourceNames }) => [
      ...[resources, verbs, resourceNames].map((texts) => texts?.join()),
    ]);
    expect(named).toEqual([
      ['configmaps', 'get', 'flux-config'],
      ['secrets', 'get,patch', 'flux-push'],
    ]);
  });

  it('lets the watcher see no Secret of the garden except those of projects with fixed names', () => {
    const secrets = [...rulesOf('garden', 'watcher'), ...rulesOf('seed', 'watcher')].filter(({ resources }) =>
      resources.includes('secrets'),
    );
    expect(secrets).toEqual(
      ['flux-source', 'flux-registry', 'flux-sops', 'flux-variables', 'flux-push'].map((name) => ({
        ...{ apiGroups: [''], resources: ['secrets'], verbs: ['list', 'watch'] },
        resourceNames: [name],
      })),
    );
  });

  it('lets no identity delete Extensions, and grants no wildcard', () => {
    const rules = (['garden', 'seed'] as const).flatMap((place) =>
      definitions.flatMap(({ name }) => rulesOf(place, name)),
    );
    expect(rules.length).toBeGreaterThan(5);
    expect(JSON.stringify(rules)).not.toContain('*');
    expect(
      rules.filter(({ resources, verbs }) => resources.includes('extensions') && verbs.includes('delete')),
    ).toEqual([]);
  });
});

/** Each grants the control of other users' objects, whatever it is meant for. */
const powerful: [resource: string, verbs: string[], names: string[]][] = [
  // Kubeconfigs of shoots are among the Secrets of a control plane.
  ['secrets', ['get', 'list', 'watch'], ['gardener', 'gardener-internal']],
  ['managedresources', ['create', 'patch', 'update'], []],
  ['deployments', ['create', 'patch', 'update'], ['gardener-resource-manager']],
  ['validatingwebhookconfigurations', ['create', 'patch', 'update'], [CONFIGURATION]],
  ['mutatingwebhookconfigurations', ['create', 'patch', 'update'], [CONFIGURATION]],
];

it('makes only these identities equal to an administrator, as docs/security.md says', () => {
  const isPowerful = ({ resources, verbs, resourceNames }: PolicyRule) =>
    powerful.some(
      ([resource, dangerous, names]) =>
        resources.includes(resource) &&
        dangerous.some((verb) => verbs.includes(verb)) &&
        (resourceNames ?? names).some((name) => names.includes(name) || resourceNames === undefined),
    );
  const identities = [...definitions.map(({ name }) => name), 'watcher', 'webhooks', 'heartbeat'];
  const equal = (place: 'garden' | 'seed') => identities.filter((name) => rulesOf(place, name).some(isPowerful));
  expect(equal('garden')).toEqual(['webhooks']);
  expect(equal('seed')).toEqual(['managed-resources', 'push', 'readiness', 'webhooks']);
});

describe('webhook configurations', () => {
  const webhooks = definitions.filter(isWebhook);
  const of = (place: 'garden' | 'seed') => webhookObjects(webhooks, place);

  it('validate Shoots that have the extension, and fail closed', () => {
    expect(of('garden')[0]?.webhooks).toMatchObject([
      {
        objectSelector: { matchLabels: { 'extensions.extensions.gardener.cloud/shoot-flux': 'true' } },
        rules: [{ apiGroups: ['core.gardener.cloud'], apiVersions: ['v1beta1'], resources: ['shoots'] }],
        ...{ failurePolicy: 'Fail', matchPolicy: 'Exact', sideEffects: 'None', timeoutSeconds: 10 },
      },
    ]);
  });

  it('mutate resource-managers in control planes with the extension, and fail open', () => {
    expect(of('seed')[0]?.webhooks).toMatchObject([
      {
        namespaceSelector: { matchLabels: { 'extensions.gardener.cloud/shoot-flux': 'true' } },
        matchConditions: [{ expression: "object.metadata.name == 'gardener-resource-manager'" }],
        rules: [{ apiGroups: ['apps'], resources: ['deployments'], operations: ['CREATE', 'UPDATE'] }],
        ...{ failurePolicy: 'Ignore', matchPolicy: 'Exact', sideEffects: 'None', timeoutSeconds: 10 },
      },
    ]);
  });
});
