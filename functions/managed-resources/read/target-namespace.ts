import { MAIN_KUSTOMIZATION } from '../../../shared/config/project-config.ts';
import {
  FORMER_TARGET_NAMESPACE,
  isTargetNamespaceOpen,
  targetNamespaceOf,
  withFormerNamespace,
} from '../../../shared/config/target-namespace.ts';
import type { EffectiveConfig } from '../../../shared/config/types.ts';
import { managedResourceNames as names } from '../../../shared/gardener/managed-resource.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { type KubeObject, resource } from '../../../shared/kube/resource.ts';
import { asRecorded, judgeTargetNamespace, type NamespaceFacts, type Seen } from '../plan/target-namespace.ts';
import type { Run } from '../run.ts';
import { tryInShoot } from '../shoot/act.ts';
import type { Configuration } from './configuration.ts';
import { type ControlPlane, readContent } from './control-plane.ts';

/** What a run waits for that cannot find out how the Shoot runs. */
export const NAMESPACE_UNKNOWN =
  'Nothing is applied until the API server of the shoot answers whether ' +
  `Kustomization ${MAIN_KUSTOMIZATION} has targetNamespace ${FORMER_TARGET_NAMESPACE}, which the Shoot would keep; ` +
  'to decide it yourself, set kustomizationTargetNamespace in ConfigMap flux-config.';

/** Returns the configuration, with the former `targetNamespace` where the Shoot keeps it; undefined: that is not known yet. */
export async function withKeptNamespace(
  run: Run,
  controlPlane: ControlPlane,
  { config, scope }: Pick<Configuration, 'config' | 'scope'>,
): Promise<EffectiveConfig | undefined> {
  const { kustomization } = config;
  if (kustomization === undefined || !isTargetNamespaceOpen(config)) return config;
  const { previous, isBootstrapped, live } = controlPlane;
  // Out of scope, only the hash of the configuration counts.
  if (!scope.sync && previous !== undefined) return asRecorded(config, previous);
  const { type, state } = run.cluster.spec.shoot.status?.lastOperation ?? {};
  const isCreated = type === 'Create' && state !== 'Succeeded';
  const isNew = isCreated && previous === undefined && !isBootstrapped && live.size === 0;
  const facts: NamespaceFacts = { previous, isNew };
  for (;;) {
    const verdict = judgeTargetNamespace(facts);
    if (verdict === 'read held') facts.held = await readHeld(run, controlPlane, kustomization);
    else if (verdict === 'read shoot') facts.inShoot = await readInShoot(run, kustomization);
    else if (verdict === 'wait') return undefined;
    else return verdict === 'keep' ? withFormerNamespace(config) : config;
  }
}

async function readHeld(run: Run, { live }: ControlPlane, { metadata }: KubeObject): Promise<Seen> {
  const managed = live.get(names.sync);
  const content = managed && (await readContent(run, managed));
  return seen(
    content?.find(
      ({ kind, metadata: { name, namespace } }) =>
        kind === 'Kustomization' && name === metadata.name && namespace === metadata.namespace,
    ),
  );
}

/** Newest first: a Flux that is taken over may be older than the one that is installed next. */
const VERSIONS = ['v1', 'v1beta2', 'v1beta1'];

async function readInShoot(run: Run, { metadata }: KubeObject): Promise<Seen> {
  const find = async (shoot: KubeClient): Promise<Seen> => {
    for (const version of VERSIONS) {
      const kind = resource('kustomize.toolkit.fluxcd.io', version, 'kustomizations', 'Kustomization');
      const live = await shoot.find(kind, metadata);
      if (live !== undefined) return seen(live);
    }
    return 'absent';
  };
  return (await tryInShoot(run, 'targetNamespace not read', find)) ?? 'no answer';
}

function seen(kustomization: KubeObject | undefined): Seen {
  return kustomization === undefined ? 'absent' : { targetNamespace: targetNamespaceOf(kustomization) };
}
