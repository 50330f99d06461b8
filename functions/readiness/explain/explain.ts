/**
 * Turns the messages of Flux into sentences with a remedy, for the conditions SourceReady, KustomizationReady and
 * ObjectsReady.
 *
 * To add a failure sentence, find the table of its topic: in `source/` what source-controller reports
 * (`credentials.ts`, `connection.ts`, `repository.ts`), in `kustomization/` what kustomize-controller reports
 * (`prerequisites.ts`, `build.ts`, `apply.ts`), in `others/` what the other controllers report. CONTRIBUTING.md has the
 * recipe, "Add a failure sentence".
 *
 * Names of configuration keys and Secrets in a remedy come from `remedies.ts`. Sentences for objects that the API
 * server refuses are in `kustomization/apply.ts`, the patterns for its messages in `shared/kube/refusal.ts`.
 */

import { RETRYABLE_CONFIGURATION_PROBLEM } from '../../../shared/gardener/operation.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { beginOf, safeText } from '../../../shared/runtime/safe-text.ts';
import { textAt } from '../../../shared/shapes.ts';
import { applyFailures, denials } from './kustomization/apply.ts';
import { buildFailures } from './kustomization/build.ts';
import { prerequisiteFailures } from './kustomization/prerequisites.ts';
import { chartFailures, unreachableChart } from './others/charts.ts';
import { helmReleaseFailures } from './others/helm.ts';
import { automationFailures, imagePolicyFailures, imageRepositoryFailures } from './others/image.ts';
import { notificationFailures } from './others/notification.ts';
import { nameOf, type Origin } from './places.ts';
import { quote, WITHHELD } from './quote.ts';
import { type Clause, type Failure, type Remedies, remediesFor } from './remedies.ts';
import { connectionFailures, vagueConnectionFailures } from './source/connection.ts';
import { credentialFailures, vagueCredentialFailures } from './source/credentials.ts';
import { chartRepositoryFailures, repositoryFailures } from './source/repository.ts';

/** In the order of matching. */
const sourceFailures: readonly Failure[] = [
  ...credentialFailures,
  ...connectionFailures,
  ...chartRepositoryFailures,
  ...repositoryFailures,
  ...vagueConnectionFailures,
  ...vagueCredentialFailures,
];

/** In the order of matching. */
const kustomizationFailures: readonly Failure[] = [
  ...denials,
  ...prerequisiteFailures,
  ...buildFailures,
  ...applyFailures,
];

/**
 * Explains a message of Flux about an object in one sentence with the object, the failure and the remedy, followed by the
 * message.
 * @param fluxMessage the message of its condition Ready or Stalled
 * @returns without a reason for messages that no table knows, and without codes where no user has to correct anything
 */
export function explain(object: KubeObject, fluxMessage: string, origin: Origin) {
  const message = beginOf(fluxMessage);
  const quoted = quote(object, message);
  const match = findFailure(object.kind, message);
  if (match === undefined) return { message: `${nameOf(object)}: ${quoted}`, codes: [] };
  const { failure, found } = match;
  const remedies = remediesFor(object, origin);
  const [what, remedy] = [failure.what, failure.remedy].map((clause) => filled(clause, found, remedies));
  // The parts that come from the message may be long and may contain secrets.
  const sentence = safeText(`${nameOf(object)}: ${what}; ${remedy}.`, LONGEST_SENTENCE);
  const codes = failure.isTransient === true ? [] : [RETRYABLE_CONFIGURATION_PROBLEM];
  return {
    reason: failure.reason,
    message: `${sentence} ${quoted === WITHHELD ? WITHHELD : `Flux says: ${quoted}`}`,
    codes,
  };
}

const LONGEST_SENTENCE = 600;

function filled(clause: Clause, found: RegExpExecArray, remedies: Remedies): string {
  if (typeof clause === 'function') return clause(found, remedies);
  return clause.replace(/\$(\d)|\{([\w.]+)\}/g, (_, group?: string, name = '') =>
    String(group === undefined ? textAt(remedies, ...name.split('.')) : found[Number(group)]),
  );
}

/** Returns whether a user has to correct something, without the sentence, which takes longer to make. */
export function isForUser(kind: string, fluxMessage: string): boolean {
  const match = findFailure(kind, beginOf(fluxMessage));
  return match !== undefined && match.failure.isTransient !== true;
}

const sources = ['GitRepository', 'OCIRepository', 'Bucket', 'HelmRepository'];

/** By the kind of the object; messages about other kinds are quoted. */
export const failures: Readonly<Record<string, readonly Failure[]>> = {
  ...Object.fromEntries(sources.map((kind) => [kind, sourceFailures])),
  Kustomization: kustomizationFailures,
  HelmRelease: helmReleaseFailures,
  HelmChart: [...chartFailures, unreachableChart],
  Receiver: notificationFailures,
  // It connects like a source.
  ImageRepository: [...imageRepositoryFailures, ...sourceFailures],
  ImagePolicy: imagePolicyFailures,
  ImageUpdateAutomation: automationFailures,
};

/** Returns the first entry that matches a message about an object of the kind. */
export function findFailure(kind: string, message: string): { failure: Failure; found: RegExpExecArray } | undefined {
  for (const failure of Object.hasOwn(failures, kind) ? (failures[kind] ?? []) : []) {
    if (failure.kind !== undefined && failure.kind !== kind) continue;
    const found = failure.matches.exec(message);
    if (found !== null) return { failure, found };
  }
  return undefined;
}
