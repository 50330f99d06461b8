import type { Applied, Condition, ExtensionStatus } from './types.ts';

/** Conditions of `readiness` about parts of Flux; a Shoot without a repository has only the first. */
export const parts = ['FluxReady', 'SourceReady', 'KustomizationReady', 'ObjectsReady'] as const;

/** The reason of a condition about objects that are suspended. */
export const SUSPENDED_REASON = 'Suspended';

/** Returns whether a condition says that the project is suspended, and not that one object is. */
export function isOfSuspension({ status, reason }: Pick<Condition, 'status' | 'reason'>): boolean {
  return status === 'True' && reason === SUSPENDED_REASON;
}

/** A failure shorter than this may be an image that is being pulled, or a wrong push that is already corrected. */
export const GRACE_SECONDS = 300;

export function findCondition({ conditions = [] }: ExtensionStatus, type: string): Condition | undefined {
  return conditions.find((condition) => condition.type === type);
}

/** Returns the end of a condition's message, which says with which record the shoot was compared. */
export function configHashSuffix({ configHash }: Applied): string {
  return ` (config ${configHash})`;
}

/** Returns whether a condition is about what is recorded. */
export function isAbout({ message }: Condition, applied: Applied): boolean {
  return message.endsWith(configHashSuffix(applied));
}

/** Returns the message of a condition without that end, which project members do not know. */
export function withoutConfigHash(message: string): string {
  return message.replace(/ \(config [0-9a-z]+\)$/, '');
}

/** True when the conditions are about everything that is recorded. */
export function isChecked(status: ExtensionStatus): boolean {
  return checked(status) !== undefined;
}

/** True when they are, and everything is Ready: also while an error of the operation is about something else. */
export function isReady(status: ExtensionStatus): boolean {
  return checked(status)?.every((condition) => condition.status === 'True') === true;
}

function checked(status: ExtensionStatus): Condition[] | undefined {
  const { applied } = status.state ?? {};
  if (applied === undefined) return undefined;
  const types = expectedParts(applied);
  const found = types.flatMap((type) => findCondition(status, type) ?? []).filter((one) => isAbout(one, applied));
  return found.length === types.length ? found : undefined;
}

/** Returns the types of the conditions about what is recorded. */
export function expectedParts({ source, kustomization, others }: Applied): readonly (typeof parts)[number][] {
  const objects = { FluxReady: true, SourceReady: source, KustomizationReady: kustomization, ObjectsReady: others };
  return parts.filter((type) => objects[type] !== undefined);
}
