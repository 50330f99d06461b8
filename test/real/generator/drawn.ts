import fc from 'fast-check';
import { installDefaults } from '../../../shared/config/flux-options.ts';
import type { FluxInstall, Patch } from '../../../shared/config/types.ts';
import { numericSeed } from '../../scenarios/sampling.ts';

const core = installDefaults.components;
const images = ['image-reflector-controller', 'image-automation-controller'];

/** Options of `flux install`. */
const generated = {
  components: fc.subarray([...core, ...images, 'source-watcher'], { minLength: 1 }),
  namespace: fc.constantFrom('flux-system', 'gitops', 'flux-system-2'),
  registry: fc.constantFrom('ghcr.io/fluxcd', 'registry.example:5000/a/b', 'quay.example/flux'),
  imagePullSecret: fc.constantFrom('pull', 'registry-credentials'),
  tolerationKeys: fc.uniqueArray(fc.constantFrom('a', 'example.com/b', 'c'), { maxLength: 3 }),
  networkPolicy: fc.boolean(),
  watchAllNamespaces: fc.boolean(),
  logLevel: fc.constantFrom('debug' as const, 'info' as const, 'error' as const),
  clusterDomain: fc.constantFrom('cluster.local', 'shoot.example'),
};

const own = (values: Record<string, fc.Arbitrary<string>>) =>
  fc.record(values, { requiredKeys: [] }) as fc.Arbitrary<Record<string, string>>;

/** Options that `flux install` does not have. */
const custom = {
  size: fc.constantFrom('small' as const, 'medium' as const, 'large' as const),
  multiTenancy: fc.boolean(),
  priorityClass: fc.constantFrom('system-node-critical', 'platform'),
  nodeSelector: own({
    'worker.gardener.cloud/pool': fc.constantFrom('infra', 'main'),
    'kubernetes.io/os': fc.constant('linux'),
  }),
  commonMetadata: fc.record(
    {
      labels: own({ 'example.com/team': fc.constantFrom('a', 'b'), stage: fc.constant('dev') }),
      annotations: own({ 'example.com/contact': fc.constant('team a, room 7') }),
    },
    { requiredKeys: [] },
  ),
  proxy: fc.oneof(
    fc.record(
      {
        http: fc.constant('http://proxy.example:3128'),
        https: fc.constantFrom('http://proxy.example:3128', 'socks5://10.0.0.1:1080'),
        noProxy: fc.constantFrom('.example.com', '10.0.0.0/8,registry.example'),
      },
      { requiredKeys: [] },
    ),
    fc.record(
      { secretName: fc.constant('proxy'), noProxy: fc.constant('.example.com') },
      { requiredKeys: ['secretName'] },
    ),
  ),
  storage: fc.record(
    { class: fc.constantFrom('default', 'fast'), size: fc.constantFrom('10Gi', '512Mi') },
    { requiredKeys: ['size'] },
  ),
  sharding: fc.record(
    {
      key: fc.constantFrom('example.com/shard', 'shard'),
      shards: fc.uniqueArray(fc.constantFrom('one', 'two', 'shard3'), { minLength: 1, maxLength: 2 }),
    },
    { requiredKeys: ['shards'] },
  ),
};

/** Options of `flux install` and others, several at once. */
const options: fc.Arbitrary<Partial<FluxInstall>> = fc
  .record({ ...generated, ...custom, tenantDefaultServiceAccount: fc.constant('tenant') }, { requiredKeys: [] })
  .map(({ tenantDefaultServiceAccount, ...drawn }) => ({
    ...drawn,
    ...(drawn.multiTenancy && tenantDefaultServiceAccount !== undefined && { tenantDefaultServiceAccount }),
  }));

const merge = (kind: string, name: string, fields: object): Patch => ({
  target: { kind, name },
  patch: JSON.stringify({ kind, metadata: { name: 'any' }, ...fields }),
});

/** Patches of objects that every installation has, whatever its options. */
const patch: fc.Arbitrary<Patch> = fc.constantFrom<Patch>(
  merge('Namespace', '.*', { metadata: { name: 'any', labels: { 'pod-security.kubernetes.io/enforce': 'baseline' } } }),
  merge('Deployment', '.*-controller.*|source-watcher.*', {
    spec: {
      revisionHistoryLimit: 2,
      template: {
        spec: {
          containers: [
            { name: 'manager', env: [{ name: 'EXTRA', value: '1' }], resources: { requests: { cpu: '7m' } } },
          ],
          tolerations: [{ key: 'patched', operator: 'Exists' }],
          topologySpreadConstraints: [
            { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway', labelSelector: {} },
          ],
        },
      },
    },
  }),
  {
    target: { group: 'apps', labelSelector: 'app.kubernetes.io/part-of=flux' },
    patch: JSON.stringify([
      { op: 'add', path: '/spec/template/spec/containers/0/args/-', value: '--kube-api-qps=70' },
      { op: 'replace', path: '/spec/template/spec/terminationGracePeriodSeconds', value: 33 },
      { op: 'add', path: '/spec/template/metadata/annotations/example.com~1patched', value: 'yes' },
    ]),
  },
  merge('CustomResourceDefinition', '.*', { metadata: { name: 'any', annotations: { 'example.com/crd': 'patched' } } }),
  merge('ResourceQuota', 'critical-pods-.*', { spec: { hard: { pods: '77' } } }),
  merge('ClusterRole', 'flux-(edit|view)-.*', { $patch: 'delete' }),
);

/** Installations with several options at once, and with patches of their results. `SHOOT_FLUX_SEED` chooses others. */
export function drawnInstalls(count: number, of: string): Partial<FluxInstall>[] {
  const seed = [...of].reduce((sum, char) => (sum * 31 + char.charCodeAt(0)) | 0, numericSeed);
  const patches = fc.uniqueArray(patch, { maxLength: 3, selector: (each) => each.patch });
  const drawn = fc.sample(fc.tuple(options, patches), { numRuns: count, seed });
  return drawn.map(([install, added]) => (added.length === 0 ? install : { ...install, patches: added }));
}
