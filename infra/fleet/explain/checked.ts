import { findCondition, parts, withoutConfigHash } from '../../../shared/gardener/checked.ts';
import { EXTENSION_TYPE, type Extension } from '../../../shared/gardener/types.ts';
import { kubectl, type Link, safeSentence } from './link.ts';

/**
 * Explains how Flux was in the shoot when `readiness` looked last, for those who see the seed and not the shoot.
 * @param why why the shoot is not seen
 */
export function explainChecked({ metadata, status = {} }: Extension, why: string, flags: readonly string[]): Link {
  const conditions = parts.flatMap((type) => findCondition(status, type) ?? []);
  const details = [
    ...conditions.map(({ message }) => safeSentence(withoutConfigHash(message))),
    `The shoot is not seen: ${why}.`,
  ];
  const wrong = conditions.filter((condition) => condition.status !== 'True');
  // What a user has to correct explains the rest.
  const first = wrong.find(({ codes }) => codes !== undefined) ?? wrong[0];
  if (conditions.length === 0) return { name: 'Flux', mark: 'attention', text: 'nobody has looked at it yet', details };
  if (first === undefined) return { name: 'Flux', mark: 'ok', text: 'it was Ready at the last check', details };
  const command = kubectl(['get', 'extension', EXTENSION_TYPE, '-o', 'yaml'], metadata.namespace ?? '', flags);
  const sentence = safeSentence(withoutConfigHash(first.message));
  return {
    name: 'Flux',
    mark: 'broken',
    text: `${first.type} is ${first.status} since ${first.lastTransitionTime}`,
    sentence,
    command,
    details,
  };
}
