import { type KubeClient, type KubeObject, resources } from '../client/client.ts';
import { EXTENSION_TYPE, type Extension, OPERATION_ANNOTATION, TIMESTAMP_ANNOTATION } from '../gardener/types.ts';
import { mergePatchBetween } from './merge-patch.ts';

/** The part of an Extension that survives a control-plane migration (rule 1.7). */
export interface ExtensionState {
  state?: NonNullable<Extension['status']>['state'];
  resources?: NonNullable<Extension['status']>['resources'];
  /** The objects that `resources` names, with their contents. */
  objects: KubeObject[];
}

/** gardenlet's operations on an Extension; each returns the timestamp that it wrote. */
export interface ExtensionOperations {
  deploy(namespace: string, providerConfig: unknown): Promise<string>;
  /** Confirms the deletion and deletes; does nothing when there is no Extension. */
  destroy(namespace: string): Promise<void>;
  migrate(namespace: string): Promise<void>;
  /** Returns the state that a restore needs. */
  state(namespace: string): Promise<ExtensionState>;
  restore(namespace: string, providerConfig: unknown, state: ExtensionState): Promise<string>;
}

const fieldManager = 'gardenlet';
const resource = resources.extensions;
const confirmation = 'confirmation.gardener.cloud/deletion';

export function createExtensionOperations(seed: KubeClient): ExtensionOperations {
  const nameIn = (namespace: string) => ({ namespace, name: EXTENSION_TYPE });
  const find = (namespace: string) => seed.find<Extension>(resource, nameIn(namespace));
  const annotate = (namespace: string, annotations: Record<string, string>) =>
    seed.mergePatch(resource, nameIn(namespace), { metadata: { annotations } }, { fieldManager });

  const put = async (namespace: string, providerConfig: unknown, operation: string) => {
    const timestamp = now();
    const annotations = { [OPERATION_ANNOTATION]: operation, [TIMESTAMP_ANNOTATION]: timestamp };
    const live = await find(namespace);
    if (live !== undefined) {
      // gardenlet patches the difference, so a key removed from the Shoot is removed from the Extension.
      const difference = mergePatchBetween(live.spec.providerConfig, providerConfig);
      const spec = { type: EXTENSION_TYPE, ...(difference === undefined ? {} : { providerConfig: difference }) };
      await seed.mergePatch(resource, nameIn(namespace), { metadata: { annotations }, spec }, { fieldManager });
      return timestamp;
    }
    const extension: Extension = {
      apiVersion: 'extensions.gardener.cloud/v1alpha1',
      kind: 'Extension',
      metadata: { ...nameIn(namespace), annotations },
      spec: { type: EXTENSION_TYPE, ...(providerConfig === undefined ? {} : { providerConfig }) },
    };
    await seed.create(resource, extension, { fieldManager });
    return timestamp;
  };

  return {
    deploy: (namespace, providerConfig) => put(namespace, providerConfig, 'reconcile'),

    async destroy(namespace) {
      if ((await find(namespace)) === undefined) return;
      await annotate(namespace, { [confirmation]: 'true', [TIMESTAMP_ANNOTATION]: now() });
      await seed.delete(resource, nameIn(namespace));
    },

    async migrate(namespace) {
      if ((await find(namespace)) === undefined) return;
      await annotate(namespace, { [OPERATION_ANNOTATION]: 'migrate', [TIMESTAMP_ANNOTATION]: now() });
    },

    async state(namespace) {
      const { state, resources: references } = (await find(namespace))?.status ?? {};
      const objects: KubeObject[] = [];
      for (const { resourceRef } of references ?? []) {
        const kind = resourceRef.kind === 'ConfigMap' ? resources.configMaps : resources.secrets;
        const found = await seed.find(kind, { namespace, name: resourceRef.name });
        if (found !== undefined) objects.push(found);
      }
      return { ...(state && { state }), ...(references && { resources: references }), objects };
    },

    async restore(namespace, providerConfig, { state, resources: references, objects }) {
      await put(namespace, providerConfig, 'wait-for-state');
      const status = (await find(namespace))?.status;
      if (status?.state === undefined && (state !== undefined || references !== undefined)) {
        const patch = { status: { state, resources: references } };
        await seed.mergePatch(resource, nameIn(namespace), patch, { fieldManager, subresource: 'status' });
      }
      for (const { metadata, ...rest } of objects) {
        const kind = rest.kind === 'ConfigMap' ? resources.configMaps : resources.secrets;
        const { name, labels, annotations } = metadata;
        const kept = { name, namespace, ...(labels && { labels }), ...(annotations && { annotations }) };
        await seed.apply(kind, { ...rest, metadata: kept }, { fieldManager });
      }
      const timestamp = now();
      await annotate(namespace, { [OPERATION_ANNOTATION]: 'restore', [TIMESTAMP_ANNOTATION]: timestamp });
      return timestamp;
    },
  };
}

/** Returns the time with fractions of a second, as gardenlet writes it. */
const now = () => new Date().toISOString();
