import * as z from 'zod/mini';
import { SUSPENDED } from '../../shared/config/project-config.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import { entriesAt } from '../../shared/shapes.ts';

/**
 * What an assessment reads of an object in a shoot. The owner of the shoot may write anything into its fields: one of
 * another type counts as absent. All objects of a check are kept until the last is read, and the API of a shoot may
 * answer with 3 MiB for each of a hundred, so nothing else is kept, and of long texts the begin.
 */

const LONGEST_TEXT = 5000;

/** A part of a text keeps the whole of it in memory, so a long one is copied. */
const cut = (text: string) => (text.length > LONGEST_TEXT ? Buffer.from(text.slice(0, LONGEST_TEXT)).toString() : text);

const orAbsent = <T extends z.core.SomeType>(schema: T) => z.catch(z.optional(schema), undefined);
const shortText = z.pipe(z.string(), z.transform(cut));
const text = orAbsent(shortText);
const number = orAbsent(z.number());
const reference = orAbsent(z.object({ name: text }));

/** Whether one of the entries is about a Secret is all that counts. */
const entries = z.transform((list: unknown) =>
  entriesAt(list).some(({ kind }) => kind === 'Secret') ? [{ kind: 'Secret' }] : [],
);

const spec = z.object({
  ...{ suspend: orAbsent(z.boolean()), replicas: number },
  ...{ url: text, endpoint: text, image: text, path: text, provider: text, type: text },
  targetNamespace: text,
  ref: orAbsent(z.object({ branch: text, tag: text, semver: text, commit: text, name: text, digest: text })),
  ...{ secretRef: reference, certSecretRef: reference, proxySecretRef: reference },
  sourceRef: orAbsent(z.object({ kind: text, name: text })),
  decryption: orAbsent(z.object({ secretRef: reference })),
  valuesFrom: entries,
  postBuild: orAbsent(z.object({ substituteFrom: entries })),
});

/** Kinds of Flux and Deployments have a handful. */
const MOST_CONDITIONS = 50;
const condition = z.object({
  ...{ type: shortText, status: shortText, reason: shortText, message: shortText },
  ...{ lastTransitionTime: shortText, lastUpdateTime: text },
});

const status = z.object({
  ...{ observedGeneration: number, replicas: number, updatedReplicas: number, availableReplicas: number },
  ...{ lastAppliedRevision: text, artifact: orAbsent(z.object({ revision: text })) },
  // The client has completed them.
  conditions: orAbsent(
    z.pipe(
      z.array(condition),
      z.transform((all) => all.slice(0, MOST_CONDITIONS)),
    ),
  ),
});

const VERSION = 'app.kubernetes.io/version';
const schema = z.object({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.object({
    ...{ name: z.catch(shortText, ''), namespace: text, generation: number, deletionTimestamp: text },
    labels: orAbsent(z.object({ [VERSION]: text })),
    annotations: orAbsent(z.object({ [SUSPENDED]: text })),
  }),
  spec: orAbsent(spec),
  status: orAbsent(status),
});

/** Returns what an assessment reads of an object. */
export function essentials<T extends KubeObject>(object: T): T {
  return schema.parse(object) as unknown as T;
}

export type Spec = Partial<z.infer<typeof spec>>;
export type SeenCondition = z.infer<typeof condition>;
export type Status = z.infer<typeof status>;

/** Returns the `spec` of an object of which only the essentials are left. */
export const specOf = (object: KubeObject | undefined): Spec => object?.spec ?? {};

/** Returns the `status` of an object of which only the essentials are left. */
export const statusOf = (object: KubeObject | undefined): Status => object?.status ?? {};

/** Returns the condition of this type. */
export function conditionOf(object: KubeObject | undefined, type: string): SeenCondition | undefined {
  return statusOf(object).conditions?.find((condition) => condition.type === type);
}
