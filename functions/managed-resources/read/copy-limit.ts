import { limits, limitText, withCommas } from '../../../shared/config/limits.ts';
import { originOf } from '../../../shared/config/origins.ts';
import type { EffectiveConfig } from '../../../shared/config/types.ts';
import { ConfigError, type ConfigIssue } from '../../../shared/errors.ts';
import type { ConfigMapContent, SecretContent } from '../../../shared/flux/release.ts';
import { lengthInContent } from '../../../shared/gardener/managed-resource-content.ts';

const MOST = limits.copies.most * 1024;

/**
 * Returns a function that counts the copies of a Shoot one by one, and throws a ConfigError at the one that exceeds the
 * limit.
 */
export function countCopies(config: EffectiveConfig): (content: SecretContent | ConfigMapContent) => void {
  let total = 0;
  let largest = { name: '', bytes: 0 };
  return (content) => {
    const bytes = bytesOf(content);
    total += bytes;
    if (bytes > largest.bytes) largest = { name: `${content.namespace}/${content.name}`, bytes };
    if (total > MOST) throw new ConfigError([issueOf(config, largest)]);
  };
}

function bytesOf(content: SecretContent | ConfigMapContent): number {
  let bytes = 0;
  const { data, labels, binaryData } = content as SecretContent & ConfigMapContent;
  for (const fields of [data, labels, binaryData]) {
    for (const [key, value] of Object.entries(fields ?? {})) bytes += key.length + lengthInContent(value);
  }
  return bytes;
}

/** Credentials of a source are small, so what exceeds the limit beside them are additional objects. */
function issueOf(
  { additionalSecrets, origins }: EffectiveConfig,
  largest: { name: string; bytes: number },
): ConfigIssue {
  const part = additionalSecrets.length > 0 ? 'additionalSecrets' : 'source.spec.secretRef';
  const size = `${withCommas(Math.ceil(largest.bytes / 1024))} KiB`;
  return {
    ...originOf(origins, part),
    message: `asks for copies of more than ${limitText(limits.copies)}, of which ${largest.name} is ${size}; copy fewer or smaller objects`,
  };
}
