import { isCrd } from '../flux/custom-resources.ts';
import { customise, isCustomised } from '../flux/customise.ts';
import { installObjects } from '../flux/install.ts';
import { withProtection } from '../flux/protection.ts';
import type { ObjectGroups, RenderInputs } from '../flux/release.ts';
import type { KubeObject } from '../kube/resource.ts';
import { createRecentlyUsed } from '../recently-used.ts';
import { ONLY_CREATE } from './managed-resource.ts';
import { annotated, withHealthMark, withKeepObject } from './marks.ts';

/** The objects that install Flux. */
export type InstallGroups = Pick<ObjectGroups, 'crds' | 'controllers'>;

/** By release and options, weighed in bytes. It has room for a hundred sets of options without patches. */
const rendered = createRecentlyUsed<InstallGroups>(12_000_000);

/**
 * What is being rendered now: Shoots that need the same wait for one result. Also by origins, because an error names the
 * object of its user.
 */
const rendering = new Map<string, Promise<InstallGroups>>();

/**
 * Measured: 900 without patches, with its part of the compressed content, because objects share with the release what no
 * option changes.
 */
const BYTES_OF_OBJECT = 2000;

/** Measured: up to 4, for each character of JSON that patches add, in objects with a thousand short fields. */
const BYTES_OF_CHARACTER = 8;

/**
 * Renders the installation; others get their turn while patches are applied. Returns the same arrays for all Shoots with
 * the same options, so that callers can cache by them what they derive (JSON, hash, compressed content).
 * @throws ConfigError when the release lacks a component, or a patch cannot be applied
 */
export function installGroups(inputs: RenderInputs): Promise<InstallGroups> {
  const key = keyOf(inputs);
  const known = rendered.get(key);
  if (known !== undefined) return Promise.resolve(known);
  const keyOfUser = key + JSON.stringify(inputs.config.origins);
  const pending = rendering.get(keyOfUser) ?? render(inputs, key).finally(() => rendering.delete(keyOfUser));
  rendering.set(keyOfUser, pending);
  return pending;
}

function keyOf({ config, release, ownsNamespace, shootHealth, policy }: RenderInputs): string {
  // The policy judges what patches make.
  const options = [config.flux, ownsNamespace, shootHealth, isCustomised(config.flux) && policy];
  return JSON.stringify([release.version, release.digest, ...options]);
}

async function render({ config, release, policy, ownsNamespace, shootHealth }: RenderInputs, key: string) {
  const { flux: install, origins } = config;
  const plain = installObjects(release, install, origins);
  const { objects, added } = await customise(plain, { install, version: release.version, origins, policy });
  const groups = grouped(objects, ownsNamespace, shootHealth);
  rendered.set(key, groups, key.length + objects.length * BYTES_OF_OBJECT + Math.max(0, added) * BYTES_OF_CHARACTER);
  return groups;
}

function grouped(objects: KubeObject[], ownsNamespace: boolean, shootHealth: boolean): InstallGroups {
  const installed = objects.map(withProtection);
  const namespace = installed.filter(({ kind }) => kind === 'Namespace' && ownsNamespace).map(withKeepObject);
  // Removing a component must not delete its CRDs, and with them the custom resources of the user.
  const crds = [...namespace, ...installed.filter(isCrd).map(withKeepObject)];
  const controllers = installed.filter((object) => object.kind !== 'Namespace' && !isCrd(object)).map(withLastingClaim);
  return { crds: withHealthMark(crds, shootHealth), controllers: withHealthMark(controllers, shootHealth) };
}

/**
 * Marks a PersistentVolumeClaim. The resource-manager replaces objects as a whole, which the API server refuses for a
 * claim that is bound. And it deletes first, and waits: a claim is only gone when no Pod uses it any more.
 */
function withLastingClaim(object: KubeObject): KubeObject {
  return object.kind === 'PersistentVolumeClaim' ? annotated(withKeepObject(object), ONLY_CREATE) : object;
}
