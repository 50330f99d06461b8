import { limits, limitText, withCommas } from '../../../shared/config/limits.ts';
import { originOf } from '../../../shared/config/origins.ts';
import type { CopiedSecret, EffectiveConfig } from '../../../shared/config/types.ts';
import { ConfigError } from '../../../shared/errors.ts';
import type { ConfigMapContent, SecretContent } from '../../../shared/flux/release.ts';
import { lengthInContent } from '../../../shared/gardener/managed-resource-content.ts';

/**
 * Returns a function that counts the copies of a Shoot one by one, and throws a ConfigError at the one that exceeds the
 * limit.
 * @param project the namespace of the project, for errors
 */
export function countCopies(
  config: EffectiveConfig,
  project = '',
): (content: SecretContent | ConfigMapContent) => void {
  let total = 0;
  let largest: { content: SecretContent | ConfigMapContent; bytes: number } | undefined;
  return (content) => {
    const bytes = bytesOf(content);
    total += bytes;
    if (largest === undefined || bytes > largest.bytes) largest = { content, bytes };
    if (total > limits.copies.most * 1024) throw tooMuch(config, project, largest.content, largest.bytes);
  };
}

function bytesOf(content: SecretContent | ConfigMapContent): number {
  const { data, labels, binaryData } = content as SecretContent & ConfigMapContent;
  const fields = [data, labels, binaryData].flatMap((values) => Object.entries(values ?? {}));
  return fields.reduce((sum, [key, value]) => sum + key.length + lengthInContent(value), 0);
}

/** Names the largest copy: a Secret of the project itself, or the configuration that asks for it. */
function tooMuch(
  { additionalSecrets, origins }: EffectiveConfig,
  project: string,
  { namespace, name }: SecretContent | ConfigMapContent,
  bytes: number,
): ConfigError {
  const [has, limit] = [`has ${withCommas(Math.ceil(bytes / 1024))} KiB`, limitText(limits.copies)];
  const isIt = (copy: CopiedSecret) => copy.targetName === name && copy.namespace === namespace;
  const { origin } = additionalSecrets.find(isIt) ?? {};
  if (origin?.type === 'project') {
    const message = `${has}, but all copies for the shoot may have at most ${limit} together; make it smaller`;
    return new ConfigError([{ object: `Secret ${project}/${origin.name}`, path: '', message }]);
  }
  // Credentials of a source are small, so what exceeds the limit beside them are additional objects.
  const part = additionalSecrets.some((copy) => copy.origin.type !== 'project')
    ? 'additionalSecrets'
    : 'source.spec.secretRef';
  const message = `copies more than ${limit} in all; ${namespace}/${name} alone ${has}. Copy fewer or smaller objects`;
  return new ConfigError([{ ...originOf(origins, part), message }]);
}
