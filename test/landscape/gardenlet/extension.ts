import { type KubeClient, resources } from '../client/client.ts';
import { EXTENSION_TYPE, type Extension, OPERATION_ANNOTATION, TIMESTAMP_ANNOTATION } from '../gardener/types.ts';

const fieldManager = 'gardenlet';
const resource = resources.extensions;
const confirmation = 'confirmation.gardener.cloud/deletion';

/** The part of an Extension that survives a control-plane migration (rule 1.7). */
export type ExtensionState = Pick<NonNullable<Extension['status']>, 'state' | 'resources'>;

/** gardenlet's operations on an Extension. */
export function createExtensionOperations(seed: KubeClient) {
  const nameIn = (namespace: string) => ({ namespace, name: EXTENSION_TYPE });
  const find = (namespace: string) => seed.find<Extension>(resource, nameIn(namespace));
  const annotate = (namespace: string, annotations: Record<string, string>) =>
    seed.mergePatch(resource, nameIn(namespace), { metadata: { annotations } }, { fieldManager });

  return {
    /** Asks for an operation, and returns the timestamp that it wrote. */
    async deploy(namespace: string, providerConfig: unknown, operation = 'reconcile'): Promise<string> {
      const timestamp = now();
      const annotations = { [OPERATION_ANNOTATION]: operation, [TIMESTAMP_ANNOTATION]: timestamp };
      const extension = {
        apiVersion: 'extensions.gardener.cloud/v1alpha1',
        kind: 'Extension',
        metadata: { ...nameIn(namespace), annotations },
        spec: { type: EXTENSION_TYPE, ...(providerConfig === undefined ? {} : { providerConfig }) },
      };
      await seed.apply(resource, extension, { fieldManager });
      return timestamp;
    },

    /** Confirms the deletion and deletes; does nothing when there is no Extension. */
    async destroy(namespace: string): Promise<void> {
      if ((await find(namespace)) === undefined) return;
      await annotate(namespace, { [confirmation]: 'true', [TIMESTAMP_ANNOTATION]: now() });
      await seed.delete(resource, nameIn(namespace));
    },

    /** Returns what survives a migration. */
    async state(namespace: string): Promise<ExtensionState> {
      const { state, resources: references } = (await find(namespace))?.status ?? {};
      return { ...(state && { state }), ...(references && { resources: references }) };
    },

    async setState(namespace: string, status: ExtensionState): Promise<void> {
      await seed.mergePatch(resource, nameIn(namespace), { status }, { fieldManager, subresource: 'status' });
    },
  };
}

/** Returns the time with fractions of a second, as gardenlet writes it. */
const now = () => new Date().toISOString();
